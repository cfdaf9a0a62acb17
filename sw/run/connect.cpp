// SPDX-License-Identifier: BSD-2-Clause-Patent
// Connections that the program opens.
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <limits>
#include <tuple>

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "errors.h"
#include "supervisor.h"

namespace downbeat {

namespace {

constexpr std::uint64_t second = 1'000'000'000; // ns

/// A time as the core has it: units of 2^30 ns.
std::uint32_t coreTime(std::uint64_t nanoseconds) {
  return nanoseconds == 0 ? 0 : static_cast<std::uint32_t>(std::clamp<std::uint64_t>(nanoseconds >> 30, 1, 65535));
}

/// It is as before its connect.
void disconnect(const File &socket, bool errorToo = true, bool addressToo = true) {
  const sockaddr nothing{AF_UNSPEC, {}};
  ::connect(socket.get(), &nothing, sizeof nothing);
  if (errorToo) option(socket.get(), SOL_SOCKET, SO_ERROR);
  if (addressToo) bindToAddress(socket.get(), 0); // the leg's, unless the program has bound it with a port
}

std::uint64_t inodeOf(const File &socket) {
  struct stat status{};
  return fstat(socket.get(), &status) == 0 ? status.st_ino : 0;
}

/// A descriptor of a process for a socket's file.
File fileOf(const std::string &process, std::uint64_t inode) {
  const std::string wanted = "socket:[" + std::to_string(inode) + "]";
  std::error_code gone; // it may end meanwhile
  for (const auto &each : std::filesystem::directory_iterator("/proc/" + process + "/fd", gone)) {
    if (std::filesystem::read_symlink(each.path(), gone) != wanted) continue;
    const File pidfd = openProcess(std::stoi(process));
    return File(static_cast<int>(syscall(SYS_pidfd_getfd, pidfd.get(), std::stoi(each.path().filename()), 0)));
  }
  return {};
}

} // namespace

bool isTcp(const File &socket) {
  return option(socket.get(), SOL_SOCKET, SO_PROTOCOL) == IPPROTO_TCP &&
         option(socket.get(), SOL_SOCKET, SO_TYPE) == SOCK_STREAM;
}

std::uint64_t cookieOf(const File &socket) {
  std::uint64_t cookie = 0;
  socklen_t length = sizeof cookie;
  getsockopt(socket.get(), SOL_SOCKET, SO_COOKIE, &cookie, &length);
  return cookie;
}

Clock::time_point deadline(const File &socket, int name) {
  timeval time{};
  socklen_t length = sizeof time;
  getsockopt(socket.get(), SOL_SOCKET, name, &time, &length);
  if (time.tv_sec == 0 && time.tv_usec == 0) return Clock::time_point::max();
  return Clock::now() + std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

std::pair<std::uint32_t, std::uint32_t> timesOf(const File &socket) {
  const auto time = [&](int name, std::uint64_t unit) {
    return coreTime(static_cast<std::uint32_t>(option(socket.get(), IPPROTO_TCP, name)) * unit);
  };
  const bool keepsAlive = option(socket.get(), SOL_SOCKET, SO_KEEPALIVE) != 0;
  return {keepsAlive ? time(TCP_KEEPIDLE, second) : 0, time(TCP_USER_TIMEOUT, second / 1000)};
}

downbeat_options Supervisor::optionsOf(const File &socket) const {
  downbeat_options options = options_;
  downbeat_parameters &parameters = options.parameters;
  parameters.no_delay = 1; // Bridge delays
  std::tie(parameters.keep_alive, parameters.user_timeout) = timesOf(socket);
  parameters.differentiated_services = static_cast<std::uint32_t>(option(socket.get(), IPPROTO_IP, IP_TOS)) >> 2 & 63;
  applyControls(socket, options);
  return options;
}

Supervisor::Socket *Supervisor::find(const File &socket) {
  const auto found = sockets_.find(cookieOf(socket));
  return found == sockets_.end() ? nullptr : &found->second;
}

Supervisor::Socket &Supervisor::remember(const File &socket, Bridge &bridge, Endpoint remote, const Call &call) {
  auto presence = std::make_shared<const Presence>(socket);
  bridge.watch(presence);
  bridge.setNoDelay(option(socket.get(), IPPROTO_TCP, TCP_NODELAY) != 0);
  ::linger lingers{};
  socklen_t length = sizeof lingers;
  getsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &lingers, &length);
  takeLinger(socket, bridge, lingers);
  Socket &known = sockets_[cookieOf(socket)];
  known = {bridge.serial(), remote, presence, inodeOf(socket), call.thread()};
  takePace(socket, known);
  return known;
}

void Supervisor::connect(const Call &call) {
  const auto address = call.readAddress(1, 2);
  if (!address) return errno == EPERM ? call.fail(EACCES) : call.goOn(); // the kernel names other errors
  if (address->storage.ss_family == AF_UNSPEC && address->length >= sizeof(sa_family_t)) return unconnect(call);
  const auto remote = endpointOf(*address);
  if (!remote || !reaches(remote->ip)) return call.goOn();
  const File socket = call.file(call.descriptorArgument());
  if (!socket) return call.fail(errno);
  if (!isTcp(socket)) return call.goOn();
  if (remote->ip == info_.ip && !coreReachesItself() && find(socket) == nullptr)
    return connectToOwn(call, socket, remote->port);

  Socket *known = find(socket);
  if (known != nullptr) {
    if (const auto opens = opening_.find(known->serial); opens != opening_.end())
      return wait(opens->second, call, socket);
  }
  if (deviceGone_ && known == nullptr) return call.fail(ENETDOWN);
  const int error = known != nullptr ? leg_.beginAgain(socket.get()) : leg_.begin(socket.get());
  if (error != EINPROGRESS) {
    if (known == nullptr || known->error == 0 || (error != ECONNRESET && error != ECONNABORTED))
      return call.settle(error);
    const int failed = error == ECONNRESET ? known->error : error;
    givePace(socket, *known);
    sockets_.erase(cookieOf(socket));
    disconnect(socket);
    return call.fail(failed);
  }
  if (known != nullptr) givePace(socket, *known);
  const Endpoint local = localEndpoint(socket.get()).value_or(Endpoint{});
  const downbeat_options options = optionsOf(socket);
  downbeat_connection *connection = nullptr;
  if (const int problem = downbeat_connect(device_, remote->ip, remote->port, local.port, &options, &connection);
      problem != DOWNBEAT_OK) {
    disconnect(socket);
    return call.fail(errnoOf(problem));
  }
  Bridge &bridge = add(connection);
  remember(socket, bridge, *remote, call);
  Opening &opening = opening_[bridge.serial()];
  opening.cookie = cookieOf(socket);
  opening.local = local;
  wait(opening, call, socket);
}

bool Supervisor::coreReachesItself() {
  constexpr std::chrono::seconds atMost{1};
  const auto end = Clock::now() + atMost;
  while (trial_ != nullptr && Clock::now() < end) {
    pollfd state{downbeat_descriptor(device_), POLLIN, 0};
    ::poll(&state, 1, 1);
    events();
  }
  return reachesItself_;
}

void Supervisor::connectToOwn(const Call &call, const File &socket, std::uint16_t port) {
  if (deviceGone_) return call.fail(ENETDOWN);
  const int error = leg_.beginToOwn(socket.get(), port);
  const auto local = localEndpoint(socket.get());
  if ((error == 0 || error == EINPROGRESS) && local) ownPorts_.insert(local->port);
  if (error != EINPROGRESS || (fcntl(socket.get(), F_GETFL) & O_NONBLOCK) != 0) return call.settle(error);
  OwnOpening opening{call, File(fcntl(socket.get(), F_DUPFD_CLOEXEC, 0)), port, deadline(socket, SO_SNDTIMEO)};
  if (!connectsToOwn(opening)) ownOpening_.push_back(std::move(opening));
}

bool Supervisor::connectsToOwn(const OwnOpening &opening) {
  if (!opening.call.waits()) return true;
  const int error = leg_.beginAgainToOwn(opening.socket.get(), opening.port);
  const bool waits = error == EALREADY || error == EINPROGRESS;
  if (waits && Clock::now() < opening.until) return false;
  if (error != 0 && !waits) disconnect(opening.socket);
  opening.call.settle(waits ? EINPROGRESS : error);
  return true;
}

void Supervisor::unconnect(const Call &call) {
  const File socket = call.file(call.descriptorArgument());
  if (!socket || !isTcp(socket)) return call.goOn();
  const bool listens = option(socket.get(), SOL_SOCKET, SO_ACCEPTCONN) != 0;
  const Socket *known = find(socket);
  if (!listens && known == nullptr) return call.goOn();
  disconnect(socket, false, known != nullptr && !known->accepted);
  if (listens) endListening(socket);
  if (known != nullptr) {
    givePace(socket, *known);
    const std::uint32_t serial = known->serial;
    if (const auto opening = opening_.find(serial); opening != opening_.end()) {
      if (opening->second.call) opening->second.call->fail(ECONNABORTED);
      opening_.erase(opening);
    }
    bridges_.erase(serial); // a reset
    if (known->error == 0) sockets_.erase(cookieOf(socket));
  }
  call.finish(0);
}

void Supervisor::wait(Opening &opening, const Call &call, const File &socket) {
  opening.unfinished = opening.started ? EALREADY : EINPROGRESS;
  opening.started = true;
  if ((fcntl(socket.get(), F_GETFL) & O_NONBLOCK) != 0) return call.fail(opening.unfinished);
  if (opening.call) opening.call->fail(EALREADY);
  opening.call = call;
  opening.socket = File(fcntl(socket.get(), F_DUPFD_CLOEXEC, 0));
  opening.until = deadline(socket, SO_SNDTIMEO);
}

bool Supervisor::opened(Bridge &bridge) {
  const std::uint32_t serial = bridge.serial();
  Opening &opening = opening_.at(serial);
  if (opening.call && !opening.call->waits()) opening.leave();
  const int error = bridge.error();
  if (error == EINPROGRESS) {
    if (opening.call && opening.until < Clock::now()) {
      opening.call->fail(opening.unfinished);
      opening.leave();
    }
    if (!bridge.programGone()) return false;
  } else {
    if (error == 0) {
      bridge.join(leg_.join(opening.local));
      watch(bridge.descriptor(), serial, EPOLLET | EPOLLIN | EPOLLOUT);
    }
    finish(opening, error);
  }
  opening_.erase(serial);
  if (error != 0) bridges_.erase(serial);
  return error == 0;
}

void Supervisor::finish(Opening &opening, int error) {
  const File &socket = opening.socket;
  const bool waits = static_cast<bool>(socket);
  if (error == 0) {
    if (waits) connectTo(socket.get(), opening.local); // the kernel takes note that it is connected
  } else if (waits) {
    givePace(socket, sockets_[opening.cookie]);
    sockets_.erase(opening.cookie);
    disconnect(socket);
  } else {
    if (const auto found = sockets_.find(opening.cookie); found != sockets_.end()) found->second.error = error;
    leg_.refuse(opening.local);
  }
  if (opening.call) opening.call->settle(error);
}

void Supervisor::timeOut(Bridge &bridge) {
  const auto found = std::find_if(sockets_.begin(), sockets_.end(),
                                  [&](const auto &each) { return each.second.serial == bridge.serial(); });
  if (found == sockets_.end()) return;
  File socket = fileOf(std::to_string(found->second.thread), found->second.inode);
  std::error_code gone;
  for (auto each = std::filesystem::directory_iterator("/proc", gone); !socket && each != end(each); ++each)
    if (const std::string name = each->path().filename(); std::isdigit(name[0]) != 0)
      socket = fileOf(name, found->second.inode);
  if (!socket) return;
  File end = bridge.takeEnd();
  deafen(end.get());
  // The kernel itself finds that nobody is there: bytes without an acknowledgment, or else probes.
  setOption(socket.get(), IPPROTO_IP, IP_TTL, 64);
  setOption(socket.get(), SOL_SOCKET, SO_KEEPALIVE, 1);
  setOption(socket.get(), IPPROTO_TCP, TCP_USER_TIMEOUT, 1);
  setOption(socket.get(), IPPROTO_TCP, TCP_KEEPINTVL, 1);
  setOption(socket.get(), IPPROTO_TCP, TCP_KEEPIDLE, 1);
  silent_.emplace_back(Clock::now() + std::chrono::seconds(5), std::move(end));
}

} // namespace downbeat
