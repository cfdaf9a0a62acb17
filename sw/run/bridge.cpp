// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "bridge.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "errors.h"
#include "leg.h"

namespace downbeat {

namespace {

constexpr std::chrono::milliseconds resetComes{10}; // after Presence has seen a close with bytes unread

using Parts = std::array<iovec, 2>;

/// The first `count` bytes.
int partsOf(const downbeat_span (&spans)[2], Parts &parts, std::size_t count) {
  for (std::size_t each = 0; each < parts.size(); ++each) {
    parts[each] = {spans[each].bytes, std::min(spans[each].length, count)};
    count -= parts[each].iov_len;
  }
  return parts[1].iov_len != 0 ? 2 : 1;
}

} // namespace

Bridge::~Bridge() {
  if (connection_ != nullptr) downbeat_abort(connection_);
}

void Bridge::join(File end) {
  end_ = std::move(end);
  linger_.join(end_.get());
  tellTimes();
}

/// The peer has all that the program has written, and the end.
bool Bridge::acknowledged() const {
  const downbeat_connection_info_t info = information();
  return programFinished_ && info.sent == info.acknowledged &&
         (info.state == DOWNBEAT_FIN_WAIT_2 || info.state == DOWNBEAT_TIME_WAIT || info.state == DOWNBEAT_CLOSED);
}

downbeat_connection_info_t Bridge::information() const {
  downbeat_connection_info_t info;
  downbeat_connection_info(connection_, &info);
  return info;
}

int Bridge::setPolicies(const downbeat_parameters &parameters) {
  return errnoOf(downbeat_set_policies(connection_, &parameters));
}

void Bridge::setTimes(std::uint32_t keepAlive, std::uint32_t userTimeout) {
  times_ = {keepAlive, userTimeout};
  tellTimes();
}

void Bridge::tellTimes() {
  if (!times_ || connection_ == nullptr) return;
  if (downbeat_set_times(connection_, times_->first, times_->second) != DOWNBEAT_WOULD_BLOCK) times_.reset();
}

int Bridge::error() const {
  if (connection_ == nullptr) return error_;
  const downbeat_connection_info_t info = information();
  return info.error != 0 ? errnoOf(info.error) : info.established != 0 ? 0 : EINPROGRESS;
}

int Bridge::unacknowledged() const {
  const downbeat_connection_info_t info = information();
  return unread() + static_cast<int>(info.sent - info.acknowledged);
}

int Bridge::unread() const {
  int count = 0;
  return ioctl(end_.get(), FIONREAD, &count) == 0 ? count : 0;
}

bool Bridge::delays() const {
  if (noDelay_) return false;
  const downbeat_connection_info_t info = information();
  if (info.sent == info.acknowledged || unread() >= static_cast<int>(segment_)) return false;
  pollfd state{end_.get(), POLLRDHUP | POLLPRI, 0};
  return ::poll(&state, 1, 0) == 0; // urgent bytes and the end of the stream wait for nothing
}

bool Bridge::atMark() const {
  int mark = 0;
  return ioctl(end_.get(), SIOCATMARK, &mark) == 0 && mark != 0;
}

bool Bridge::isReset() const {
  pollfd state{end_.get(), 0, 0};
  return ::poll(&state, 1, 0) > 0 && (state.revents & POLLERR) != 0;
}

int Bridge::unsent() const {
  int count = 0;
  return ioctl(end_.get(), SIOCOUTQ, &count) == 0 ? count : 0;
}

bool Bridge::step() {
  if (connection_ == nullptr) return false;
  if (linger_.waits()) {
    const downbeat_connection_info_t info = information();
    linger_.step({programGone(), unread() != 0, info.sent, info.acknowledged, error() != 0 || acknowledged()},
                 end_.get());
  }
  if (!receiveAll()) return end(true);
  if (error() != 0) { // bytes before a reset are still the program's
    draining_ = unsent() != 0;
    return draining_ || end(false);
  }
  if (!sendAll()) return end(true);
  if (!programFinished_ || linger_.waits()) return true;
  if (isReset()) return end(true); // behind its end
  if (peerFinished_) {
    if (unsent() != 0) return true;
    const linger orderly{0, 0};
    setsockopt(end_.get(), SOL_SOCKET, SO_LINGER, &orderly, sizeof orderly);
    return end(false);
  }
  if (!programGone()) return true;
  const auto now = std::chrono::steady_clock::now();
  if (!goneSince_) goneSince_ = now;
  return now < *goneSince_ + resetComes || end(false);
}

bool Bridge::end(bool abort) {
  if (connection_ == nullptr) return false;
  error_ = error();
  if (abort)
    downbeat_abort(connection_);
  else
    downbeat_close(connection_);
  connection_ = nullptr;
  return false;
}

bool Bridge::sendAll() {
  while (!programFinished_ && !delays()) {
    downbeat_span spans[2];
    const std::int64_t space = downbeat_reserve(connection_, spans);
    if (space <= 0) return true;
    // No more is read than was there before the mark was looked for; the kernel reads up to a mark.
    const auto waiting = static_cast<std::size_t>(unread());
    const bool urgent = waiting != 0 && atMark();
    Parts parts;
    std::uint8_t first;
    const ssize_t count = waiting != 0 ? readv(end_.get(), parts.data(), partsOf(spans, parts, urgent ? 1 : waiting))
                                       : recv(end_.get(), &first, sizeof first, MSG_PEEK);
    if (count > 0 && waiting == 0) continue; // it has just come
    if (count > 0) {
      (urgent ? downbeat_commit_urgent : downbeat_commit)(connection_, static_cast<std::size_t>(count));
    } else if (count == 0) {
      programFinished_ = true;
      downbeat_shutdown(connection_);
    } else if (errno == EAGAIN) {
      return true;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

bool Bridge::receiveAll() {
  while (!peerFinished_) {
    downbeat_span spans[2];
    const std::int64_t waiting = downbeat_peek(connection_, spans);
    if (waiting == 0) {
      peerFinished_ = true;
      ::shutdown(end_.get(), SHUT_WR);
    }
    if (waiting <= 0) return true;
    const std::uint64_t urgent = information().urgent_left;
    const bool mark = urgent == 1;
    const auto limit = mark ? 1 : urgent == 0 ? static_cast<std::uint64_t>(waiting) : urgent - 1;
    Parts parts;
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = static_cast<std::size_t>(partsOf(spans, parts, limit));
    const ssize_t count = sendmsg(end_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT | (mark ? MSG_OOB : 0));
    if (count > 0)
      downbeat_consume(connection_, static_cast<std::size_t>(count));
    else if (errno == EAGAIN)
      return true;
    else if (errno != EINTR)
      return false; // the program has reset it, or does not accept
  }
  return true;
}

} // namespace downbeat
