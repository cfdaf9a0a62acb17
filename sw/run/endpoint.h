// SPDX-License-Identifier: BSD-2-Clause-Patent
// IPv4 addresses with ports, and the socket addresses that carry them: AF_INET, or v4-mapped in AF_INET6.
#pragma once

#include <cstdint>
#include <optional>

#include <sys/socket.h>

namespace downbeat {

struct Endpoint {
  std::uint32_t ip = 0; // host order
  std::uint16_t port = 0;
};

/// A socket address and its length, as the kernel's calls take and give them.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;

  sockaddr *get() { return reinterpret_cast<sockaddr *>(&storage); }
};

/// Nothing for other families and IPv6 addresses; `::` is 0.0.0.0.
std::optional<Endpoint> endpointOf(const SocketAddress &address);
/// As a socket of `family` has it.
SocketAddress socketAddress(int family, Endpoint endpoint);

/// The kernel's names of a socket, if they are IPv4.
std::optional<Endpoint> localEndpoint(int socket);
std::optional<Endpoint> remoteEndpoint(int socket);
/// Binds or connects: 0 or an errno.
int bindTo(int socket, Endpoint endpoint);
/// Without a port yet.
int bindToAddress(int socket, std::uint32_t ip);
int connectTo(int socket, Endpoint endpoint);

/// An option that is a number; `otherwise` if the socket has none of that name.
int option(int socket, int level, int name, int otherwise = 0);
void setOption(int socket, int level, int name, int value);

} // namespace downbeat
