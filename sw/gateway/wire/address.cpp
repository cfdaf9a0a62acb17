// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "address.h"

#include <charconv>

namespace downbeat::gateway {

bool splitAddress(const std::string &text, std::string &host, std::uint16_t &port) {
  const auto colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) return false;
  host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']'))
    host = host.substr(1, host.size() - 2);
  else if (host.find(':') != std::string::npos)
    return false;
  const char *end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, port);
  return error == std::errc() && stop == end && !host.empty();
}

} // namespace downbeat::gateway
