// SPDX-License-Identifier: BSD-2-Clause-Patent
// The calls that make, use and end sockets.
#include <cerrno>

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "stack.h"

namespace {

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

Stack::Result Stack::socket(int domain, int type) {
  const Lock lock(mutex_);
  if (domain != AF_INET) return -EAFNOSUPPORT;
  if ((type & 0xf) != SOCK_STREAM) return -ESOCKTNOSUPPORT;
  const int fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (fd < 0) return -errno;
  sockets_[fd].blocks = (type & SOCK_NONBLOCK) == 0;
  return fd;
}

int Stack::adopt(downbeat_sim_connection connection) {
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
  const int error = socket->listens ? 0 : downbeat_sim_listen(device(), socket->port, &socket->parameters);
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
  const downbeat_sim_connection connection = socket->waiting.front();
  socket->waiting.pop_front();
  const int accepted = adopt(connection);
  const downbeat_sim_info known = info(sockets_[accepted]);
  if (address != nullptr && length != nullptr) {
    sockaddr_in peer{};
    peer.sin_family = AF_INET;
    peer.sin_port = htons(known.remote_port);
    peer.sin_addr.s_addr = htonl(known.remote_ip);
    give(address, length, peer);
  }
  return accepted;
}

Stack::Result Stack::connect(int fd, const sockaddr *address) {
  Lock lock(mutex_);
  Socket *socket = find(fd);
  if (socket == nullptr) return -EBADF;
  const auto decided = [&] {
    const downbeat_sim_info known = info(*socket);
    return known.error != 0 || known.state >= DOWNBEAT_ESTABLISHED;
  };
  if (socket->connection >= 0) {
    if (!decided()) return -EALREADY;
    const int error = info(*socket).error;
    return error != 0 ? -errnoOf(error) : -EISCONN;
  }
  const std::uint32_t remote = ntohl(internet(address).sin_addr.s_addr);
  neighbour(remote);
  const int error = downbeat_sim_connect(device(), remote, ntohs(internet(address).sin_port), socket->port,
                                         &socket->parameters, &socket->connection);
  if (error < 0) return -errnoOf(error);
  if (!socket->blocks) return -EINPROGRESS;
  await(lock, decided);
  const int failed = info(*socket).error;
  return failed != 0 ? -errnoOf(failed) : 0;
}

downbeat_sim_info Stack::info(const Socket &socket) {
  downbeat_sim_info known{};
  if (socket.connection >= 0) downbeat_sim_connection_info(device(), socket.connection, &known);
  return known;
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

/// Copies what lies `offset` bytes behind the last byte read; it stays unread.
Stack::Result Stack::take(Socket &socket, std::size_t offset, const iovec &place) {
  auto &peeked = socket.peeked;
  Result got = 0;
  if (peeked.size() < offset + place.iov_len) {
    std::vector<std::uint8_t> more(offset + place.iov_len - peeked.size());
    got = downbeat_sim_receive(device(), socket.connection, more.data(), more.size());
    if (got > 0) peeked.insert(peeked.end(), more.begin(), more.begin() + got);
  }
  const std::size_t count = std::min(place.iov_len, peeked.size() - offset);
  std::copy_n(peeked.begin() + static_cast<std::ptrdiff_t>(offset), count, static_cast<std::uint8_t *>(place.iov_base));
  if (count == 0 && got == DOWNBEAT_WOULD_BLOCK && socket.readingEnds) return 0;
  return count > 0 ? static_cast<Result>(count) : got;
}

Stack::Result Stack::receive(int fd, std::span<const iovec> places, int flags) {
  Lock lock(mutex_);
  Socket *socket = find(fd);
  if (socket == nullptr) return -EBADF;
  if ((flags & ~(MSG_DONTWAIT | MSG_NOSIGNAL | MSG_PEEK)) != 0) return -EOPNOTSUPP;
  if (socket->connection < 0) return -ENOTCONN;
  const bool peeks = (flags & MSG_PEEK) != 0;
  Result sum = 0;
  for (const iovec &place : places) {
    if (place.iov_len == 0) continue;
    Result count = 0;
    const auto come = [&] {
      count = take(*socket, peeks ? static_cast<std::size_t>(sum) : 0, place);
      return ended(*socket, count);
    };
    const bool waits = socket->blocks && (flags & MSG_DONTWAIT) == 0 && sum == 0;
    // A frame's payload comes in pieces: the call takes it when nothing more moves.
    const auto whole = [&] {
      const bool quiet = downbeat_sim_next_deadline(device()) > downbeat_sim_now(device()) + microsecond;
      return quiet && (ready(fd) & (POLLIN | POLLERR | POLLHUP)) != 0;
    };
    if (!come() && !(waits && await(lock, whole) && come())) return sum > 0 ? sum : -EAGAIN;
    if (count < 0) return sum > 0 ? sum : count;
    if (!peeks) {
      socket->peeked.erase(socket->peeked.begin(), socket->peeked.begin() + count);
      socket->delivered += static_cast<std::uint64_t>(count);
    }
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
      auto *call = (flags & MSG_OOB) != 0 ? downbeat_sim_send_urgent : downbeat_sim_send;
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
  advance(lock, downbeat_sim_now(device()) + microsecond);
  return sum;
}

Stack::Result Stack::close(int fd) {
  Lock lock(mutex_);
  Socket *socket = find(fd);
  if (socket == nullptr) {
    epolls_.erase(fd);
    return ::close(fd) < 0 ? -errno : 0;
  }
  if (socket->connection >= 0)
    (socket->abortive ? downbeat_sim_abort : downbeat_sim_close)(device(), socket->connection);
  if (socket->listens) downbeat_sim_unlisten(device(), socket->port);
  sockets_.erase(fd);
  ::close(fd);
  if (device_ != nullptr) advance(lock, downbeat_sim_now(device()) + microsecond);
  return 0;
}

Stack::Result Stack::shutdown(int fd, int how) {
  Lock lock(mutex_);
  Socket *socket = find(fd);
  if (socket == nullptr) return -EBADF;
  if (socket->connection < 0) return -ENOTCONN;
  socket->readingEnds |= how != SHUT_WR;
  const int error = how != SHUT_RD ? downbeat_sim_shutdown(device(), socket->connection) : 0;
  advance(lock, downbeat_sim_now(device()) + microsecond);
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
  const downbeat_sim_info known = info(*socket);
  if (request == SIOCINQ)
    bytes = static_cast<int>(known.received - socket->delivered);
  else if (request == SIOCOUTQ)
    bytes = static_cast<int>(known.unacknowledged);
  else
    return -EINVAL;
  return 0;
}
