// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "endpoint.h"

#include <cerrno>
#include <cstring>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace downbeat {

namespace {

constexpr std::size_t mappedBytes = 12; // ::ffff:0:0/96 before the IPv4 address

using Naming = int (*)(int, sockaddr *, socklen_t *) noexcept;

std::optional<Endpoint> named(Naming naming, int socket) {
  SocketAddress address;
  return naming(socket, address.get(), &address.length) == 0 ? endpointOf(address) : std::nullopt;
}

} // namespace

std::optional<Endpoint> endpointOf(const SocketAddress &address) {
  if (address.storage.ss_family == AF_INET && address.length >= sizeof(sockaddr_in)) {
    sockaddr_in internet;
    std::memcpy(&internet, &address.storage, sizeof internet);
    return Endpoint{ntohl(internet.sin_addr.s_addr), ntohs(internet.sin_port)};
  }
  constexpr socklen_t withoutScope = 24; // RFC 2133: Linux takes it
  if (address.storage.ss_family != AF_INET6 || address.length < withoutScope) return std::nullopt;
  sockaddr_in6 internet;
  std::memcpy(&internet, &address.storage, sizeof internet);
  Endpoint endpoint{0, ntohs(internet.sin6_port)};
  if (IN6_IS_ADDR_UNSPECIFIED(&internet.sin6_addr)) return endpoint;
  if (!IN6_IS_ADDR_V4MAPPED(&internet.sin6_addr)) return std::nullopt;
  std::memcpy(&endpoint.ip, internet.sin6_addr.s6_addr + mappedBytes, sizeof endpoint.ip);
  endpoint.ip = ntohl(endpoint.ip);
  return endpoint;
}

SocketAddress socketAddress(int family, Endpoint endpoint) {
  SocketAddress made;
  const std::uint32_t ip = htonl(endpoint.ip);
  if (family == AF_INET6) {
    sockaddr_in6 internet{};
    internet.sin6_family = AF_INET6;
    internet.sin6_port = htons(endpoint.port);
    if (ip != 0) std::memset(internet.sin6_addr.s6_addr + mappedBytes - 2, 0xff, 2); // none is `::`
    std::memcpy(internet.sin6_addr.s6_addr + mappedBytes, &ip, sizeof ip);
    std::memcpy(&made.storage, &internet, made.length = sizeof internet);
  } else {
    sockaddr_in internet{};
    internet.sin_family = AF_INET;
    internet.sin_port = htons(endpoint.port);
    internet.sin_addr.s_addr = ip;
    std::memcpy(&made.storage, &internet, made.length = sizeof internet);
  }
  return made;
}

std::optional<Endpoint> localEndpoint(int socket) { return named(getsockname, socket); }

std::optional<Endpoint> remoteEndpoint(int socket) { return named(getpeername, socket); }

int bindTo(int socket, Endpoint endpoint) {
  SocketAddress address = socketAddress(option(socket, SOL_SOCKET, SO_DOMAIN), endpoint);
  return bind(socket, address.get(), address.length) == 0 ? 0 : errno;
}

int bindToAddress(int socket, std::uint32_t ip) {
  const int before = option(socket, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT);
  setOption(socket, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
  const int error = bindTo(socket, {ip, 0});
  setOption(socket, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, before);
  return error;
}

int connectTo(int socket, Endpoint endpoint) {
  SocketAddress address = socketAddress(option(socket, SOL_SOCKET, SO_DOMAIN), endpoint);
  return connect(socket, address.get(), address.length) == 0 ? 0 : errno;
}

int option(int socket, int level, int name, int otherwise) {
  int value = 0;
  socklen_t length = sizeof value;
  return getsockopt(socket, level, name, &value, &length) == 0 ? value : otherwise;
}

void setOption(int socket, int level, int name, int value) { setsockopt(socket, level, name, &value, sizeof value); }

} // namespace downbeat
