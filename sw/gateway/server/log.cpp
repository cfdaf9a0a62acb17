// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "log.h"

namespace downbeat::gateway {

std::string quoted(const std::string &text) {
  std::string out = "\"";
  for (const char each : text) {
    if (each == '"' || each == '\\') out += '\\';
    if (static_cast<unsigned char>(each) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(each));
      out += code;
    } else {
      out += each;
    }
  }
  return out + '"';
}

} // namespace downbeat::gateway
