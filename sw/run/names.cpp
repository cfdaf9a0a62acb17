// SPDX-License-Identifier: BSD-2-Clause-Patent
// Names, errors, options and queues of the program's sockets, where the local leg has others than the core.
#include <algorithm>
#include <cerrno>

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>

#include "supervisor.h"

namespace downbeat {

bool Supervisor::isOnLeg(int socket) const {
  const auto local = localEndpoint(socket), remote = remoteEndpoint(socket);
  return (local && local->ip == leg_.own()) || (remote && (remote->ip == leg_.remote() || remote->ip == leg_.own()));
}

void Supervisor::localName(const Call &call) {
  const File socket = call.file(call.descriptorArgument());
  if (!socket || !isOnLeg(socket.get())) return call.goOn();
  const auto local = localEndpoint(socket.get()).value_or(Endpoint{});
  const int family = option(socket.get(), SOL_SOCKET, SO_DOMAIN);
  call.settle(call.writeAddress(socketAddress(family, {info_.ip, local.port}), call.argument(1), call.argument(2)));
}

void Supervisor::remoteName(const Call &call) {
  const File socket = call.file(call.descriptorArgument());
  auto remote = socket ? remoteEndpoint(socket.get()) : std::nullopt;
  const Socket *known = remote && remote->ip == leg_.remote() ? find(socket) : nullptr;
  const auto local = socket ? localEndpoint(socket.get()) : std::nullopt;
  if (known != nullptr)
    remote = known->remote;
  else if (remote && (remote->ip == leg_.own() || (remote->ip != leg_.remote() && local && local->ip == leg_.own())))
    remote->ip = info_.ip; // a connection to an own listener
  else
    return call.goOn();
  const int family = option(socket.get(), SOL_SOCKET, SO_DOMAIN);
  call.settle(call.writeAddress(socketAddress(family, *remote), call.argument(1), call.argument(2)));
}

void giveOption(const Call &call, const void *value, std::size_t size) {
  std::int32_t length;
  if (!call.read(&length, sizeof length, call.argument(4))) return call.fail(EFAULT);
  if (length < 0) return call.fail(EINVAL);
  length = std::min(length, static_cast<std::int32_t>(size));
  const bool written = call.write(value, static_cast<std::size_t>(length), call.argument(3)) &&
                       call.write(&length, sizeof length, call.argument(4));
  call.settle(written ? 0 : EFAULT);
}

void Supervisor::getOption(const Call &call) {
  const File socket = call.file(call.descriptorArgument());
  if (!socket) return call.goOn();
  const std::uint64_t level = call.argument(1), name = call.argument(2);
  if (level == SOL_SOCKET && name == SO_MAX_PACING_RATE) return givePacingRate(call, socket);
  if (level == IPPROTO_TCP && name == TCP_CONGESTION) return giveCongestion(call, socket);
  if (level == IPPROTO_TCP && name == TCP_INFO) return giveInformation(call, socket);
  int value;
  if (level == SOL_SOCKET) { // SO_ERROR: the kernel knows the reset that stands for it
    Socket *known = find(socket);
    if (known == nullptr || known->error == 0) return call.goOn();
    value = option(socket.get(), SOL_SOCKET, SO_ERROR) != 0 ? std::exchange(known->error, 0) : 0;
  } else { // TCP_MAXSEG
    if (!isTcp(socket) || !isOnLeg(socket.get())) return call.goOn();
    value = static_cast<int>(info_.mss);
  }
  giveOption(call, &value, sizeof value);
}

void Supervisor::queue(const Call &call) {
  const File socket = call.file(call.descriptorArgument());
  const Socket *known = socket ? find(socket) : nullptr;
  const auto bridge = known != nullptr ? bridges_.find(known->serial) : bridges_.end();
  if (bridge == bridges_.end()) return call.goOn();
  int waiting = 0;
  ioctl(socket.get(), SIOCOUTQ, &waiting);
  waiting += bridge->second->unacknowledged();
  call.settle(call.write(&waiting, sizeof waiting, call.argument(2)) ? 0 : EFAULT);
}

void Supervisor::shutdown(const Call &call) {
  const File socket = call.file(call.descriptorArgument());
  if (!socket || !isTcp(socket)) return call.goOn();
  const auto how = static_cast<int>(call.argument(1));
  if (option(socket.get(), SOL_SOCKET, SO_ACCEPTCONN) != 0) { // behind an end of reading it listens no more
    call.settle(::shutdown(socket.get(), how) == 0 ? 0 : errno);
    if (option(socket.get(), SOL_SOCKET, SO_ACCEPTCONN) == 0) endListening(socket);
    return;
  }
  const Socket *known = find(socket);
  const auto bridge = known != nullptr ? bridges_.find(known->serial) : bridges_.end();
  // The end is for the peer at once. A close after it has nothing to wait for.
  if (how != SHUT_RD && bridge != bridges_.end()) bridge->second->setLinger(std::nullopt);
  call.goOn();
}

} // namespace downbeat
