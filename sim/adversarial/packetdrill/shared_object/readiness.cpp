// SPDX-License-Identifier: BSD-2-Clause-Patent
// A socket's readiness, and the calls that wait for it.
#include <cerrno>

#include <fcntl.h>
#include <poll.h>

#include "stack.h"

namespace {
constexpr std::uint64_t sendSpace = 256 << 10; // bytes, the device's staging
} // namespace

short Stack::ready(int fd) {
  Socket *socket = find(fd);
  if (socket == nullptr) return POLLNVAL;
  if (socket->listens) {
    downbeat_sim_connection connection;
    while (downbeat_sim_accept(device(), socket->port, &connection) == DOWNBEAT_OK)
      socket->waiting.push_back(connection);
    return socket->waiting.empty() ? 0 : POLLIN | POLLRDNORM;
  }
  if (socket->connection < 0) return POLLOUT | POLLHUP;
  const downbeat_sim_info known = info(*socket);
  short now = 0;
  if (known.error != 0) now |= POLLERR | POLLHUP | POLLIN | POLLRDNORM;
  const bool ends = known.peer_finished || socket->readingEnds;
  if (known.received > socket->delivered || ends) now |= POLLIN | POLLRDNORM;
  if (ends) now |= POLLRDHUP;
  if (known.state >= DOWNBEAT_ESTABLISHED && known.unacknowledged < sendSpace) now |= POLLOUT | POLLWRNORM;
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
  if (!look() && timeout != 0) await(lock, look, after(downbeat_sim_now(device()), timeout));
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
  if (!look() && timeout != 0) await(lock, look, after(downbeat_sim_now(device()), timeout));
  return static_cast<Result>(count);
}
