// SPDX-License-Identifier: BSD-2-Clause-Patent
// Names of the local sockets that stand for TCP sockets. The kernel keeps them, so that every process that has the
// descriptor, after fork, exec or a pass by SCM_RIGHTS, can ask it for the TCP addresses.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <netinet/in.h>
#include <sys/un.h>

namespace downbeat {

struct Endpoint {
  std::uint32_t ip = 0; // host order
  std::uint16_t port = 0;
};

/// The pump's end of a connection carries both its TCP addresses.
struct ConnectionName {
  Endpoint remote, local;
  std::uint32_t serial = 0; // makes it unique
};

/// In the abstract name space: it begins with a zero byte.
std::string nameOfConnection(const ConnectionName &name);
std::string nameOfListener(Endpoint local, std::uint32_t serial);
/// The program's end of a connection that it opened.
std::string nameOfOwnEnd(std::uint32_t serial);
/// Any of these three.
bool isOurs(const sockaddr_un &address, socklen_t length);
std::optional<ConnectionName> connectionOf(const sockaddr_un &address, socklen_t length);
std::optional<Endpoint> listenerOf(const sockaddr_un &address, socklen_t length);

/// A socket address of a name; the length that bind and connect take.
socklen_t fill(sockaddr_un &address, const std::string &name);
sockaddr_in internet(Endpoint endpoint);

} // namespace downbeat
