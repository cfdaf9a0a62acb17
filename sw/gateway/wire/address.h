// SPDX-License-Identifier: BSD-2-Clause-Patent
// Addresses of sockets as text.
#pragma once

#include <cstdint>
#include <string>

namespace downbeat::gateway {

/// "192.0.2.1:80" or "[2001:db8::1]:80"; false: it is neither.
bool splitAddress(const std::string &text, std::string &host, std::uint16_t &port);

} // namespace downbeat::gateway
