// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "stack.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace {

constexpr std::array<std::uint8_t, 6> ours{2, 0, 0, 0, 0, 1}, theirs{2, 0, 0, 0, 0, 2};
constexpr std::size_t ethernet = 14, shortest = 60;
constexpr downbeat_time microsecond = DOWNBEAT_NANOSECONDS(1000);
constexpr downbeat_time settled = 10 * microsecond; // what the core takes from a frame to its answer, and more
constexpr downbeat_time patience = DOWNBEAT_NANOSECONDS(300'000'000'000); // without a packet
constexpr std::chrono::milliseconds looksAtTheClock(200);                   // of the real time, at most
constexpr long long begun = 1'000'000; // us, of the time that packetdrill sees
constexpr std::uint64_t sendSpace = 256 << 10;

const sockaddr_in &internet(const sockaddr *address) { return *reinterpret_cast<const sockaddr_in *>(address); }

} // namespace

int Stack::errnoOf(int error) {
  switch (error) {
  case DOWNBEAT_WOULD_BLOCK: return EAGAIN;
  case DOWNBEAT_REFUSED: return ECONNREFUSED;
  case DOWNBEAT_RESET: return ECONNRESET;
  case DOWNBEAT_TIMED_OUT: return ETIMEDOUT;
  case DOWNBEAT_ABORTED: return ECONNABORTED;
  case DOWNBEAT_UNREACHABLE: return EHOSTUNREACH;
  case DOWNBEAT_ADDRESS_IN_USE: return EADDRINUSE;
  case DOWNBEAT_SHUT_DOWN: return EPIPE;
  case DOWNBEAT_OUT_OF_RESOURCES: return ENOBUFS;
  default: return EINVAL;
  }
}

/// Flags: `ip=192.168.0.1,seed=3`, both optional.
Stack::Stack(const char *flags) {
  const std::string told = flags != nullptr ? flags : "";
  if (const auto at = told.find("ip="); at != std::string::npos)
    inet_pton(AF_INET, told.substr(at + 3, told.find(',', at) - at - 3).c_str(), &ip_), ip_ = ntohl(ip_);
  if (const auto at = told.find("seed="); at != std::string::npos) secret_ = std::strtoull(&told[at + 5], nullptr, 10);
}

Stack::~Stack() {
  for (const auto &[fd, socket] : sockets_) ::close(fd);
  if (device_ != nullptr) downbeat_destroy(device_);
}

Socket *Stack::find(int fd) {
  const auto found = sockets_.find(fd);
  return found == sockets_.end() ? nullptr : &found->second;
}

bool Stack::owns(int fd) {
  const Lock lock(mutex_);
  return find(fd) != nullptr;
}

/// It has an address when the first call or packet has named one.
downbeat_device *Stack::device() {
  if (device_ != nullptr) return device_;
  downbeat_options options{};
  std::ranges::copy(ours, options.mac);
  options.ip = ip_ != 0 ? ip_ : 0xc0a80001;
  options.secret = secret_;
  int error = 0;
  device_ = downbeat_create(&options, &error);
  if (device_ == nullptr) {
    std::fprintf(stderr, "downbeat: %s\n", downbeat_error_text(error));
    std::exit(1);
  }
  downbeat_set_event_callback(
      device_, [](void *self, const downbeat_event *event) { static_cast<Stack *>(self)->see(*event); }, this);
  return device_;
}

void Stack::neighbour(std::uint32_t ip) {
  if (std::ranges::find(neighbours_, ip) != neighbours_.end()) return;
  neighbours_.push_back(ip);
  downbeat_add_neighbour(device(), ip, theirs.data());
}

void Stack::advance(Lock &lock, downbeat_time until) {
  while (downbeat_now(device()) < until) {
    const downbeat_time now = downbeat_now(device());
    downbeat_time next = std::min(until, std::max(downbeat_next_deadline(device()), now + microsecond));
    for (const Waiting &call : waiting_) next = std::min(next, std::max(call.limit, now + 1));
    downbeat_advance_to(device(), next);
    letReturn(lock);
  }
}

/// A call that can go on does so at this instant, and its thread looks at the clock before time goes by.
void Stack::letReturn(Lock &lock) {
  const auto can = [](const Waiting &call) { return call.ready(); };
  while (std::ranges::any_of(waiting_, can)) {
    changed_.notify_all();
    returned_.wait_for(lock, looksAtTheClock, [&] { return std::ranges::none_of(waiting_, can); });
  }
  returned_.wait_for(lock, looksAtTheClock, [&] { return returning_ == std::thread::id(); });
}

bool Stack::await(Lock &lock, const std::function<bool()> &ready, downbeat_time limit) {
  const std::function<bool()> over = [&] { return ready() || downbeat_now(device()) >= limit; };
  const auto place = waiting_.insert(waiting_.end(), Waiting{over, limit});
  changed_.wait(lock, over);
  waiting_.erase(place);
  returning_ = std::this_thread::get_id();
  returned_.notify_all();
  return ready();
}

downbeat_time Stack::after(downbeat_time now, int milliseconds) {
  return milliseconds < 0 ? DOWNBEAT_NEVER : now + static_cast<unsigned>(milliseconds) * 1000 * microsecond;
}

// ---- packets and time

void Stack::put(std::span<const std::uint8_t> packet) {
  Lock lock(mutex_);
  std::uint32_t addresses[2];
  std::memcpy(addresses, &packet[12], sizeof addresses);
  if (ip_ == 0) ip_ = ntohl(addresses[1]);
  neighbour(ntohl(addresses[0]));
  std::vector<std::uint8_t> frame;
  frame.insert(frame.end(), ours.begin(), ours.end());
  frame.insert(frame.end(), theirs.begin(), theirs.end());
  frame.insert(frame.end(), {8, 0});
  frame.insert(frame.end(), packet.begin(), packet.end());
  frame.resize(std::max(frame.size(), shortest));
  const downbeat_time arrival = downbeat_now(device()) + 1;
  downbeat_put_frame(device(), frame.data(), frame.size(), arrival);
  advance(lock, arrival + settled);
}

std::size_t Stack::get(std::span<std::uint8_t> packet, long long &microseconds) {
  Lock lock(mutex_);
  letReturn(lock);
  const downbeat_time limit = downbeat_now(device()) + patience;
  std::array<std::uint8_t, 2048> frame;
  for (;;) {
    downbeat_time departure = 0;
    const std::int64_t length = downbeat_get_frame(device(), frame.data(), frame.size(), &departure);
    if (length > static_cast<std::int64_t>(ethernet) && frame[12] == 8 && frame[13] == 0) {
      const std::size_t whole = static_cast<std::size_t>(frame[16] << 8 | frame[17]);
      const std::size_t count = std::min(whole, packet.size());
      std::copy_n(&frame[ethernet], count, packet.begin());
      microseconds = begun + static_cast<long long>(departure / microsecond);
      return count;
    }
    if (length > 0) continue; // ARP
    const downbeat_time now = downbeat_now(device());
    if (now >= limit) return 0;
    advance(lock, std::clamp(downbeat_next_deadline(device()), now + microsecond, limit));
  }
}

void Stack::sleep(std::uint64_t microseconds) {
  Lock lock(mutex_);
  advance(lock, downbeat_now(device()) + microseconds * microsecond);
}

timeval Stack::time() {
  Lock lock(mutex_);
  if (returning_ == std::this_thread::get_id()) {
    returning_ = {};
    returned_.notify_all();
  }
  advance(lock, downbeat_now(device()) + microsecond);
  const long long now = begun + static_cast<long long>(downbeat_now(device()) / microsecond);
  return {static_cast<time_t>(now / 1'000'000), static_cast<suseconds_t>(now % 1'000'000)};
}

// ---- sockets

Stack::Result Stack::socket(int domain, int type) {
  const Lock lock(mutex_);
  if (domain != AF_INET) return -EAFNOSUPPORT;
  if ((type & 0xf) != SOCK_STREAM) return -ESOCKTNOSUPPORT;
  const int fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (fd < 0) return -errno;
  sockets_[fd].blocks = (type & SOCK_NONBLOCK) == 0;
  return fd;
}

int Stack::adopt(downbeat_connection connection) {
  const int fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  sockets_[fd].connection = connection;
  return fd;
}

Stack::Result Stack::bind(int fd, const sockaddr *address) {
  const Lock lock(mutex_);
  Socket *socket = find(fd);
  if (socket == nullptr) return -EBADF;
  if (ip_ == 0) ip_ = ntohl(internet(address).sin_addr.s_addr);
  socket->port = ntohs(internet(address).sin_port);
  return 0;
}

Stack::Result Stack::listen(int fd) {
  const Lock lock(mutex_);
  Socket *socket = find(fd);
  if (socket == nullptr) return -EBADF;
  const int error = socket->listens ? 0 : downbeat_listen(device(), socket->port, &socket->parameters);
  socket->listens = error == 0;
  return error < 0 ? -errnoOf(error) : 0;
}

Stack::Result Stack::accept(int fd, sockaddr *address, socklen_t *length) {
  Lock lock(mutex_);
  Socket *socket = find(fd);
  if (socket == nullptr) return -EBADF;
  if (!socket->listens) return -EINVAL;
  const auto come = [&] { return (ready(fd) & POLLIN) != 0; };
  if (!come() && (!socket->blocks || !await(lock, come))) return -EAGAIN;
  const downbeat_connection connection = socket->waiting.front();
  socket->waiting.pop_front();
  const int accepted = adopt(connection);
  const downbeat_info told = info(sockets_[accepted]);
  if (address != nullptr && length != nullptr) {
    sockaddr_in peer{};
    peer.sin_family = AF_INET;
    peer.sin_port = htons(told.remote_port);
    peer.sin_addr.s_addr = htonl(told.remote_ip);
    give(address, length, peer);
  }
  return accepted;
}

Stack::Result Stack::connect(int fd, const sockaddr *address) {
  Lock lock(mutex_);
  Socket *socket = find(fd);
  if (socket == nullptr) return -EBADF;
  const auto decided = [&] {
    const downbeat_info told = info(*socket);
    return told.error != 0 || told.state >= DOWNBEAT_ESTABLISHED;
  };
  if (socket->connection >= 0) {
    if (!decided()) return -EALREADY;
    const int error = info(*socket).error;
    return error != 0 ? -errnoOf(error) : -EISCONN;
  }
  const std::uint32_t remote = ntohl(internet(address).sin_addr.s_addr);
  neighbour(remote);
  const int error = downbeat_connect(device(), remote, ntohs(internet(address).sin_port), socket->port,
                                     &socket->parameters, &socket->connection);
  if (error < 0) return -errnoOf(error);
  if (!socket->blocks) return -EINPROGRESS;
  await(lock, decided);
  const int failed = info(*socket).error;
  return failed != 0 ? -errnoOf(failed) : 0;
}

downbeat_info Stack::info(const Socket &socket) {
  downbeat_info told{};
  if (socket.connection >= 0) downbeat_connection_info(device(), socket.connection, &told);
  return told;
}

/// Whether the call has its result; `result` is of the device.
bool Stack::ended(Socket &socket, Result &result) {
  if (result == DOWNBEAT_WOULD_BLOCK) return false;
  if (result < 0) {
    const int error = info(socket).error;
    result = -errnoOf(error != 0 && result != DOWNBEAT_SHUT_DOWN ? error : static_cast<int>(result));
  }
  return true;
}

Stack::Result Stack::receive(int fd, std::span<const iovec> places, int flags) {
  Lock lock(mutex_);
  Socket *socket = find(fd);
  if (socket == nullptr) return -EBADF;
  if ((flags & ~(MSG_DONTWAIT | MSG_NOSIGNAL)) != 0) return -EOPNOTSUPP;
  if (socket->connection < 0) return -ENOTCONN;
  Result sum = 0;
  for (const iovec &place : places) {
    if (place.iov_len == 0) continue;
    Result count = 0;
    const auto come = [&] {
      count = downbeat_receive(device(), socket->connection, place.iov_base, place.iov_len);
      return ended(*socket, count);
    };
    const bool waits = socket->blocks && (flags & MSG_DONTWAIT) == 0 && sum == 0;
    // A frame's payload comes in pieces: the call takes it when nothing more moves.
    const auto whole = [&] {
      const bool quiet = downbeat_next_deadline(device()) > downbeat_now(device()) + microsecond;
      return quiet && (ready(fd) & (POLLIN | POLLERR | POLLHUP)) != 0;
    };
    if (!come() && !(waits && await(lock, whole) && come())) return sum > 0 ? sum : -EAGAIN;
    if (count < 0) return sum > 0 ? sum : count;
    socket->delivered += static_cast<std::uint64_t>(count);
    sum += count;
    if (static_cast<std::size_t>(count) < place.iov_len) break;
  }
  return sum;
}

Stack::Result Stack::send(int fd, std::span<const iovec> pieces, int flags) {
  Lock lock(mutex_);
  Socket *socket = find(fd);
  if (socket == nullptr) return -EBADF;
  if (socket->connection < 0) return -EPIPE;
  const bool waits = socket->blocks && (flags & MSG_DONTWAIT) == 0;
  Result sum = 0;
  for (const iovec &piece : pieces) {
    const auto *bytes = static_cast<const std::uint8_t *>(piece.iov_base);
    for (std::size_t done = 0; done < piece.iov_len;) {
      auto *call = (flags & MSG_OOB) != 0 ? downbeat_send_urgent : downbeat_send;
      Result count = call(device(), socket->connection, bytes + done, piece.iov_len - done);
      if (!ended(*socket, count)) {
        if (!waits) return sum > 0 ? sum : -EAGAIN;
        await(lock, [&] { return (ready(fd) & (POLLOUT | POLLERR | POLLHUP)) != 0; });
        continue;
      }
      if (count < 0) return sum > 0 ? sum : count;
      done += static_cast<std::size_t>(count);
      sum += count;
    }
  }
  advance(lock, downbeat_now(device()) + microsecond);
  return sum;
}

Stack::Result Stack::close(int fd) {
  Lock lock(mutex_);
  Socket *socket = find(fd);
  if (socket == nullptr) return ::close(fd) < 0 ? -errno : 0;
  if (socket->connection >= 0) (socket->abortive ? downbeat_abort : downbeat_close)(device(), socket->connection);
  if (socket->listens) downbeat_unlisten(device(), socket->port);
  sockets_.erase(fd);
  ::close(fd);
  if (device_ != nullptr) advance(lock, downbeat_now(device()) + microsecond);
  return 0;
}

Stack::Result Stack::shutdown(int fd, int how) {
  Lock lock(mutex_);
  Socket *socket = find(fd);
  if (socket == nullptr) return -EBADF;
  if (socket->connection < 0) return -ENOTCONN;
  if (how == SHUT_RD) return 0;
  const int error = downbeat_shutdown(device(), socket->connection);
  advance(lock, downbeat_now(device()) + microsecond);
  return error < 0 ? -errnoOf(error) : 0;
}

Stack::Result Stack::flags(int fd, std::optional<int> set) {
  const Lock lock(mutex_);
  Socket *socket = find(fd);
  if (socket == nullptr) return -EBADF;
  if (set) socket->blocks = (*set & O_NONBLOCK) == 0;
  return set ? 0 : O_RDWR | (socket->blocks ? 0 : O_NONBLOCK);
}

Stack::Result Stack::queued(int fd, unsigned long request, int &bytes) {
  const Lock lock(mutex_);
  Socket *socket = find(fd);
  if (socket == nullptr) return -EBADF;
  const downbeat_info told = info(*socket);
  if (request == SIOCINQ)
    bytes = static_cast<int>(told.received - socket->delivered);
  else if (request == SIOCOUTQ)
    bytes = static_cast<int>(told.unacknowledged);
  else
    return -EINVAL;
  return 0;
}

// ---- readiness

short Stack::ready(int fd) {
  Socket *socket = find(fd);
  if (socket == nullptr) return POLLNVAL;
  if (socket->listens) {
    downbeat_connection connection;
    while (downbeat_accept(device(), socket->port, &connection) == DOWNBEAT_OK) socket->waiting.push_back(connection);
    return socket->waiting.empty() ? 0 : POLLIN | POLLRDNORM;
  }
  if (socket->connection < 0) return POLLOUT | POLLHUP;
  const downbeat_info told = info(*socket);
  short now = 0;
  if (told.error != 0) now |= POLLERR | POLLHUP | POLLIN | POLLRDNORM;
  if (told.received > socket->delivered || told.peer_finished) now |= POLLIN | POLLRDNORM;
  if (told.peer_finished) now |= POLLRDHUP;
  if (told.state >= DOWNBEAT_ESTABLISHED && told.unacknowledged < sendSpace) now |= POLLOUT | POLLWRNORM;
  return now;
}

Stack::Result Stack::poll(std::span<pollfd> fds, int timeout) {
  Lock lock(mutex_);
  Result count = 0;
  const auto look = [&] {
    count = 0;
    for (pollfd &one : fds) {
      one.revents = static_cast<short>(ready(one.fd) & (one.events | POLLERR | POLLHUP | POLLNVAL));
      count += one.revents != 0;
    }
    return count != 0;
  };
  if (!look() && timeout != 0) await(lock, look, after(downbeat_now(device()), timeout));
  return count;
}

Stack::Result Stack::epollCreate() {
  const Lock lock(mutex_);
  const int fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  epolls_[fd];
  return fd;
}

Stack::Result Stack::epollControl(int epoll, int operation, int fd, const epoll_event *event) {
  const Lock lock(mutex_);
  const auto found = epolls_.find(epoll);
  if (found == epolls_.end() || find(fd) == nullptr) return -EBADF;
  const bool known = found->second.contains(fd);
  if (known == (operation == EPOLL_CTL_ADD)) return known ? -EEXIST : -ENOENT;
  if (operation == EPOLL_CTL_DEL)
    found->second.erase(fd);
  else
    found->second[fd] = *event;
  return 0;
}

Stack::Result Stack::epollWait(int epoll, std::span<epoll_event> events, int timeout) {
  Lock lock(mutex_);
  const auto found = epolls_.find(epoll);
  if (found == epolls_.end()) return -EBADF;
  std::size_t count = 0;
  const auto look = [&] {
    count = 0;
    for (const auto &[fd, wanted] : found->second) {
      const auto now = static_cast<std::uint32_t>(ready(fd)) & (wanted.events | EPOLLERR | EPOLLHUP);
      if (now != 0 && count < events.size()) events[count++] = {now, wanted.data};
    }
    return count != 0;
  };
  if (!look() && timeout != 0) await(lock, look, after(downbeat_now(device()), timeout));
  return static_cast<Result>(count);
}
