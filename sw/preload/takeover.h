// SPDX-License-Identifier: BSD-2-Clause-Patent
// Decisions of the interposed calls: whether a TCP socket's connection belongs to the core, and then to replace the
// descriptor by a local socket whose other end the pump has.
#pragma once

#include <cstdint>
#include <optional>

#include "names.h"

namespace downbeat {

/// Where the pump is and which addresses are its own, from the environment; nothing without a pump.
struct Pump {
  std::string socket; // abstract name
  std::uint32_t ip = 0, netmask = 0;
  int segment = 0; // bytes of a full segment's payload

  static const Pump *get();
  /// Whether connections there go over the core: the device's network.
  bool reaches(std::uint32_t address) const { return ((address ^ ip) & netmask) == 0; }
};

/// An IPv4 TCP socket of the kernel.
bool isKernelTcp(int descriptor);
/// The names of a descriptor that has been taken over.
struct Own {
  std::optional<ConnectionName> connection;
  std::optional<Endpoint> listener;
};
std::optional<Own> ownOf(int descriptor);

/// Remembers an address that a socket is bound to until it connects or listens.
void rememberBound(int descriptor, Endpoint endpoint);
void forgetBound(int descriptor);
std::optional<Endpoint> boundOf(int descriptor);

/// As connect and listen: 0, or -1 with errno.
int connectOverCore(int descriptor, Endpoint remote);
int listenOverCore(int descriptor, Endpoint local, int backlog);
/// Why a connection ended or did not come; 0: it lives, EINPROGRESS: that is not known.
int errorOf(const ConnectionName &name);
/// An errno, where the local socket's ECONNRESET stands for whatever ended the connection.
int reasonOf(int descriptor, int error);
void setOptions(const ConnectionName &name, bool noDelay);

} // namespace downbeat
