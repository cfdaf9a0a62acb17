// SPDX-License-Identifier: BSD-2-Clause-Patent
// Sockets that listen, and the connections that come to them.
#include <algorithm>
#include <cerrno>
#include <fstream>

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/syscall.h>

#include "errors.h"
#include "supervisor.h"

namespace downbeat {

namespace {

int firstUnprivilegedPort() {
  int port = 1024;
  std::ifstream("/proc/sys/net/ipv4/ip_unprivileged_port_start") >> port;
  return port;
}

/// The core's addresses are among those of a socket that is bound to none.
bool takesIpv4(const File &socket) {
  return option(socket.get(), SOL_SOCKET, SO_DOMAIN) == AF_INET || option(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY) == 0;
}

/// Not connected, nor on its way to it.
bool mayListen(const File &socket) {
  tcp_info values{};
  socklen_t length = sizeof values;
  getsockopt(socket.get(), IPPROTO_TCP, TCP_INFO, &values, &length);
  return values.tcpi_state == TCP_CLOSE || values.tcpi_state == TCP_LISTEN;
}

bool hasEvent(const File &socket) {
  pollfd state{socket.get(), POLLIN, 0};
  return ::poll(&state, 1, 0) > 0;
}

} // namespace

void Supervisor::bind(const Call &call) {
  const auto address = call.readAddress(1, 2);
  if (!address) return errno == EPERM ? call.fail(EACCES) : call.goOn();
  const auto local = endpointOf(*address);
  if (!local || local->ip != info_.ip) return call.goOn();
  const File socket = call.file(call.descriptorArgument());
  if (!socket) return call.fail(errno);
  if (!isTcp(socket)) return call.goOn();
  // The supervisor may be root where the program is not.
  if (local->port != 0 && local->port < firstUnprivilegedPort() && !call.mayBindPrivilegedPorts())
    return call.fail(EACCES);
  call.settle(bindTo(socket.get(), {leg_.own(), local->port}));
}

void Supervisor::listen(const Call &call) {
  const File socket = call.file(call.descriptorArgument());
  if (!socket) return call.fail(errno == EPERM ? EACCES : errno);
  auto local = localEndpoint(socket.get());
  if (!local || !isTcp(socket) || (local->ip != leg_.own() && (local->ip != 0 || !takesIpv4(socket))) ||
      !mayListen(socket))
    return call.goOn();
  if (local->port == 0) {
    bindTo(socket.get(), {local->ip, 0});
    local = localEndpoint(socket.get());
    if (!local || local->port == 0) return call.goOn();
  }
  const int backlog = static_cast<int>(call.argument(1));
  const auto [place, isNew] = listeners_.try_emplace(local->port);
  if (!isNew) {
    if (place->second->call) return call.fail(EADDRINUSE); // two at once
    const int error = ::listen(socket.get(), backlog) == 0 ? 0 : errno;
    if (error == 0) place->second->sockets.insert_or_assign(cookieOf(socket), Presence(socket));
    return call.settle(error);
  }
  place->second = std::make_unique<Listener>();
  Listener &listener = *place->second;
  const downbeat_options options = optionsOf(socket);
  const auto waiting = static_cast<unsigned>(backlog < 0 ? SOMAXCONN : std::max(backlog, 1));
  void *const context = reinterpret_cast<void *>(std::uintptr_t{local->port});
  const int error = deviceGone_ ? DOWNBEAT_DEVICE_GONE
                                : downbeat_listen(device_, local->port, waiting, &options, context, &listener.listener);
  if (error != DOWNBEAT_OK) {
    listeners_.erase(place);
    return call.fail(errnoOf(error));
  }
  listener.call = call;
}

void Supervisor::listening(std::uint16_t port) {
  const auto found = listeners_.find(port);
  if (found == listeners_.end()) return;
  Listener &listener = *found->second;
  if (!listener.call) return arrive(port);
  const int state = downbeat_listening(listener.listener);
  if (state == DOWNBEAT_WOULD_BLOCK) return;
  const Call call = *listener.call;
  listener.call.reset();
  int error = errnoOf(state);
  if (error == 0) {
    const File socket = call.file(call.descriptorArgument());
    error = socket && ::listen(socket.get(), static_cast<int>(call.argument(1))) == 0 ? 0 : errno;
    if (error == 0) listener.sockets.insert_or_assign(cookieOf(socket), Presence(socket));
  }
  call.settle(error);
  if (error == 0) return arrive(port);
  downbeat_unlisten(listener.listener);
  listeners_.erase(found);
}

void Supervisor::endListening(const File &socket) {
  for (auto &[port, listener] : listeners_) listener->sockets.erase(cookieOf(socket));
  tidyListeners();
}

void Supervisor::arrive(std::uint16_t port) {
  downbeat_connection *connection = nullptr;
  while (downbeat_accept(listeners_.at(port)->listener, &connection) == DOWNBEAT_OK) {
    downbeat_connection_info_t info;
    downbeat_connection_info(connection, &info);
    Bridge &bridge = add(connection);
    File end = leg_.connect(port);
    if (const auto name = localEndpoint(end.get()))
      arrived_[name->port] = {bridge.serial(), {info.remote_ip, info.remote_port}, port};
    bridge.join(std::move(end));
    watch(bridge.descriptor(), bridge.serial(), EPOLLET | EPOLLIN | EPOLLOUT);
    step(bridge.serial());
  }
}

void Supervisor::accept(const Call &call) {
  File listener = call.file(call.descriptorArgument());
  const auto local = listener ? localEndpoint(listener.get()) : std::nullopt;
  if (!local || !isTcp(listener) || option(listener.get(), SOL_SOCKET, SO_ACCEPTCONN) == 0 ||
      (local->ip != leg_.own() && local->ip != 0))
    return call.goOn();
  if (!deviceGone_ && !listeners_.contains(local->port)) return call.goOn();
  if (acceptOne(call, listener)) return;
  if ((fcntl(listener.get(), F_GETFL) & O_NONBLOCK) != 0) return call.fail(EAGAIN);
  const std::uint32_t number = ++serial_;
  watch(listener.get(), ofAccepting | number, EPOLLIN);
  const auto until = deadline(listener, SO_RCVTIMEO);
  accepting_.emplace(number, Accepting{call, std::move(listener), until});
}

void Supervisor::accepting(std::uint32_t number) {
  const auto found = accepting_.find(number);
  if (found == accepting_.end()) return;
  Accepting &each = found->second;
  if (each.call.waits() && !acceptOne(each.call, each.listener)) {
    if (Clock::now() < each.until) return;
    each.call.fail(EAGAIN);
  }
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, each.listener.get(), nullptr); // the program has the file too
  accepting_.erase(found);
}

bool Supervisor::acceptOne(const Call &call, const File &listener) {
  const int flags = call.number() == SYS_accept4 ? static_cast<int>(call.argument(3)) : 0;
  if ((flags & ~(SOCK_CLOEXEC | SOCK_NONBLOCK)) != 0) return call.fail(EINVAL), true;
  const auto [ip, port] = localEndpoint(listener.get()).value_or(Endpoint{});
  const auto core = listeners_.find(port);
  if (core != listeners_.end() && !core->second->returned.empty()) {
    auto [accepted, address] = std::move(core->second->returned.back());
    core->second->returned.pop_back();
    fcntl(accepted.get(), F_SETFL, (flags & SOCK_NONBLOCK) != 0 ? O_RDWR | O_NONBLOCK : O_RDWR);
    return hand(call, std::move(accepted), address, flags, port), true;
  }
  while (hasEvent(listener)) {
    SocketAddress address;
    File accepted(accept4(listener.get(), address.get(), &address.length, flags | SOCK_CLOEXEC));
    if (!accepted) return call.fail(errno), true;
    const auto remote = endpointOf(address);
    const auto local = localEndpoint(accepted.get());
    if (local && local->ip == leg_.own()) {
      const auto found = remote && remote->ip == leg_.remote() ? arrived_.find(remote->port) : arrived_.end();
      const bool own = remote && remote->ip != leg_.remote() && ownPorts_.erase(remote->port) != 0;
      if (found == arrived_.end() && !own) continue; // another process of this machine, which the core does not know
      const Arrived from = own ? Arrived{0, {info_.ip, remote->port}, port} : found->second;
      if (!own) arrived_.erase(found);
      address = socketAddress(option(accepted.get(), SOL_SOCKET, SO_DOMAIN), from.remote);
      if (const auto bridge = bridges_.find(from.serial); bridge != bridges_.end()) {
        remember(accepted, *bridge->second, from.remote, call).accepted = true;
        const auto [keepAlive, userTimeout] = timesOf(accepted); // as the listener's are by now
        if ((keepAlive | userTimeout) != 0) bridge->second->setTimes(keepAlive, userTimeout);
      }
    }
    hand(call, std::move(accepted), address, flags, port);
    return true;
  }
  // Nobody comes to the core's address any more; to another of the machine's somebody may.
  if (!deviceGone_ || ip != leg_.own()) return false;
  return call.fail(ENETDOWN), true;
}

void Supervisor::hand(const Call &call, File accepted, const SocketAddress &address, int flags, std::uint16_t port) {
  if (const int error = call.writeAddress(address, call.argument(1), call.argument(2)); error != 0 && call.waits())
    return call.fail(error);
  if (call.give(accepted, (flags & SOCK_CLOEXEC) != 0 ? O_CLOEXEC : 0)) return;
  if (const auto core = listeners_.find(port); core != listeners_.end())
    core->second->returned.emplace_back(std::move(accepted), address); // a signal came: the next call gets it
}

} // namespace downbeat
