// SPDX-License-Identifier: BSD-2-Clause-Patent
// printf into a string, whatever its length.
#pragma once

#include <cstdio>
#include <string>

namespace downbeat {

template <typename... Values> std::string formatted(const char *format, Values... values) {
  std::string text(static_cast<std::size_t>(std::snprintf(nullptr, 0, format, values...)), '\0');
  std::snprintf(text.data(), text.size() + 1, format, values...);
  return text;
}

} // namespace downbeat
