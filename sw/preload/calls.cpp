// SPDX-License-Identifier: BSD-2-Clause-Patent
// libdownbeat_preload.so: the calls that make, name and end TCP connections. All others (write, poll, splice, fork,
// exec) keep the kernel's meaning, because the program has a socket of the kernel; reads.cpp has those that read.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <type_traits>

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "first_byte.h"
#include "peer.h"
#include "real.h"
#include "takeover.h"

using namespace downbeat;

namespace {

std::optional<Endpoint> endpointOf(const sockaddr *address, socklen_t length) {
  if (address == nullptr || length < sizeof(sockaddr_in) || address->sa_family != AF_INET) return std::nullopt;
  sockaddr_in internet;
  std::memcpy(&internet, address, sizeof internet);
  return Endpoint{ntohl(internet.sin_addr.s_addr), ntohs(internet.sin_port)};
}

/// As getsockname gives it: no more than there is space for, and the whole length.
int give(Endpoint endpoint, sockaddr *address, socklen_t *length) {
  if (address == nullptr || length == nullptr) return 0;
  const sockaddr_in made = internet(endpoint);
  std::memcpy(address, &made, std::min<std::size_t>(*length, sizeof made));
  *length = sizeof made;
  return 0;
}

int giveNumber(int number, void *value, socklen_t *length) {
  if (value == nullptr || length == nullptr || *length < sizeof number) return errno = EINVAL, -1;
  std::memcpy(value, &number, sizeof number);
  *length = sizeof number;
  return 0;
}

int fail(int error) {
  errno = error;
  return -1;
}

/// What is known without the core: the rest is 0. Programs take it for statistics alone.
int giveInfo(bool connected, void *value, socklen_t *length) {
  if (value == nullptr || length == nullptr) return fail(EINVAL);
  tcp_info info{};
  info.tcpi_state = connected ? TCP_ESTABLISHED : TCP_LISTEN;
  info.tcpi_snd_mss = info.tcpi_rcv_mss = static_cast<std::uint32_t>(Pump::get()->segment);
  *length = std::min<socklen_t>(*length, sizeof info);
  std::memcpy(value, &info, *length);
  return 0;
}

} // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED int bind(int descriptor, const sockaddr *address, socklen_t length) noexcept {
  const Pump *pump = Pump::get();
  const auto local = endpointOf(address, length);
  if (pump == nullptr || !local || (local->ip != pump->ip && local->ip != INADDR_ANY) || !isKernelTcp(descriptor))
    return REAL(bind)(descriptor, address, length);
  // The device's address is not the kernel's; the port is, so that two programs do not take the same one.
  const sockaddr_in any = internet({INADDR_ANY, local->port});
  if (REAL(bind)(descriptor, reinterpret_cast<const sockaddr *>(&any), sizeof any) != 0) return -1;
  sockaddr_in chosen{};
  socklen_t size = sizeof chosen;
  REAL(getsockname)(descriptor, reinterpret_cast<sockaddr *>(&chosen), &size);
  rememberBound(descriptor, {local->ip, ntohs(chosen.sin_port)});
  return 0;
}

EXPORTED int listen(int descriptor, int backlog) noexcept {
  if (Pump::get() == nullptr) return REAL(listen)(descriptor, backlog);
  if (const auto local = boundOf(descriptor); local && isKernelTcp(descriptor))
    return listenOverCore(descriptor, *local, backlog);
  return REAL(listen)(descriptor, backlog);
}

EXPORTED int connect(int descriptor, const sockaddr *address, socklen_t length) {
  const Pump *pump = Pump::get();
  const auto remote = endpointOf(address, length);
  if (pump == nullptr || !remote) return REAL(connect)(descriptor, address, length);
  if (const auto own = ownOf(descriptor); own && own->connection) { // asked again after EINPROGRESS
    const int error = errorOf(*own->connection);
    return error == EINPROGRESS ? fail(EALREADY) : error == 0 ? fail(EISCONN) : fail(error);
  }
  if (!pump->reaches(remote->ip) || !isKernelTcp(descriptor)) return REAL(connect)(descriptor, address, length);
  return connectOverCore(descriptor, *remote);
}

EXPORTED int accept4(int descriptor, sockaddr *address, socklen_t *length, int flags) {
  if (Pump::get() == nullptr) return REAL(accept4)(descriptor, address, length, flags);
  sockaddr_storage peer;
  socklen_t size;
  int accepted;
  for (bool pastPump = true; pastPump;) {
    size = sizeof peer;
    accepted = REAL(accept4)(descriptor, reinterpret_cast<sockaddr *>(&peer), &size, flags);
    if (accepted < 0) return accepted;
    const bool own = ownOf(accepted).has_value();
    pastPump = own && !isOfSameUser(accepted);
    if (pastPump)
      REAL(close)(accepted);
    else if (own)
      sendFirstByte(accepted);
  }
  if (address == nullptr || length == nullptr) return accepted;
  sockaddr_un local{};
  std::memcpy(&local, &peer, std::min<std::size_t>(size, sizeof local));
  if (const auto name = connectionOf(local, size)) return give(name->remote, address, length), accepted;
  std::memcpy(address, &peer, std::min(*length, size));
  *length = size;
  return accepted;
}

EXPORTED int accept(int descriptor, sockaddr *address, socklen_t *length) {
  return accept4(descriptor, address, length, 0);
}

EXPORTED int getsockname(int descriptor, sockaddr *address, socklen_t *length) noexcept {
  if (const auto own = ownOf(descriptor)) {
    if (own->connection) return give(own->connection->local, address, length);
    if (own->listener) return give(*own->listener, address, length);
  }
  if (const auto local = boundOf(descriptor)) return give(*local, address, length);
  return REAL(getsockname)(descriptor, address, length);
}

EXPORTED int getpeername(int descriptor, sockaddr *address, socklen_t *length) noexcept {
  const auto own = ownOf(descriptor);
  if (!own) return REAL(getpeername)(descriptor, address, length);
  const int error = own->connection ? errorOf(*own->connection) : ENOTCONN;
  if (error != 0 && error != ENETDOWN) return fail(ENOTCONN); // ENETDOWN: who has given up root may not ask
  return give(own->connection->remote, address, length);
}

EXPORTED int getsockopt(int descriptor, int level, int name, void *value, socklen_t *length) noexcept {
  const auto own =
      level == SOL_SOCKET || level == IPPROTO_TCP || level == IPPROTO_IP ? ownOf(descriptor) : std::nullopt;
  if (!own) return REAL(getsockopt)(descriptor, level, name, value, length);
  if (level == SOL_SOCKET) {
    if (name == SO_DOMAIN) return giveNumber(AF_INET, value, length);
    if (name == SO_PROTOCOL) return giveNumber(IPPROTO_TCP, value, length);
    const int result = REAL(getsockopt)(descriptor, level, name, value, length);
    int error = 0;
    if (result != 0 || name != SO_ERROR || *length < sizeof error) return result;
    std::memcpy(&error, value, sizeof error);
    return giveNumber(reasonOf(descriptor, error), value, length);
  }
  if (level == IPPROTO_TCP && name == TCP_MAXSEG) return giveNumber(Pump::get()->segment, value, length);
  if (level == IPPROTO_TCP && name == TCP_NODELAY) return giveNumber(0, value, length);
  if (level == IPPROTO_TCP && name == TCP_INFO) return giveInfo(own->connection.has_value(), value, length);
  return fail(ENOPROTOOPT);
}

EXPORTED int setsockopt(int descriptor, int level, int name, const void *value, socklen_t length) noexcept {
  // A queue that is too small is never writable with the byte in it that stays unread.
  const bool sendQueue = level == SOL_SOCKET && (name == SO_SNDBUF || name == SO_SNDBUFFORCE);
  const auto own = sendQueue || level == IPPROTO_TCP || level == IPPROTO_IP ? ownOf(descriptor) : std::nullopt;
  if (!own) return REAL(setsockopt)(descriptor, level, name, value, length);
  if (level == IPPROTO_TCP && name == TCP_NODELAY && own->connection && length >= sizeof(int)) {
    int wanted;
    std::memcpy(&wanted, value, sizeof wanted);
    setOptions(*own->connection, wanted != 0);
  }
  return 0; // hints: the core has its own keep-alive, user timeout, cork and priority
}

EXPORTED int close(int descriptor) {
  if (Pump::get() != nullptr) forgetBound(descriptor);
  return REAL(close)(descriptor);
}
