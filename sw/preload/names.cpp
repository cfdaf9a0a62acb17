// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "names.h"

#include <cstddef>
#include <cstdio>
#include <cstring>

#include <arpa/inet.h>

namespace downbeat {

namespace {

constexpr std::size_t largest = 80;

template <typename... Values> std::string formatted(const char *format, Values... values) {
  char text[largest];
  const int length = std::snprintf(text + 1, sizeof text - 1, format, values...);
  text[0] = 0;
  return {text, static_cast<std::size_t>(length) + 1};
}

/// The text behind the zero byte; empty: no abstract name.
std::string textOf(const sockaddr_un &address, socklen_t length) {
  constexpr socklen_t head = offsetof(sockaddr_un, sun_path);
  if (address.sun_family != AF_UNIX || length <= head + 1 || address.sun_path[0] != 0) return {};
  return {address.sun_path + 1, std::min<std::size_t>(length, sizeof address) - head - 1};
}

} // namespace

std::string nameOfConnection(const ConnectionName &name) {
  return formatted("downbeat/c/%08x/%04x/%08x/%04x/%x", name.remote.ip, unsigned{name.remote.port}, name.local.ip,
                   unsigned{name.local.port}, name.serial);
}

std::string nameOfListener(Endpoint local, std::uint32_t serial) {
  return formatted("downbeat/l/%08x/%04x/%x", local.ip, unsigned{local.port}, serial);
}

std::string nameOfOwnEnd(std::uint32_t serial) { return formatted("downbeat/q/%x", serial); }

bool isOurs(const sockaddr_un &address, socklen_t length) { return textOf(address, length).starts_with("downbeat/"); }

std::optional<ConnectionName> connectionOf(const sockaddr_un &address, socklen_t length) {
  ConnectionName name;
  unsigned remotePort = 0, localPort = 0;
  if (std::sscanf(textOf(address, length).c_str(), "downbeat/c/%8x/%4x/%8x/%4x/%x", &name.remote.ip, &remotePort,
                  &name.local.ip, &localPort, &name.serial) != 5)
    return std::nullopt;
  name.remote.port = static_cast<std::uint16_t>(remotePort);
  name.local.port = static_cast<std::uint16_t>(localPort);
  return name;
}

std::optional<Endpoint> listenerOf(const sockaddr_un &address, socklen_t length) {
  Endpoint local;
  unsigned port = 0, serial = 0;
  if (std::sscanf(textOf(address, length).c_str(), "downbeat/l/%8x/%4x/%x", &local.ip, &port, &serial) != 3)
    return std::nullopt;
  local.port = static_cast<std::uint16_t>(port);
  return local;
}

socklen_t fill(sockaddr_un &address, const std::string &name) {
  address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, name.data(), std::min(name.size(), sizeof address.sun_path));
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
}

sockaddr_in internet(Endpoint endpoint) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(endpoint.ip);
  address.sin_port = htons(endpoint.port);
  return address;
}

} // namespace downbeat
