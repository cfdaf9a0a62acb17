// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "bridge.h"

#include <array>
#include <cerrno>

#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "errors.h"

namespace downbeat {

namespace {

using Parts = std::array<iovec, 2>;

int partsOf(const downbeat_span (&spans)[2], Parts &parts) {
  for (std::size_t each = 0; each < parts.size(); ++each) parts[each] = {spans[each].bytes, spans[each].length};
  return spans[1].length != 0 ? 2 : 1;
}

} // namespace

Bridge::~Bridge() {
  if (connection_ != nullptr) downbeat_abort(connection_);
}

void Bridge::holdBack(File other) {
  static constexpr std::array<char, 256> zeros{};
  const int smallest = 0; // the kernel takes its own least size
  setsockopt(other.get(), SOL_SOCKET, SO_SNDBUF, &smallest, sizeof smallest);
  for (ssize_t sent; (sent = ::send(other.get(), zeros.data(), zeros.size(), MSG_DONTWAIT | MSG_NOSIGNAL)) > 0;)
    filler_ += static_cast<std::uint64_t>(sent);
  other_ = std::move(other);
}

void Bridge::establish() {
  established_ = true;
  std::array<char, 4096> dropped;
  while (filler_ > 0) {
    const ssize_t count = ::read(socket_.get(), dropped.data(), std::min<std::uint64_t>(filler_, dropped.size()));
    if (count <= 0) break;
    filler_ -= static_cast<std::uint64_t>(count);
  }
  if (!other_) return;
  const int usual = 212'992; // net.core.wmem_default
  setsockopt(other_.get(), SOL_SOCKET, SO_SNDBUF, &usual, sizeof usual);
  other_.reset();
}

bool Bridge::settle() {
  downbeat_connection_info_t info;
  downbeat_connection_info(connection_, &info);
  if (!established_ && info.established != 0) establish();
  if (info.error != 0) error_ = errnoOf(info.error);
  return error_ == 0;
}

bool Bridge::programGone() const {
  pollfd state{socket_.get(), 0, 0};
  return ::poll(&state, 1, 0) > 0 && (state.revents & POLLHUP) != 0;
}

std::size_t Bridge::unread() const {
  int count = 0;
  return ioctl(socket_.get(), FIONREAD, &count) == 0 ? static_cast<std::size_t>(count) : 0;
}

bool Bridge::step() {
  if (connection_ == nullptr) return false;
  const bool alive = settle();
  if (!established_) return (alive && !programGone()) || end(alive);
  if (!receiveAll() || (alive && !sendAll())) return end(true);
  // What came before a reset is still the program's, and it hears of the reset once it has accepted.
  if (!alive) return (!programGone() && (socketFull_ || unread() == 0)) || end(false);
  if (programFinished_ && (peerFinished_ || programGone())) return end(false);
  return true;
}

bool Bridge::end(bool abort) {
  if (abort)
    downbeat_abort(connection_);
  else
    downbeat_close(connection_);
  connection_ = nullptr;
  std::array<char, 4096> dropped; // the stream has ended: nothing is unread, so that this is no reset
  if (error_ == 0 || peerFinished_)
    while (::recv(socket_.get(), dropped.data(), dropped.size(), MSG_DONTWAIT) > 0) {}
  socket_.reset();
  other_.reset();
  return false;
}

std::size_t Bridge::take(const downbeat_span (&spans)[2], std::size_t count) {
  char before; // the core has it
  const std::size_t first = std::min(count - 1, spans[0].length);
  const std::array<iovec, 3> parts{{{&before, 1}, {spans[0].bytes, first}, {spans[1].bytes, count - 1 - first}}};
  const ssize_t moved = readv(socket_.get(), parts.data(), parts.size());
  if (moved <= 0) return 0;
  const std::size_t last = static_cast<std::size_t>(moved) - 1;
  void *place = static_cast<std::uint8_t *>(last < spans[0].length ? spans[0].bytes : spans[1].bytes) +
                (last < spans[0].length ? last : last - spans[0].length);
  return ::recv(socket_.get(), place, 1, MSG_PEEK | MSG_DONTWAIT) == 1 ? last + 1 : 0;
}

bool Bridge::sendAll() {
  while (!programFinished_) {
    if (unread() <= 1) {
      pollfd state{socket_.get(), POLLRDHUP, 0};
      if (::poll(&state, 1, 0) <= 0) return true;
      if (unread() <= 1) {                                // nothing came before the end
        if ((state.revents & POLLERR) != 0) return false; // the program closed with something unread
        programFinished_ = true;
        downbeat_shutdown(connection_);
        return true;
      }
    }
    downbeat_span spans[2];
    const std::int64_t space = downbeat_reserve(connection_, spans);
    if (space <= 0) return true;
    const std::size_t count = take(spans, std::min(static_cast<std::size_t>(space), unread() - 1));
    if (count == 0) return false;
    downbeat_commit(connection_, count);
  }
  return true;
}

bool Bridge::receiveAll() {
  socketFull_ = false;
  while (!peerFinished_) {
    downbeat_span spans[2];
    const std::int64_t waiting = downbeat_peek(connection_, spans);
    if (waiting == 0) {
      peerFinished_ = true;
      ::shutdown(socket_.get(), SHUT_WR);
    }
    if (waiting <= 0) return true;
    Parts parts;
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = static_cast<std::size_t>(partsOf(spans, parts));
    const ssize_t count = sendmsg(socket_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count > 0) {
      downbeat_consume(connection_, static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {
      socketFull_ = true;
      return true;
    } else if (errno != EINTR) {
      return false; // the program has closed, and there is more
    }
  }
  return true;
}

std::uint32_t Bridge::wanted() const {
  return EPOLLET | EPOLLIN | (socketFull_ ? EPOLLOUT : 0u); // edges: there is always something to read
}

} // namespace downbeat
