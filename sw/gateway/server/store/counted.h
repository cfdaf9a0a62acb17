// SPDX-License-Identifier: BSD-2-Clause-Patent
// Which sealed messages of the site's gateways the store has: each counts once. It is saved with the store, so that a
// restart that finds both its snapshot and the entries of Redis counts none of them again.
#pragma once

#include <unordered_map>

#include "replay_window.h"
#include "wire/bytes.h"

namespace downbeat::gateway {

class Counted {
public:
  /// False: it is there already, or so old that it must be taken for that. `session`: of the gateway that sealed it.
  bool take(std::uint64_t session, std::uint64_t sequence) { return !windows_[session].take(sequence); }

  void write(Writer &writer) const {
    writer.number(windows_.size(), 4);
    for (const auto &[session, window] : windows_) {
      writer.number(session, 8);
      window.write(writer);
    }
  }
  void read(Reader &reader) {
    for (auto left = reader.number<std::uint32_t>(); left && !reader.failed(); --left) {
      const auto session = reader.number<std::uint64_t>();
      windows_[session].read(reader);
    }
  }

private:
  std::unordered_map<std::uint64_t, ReplayWindow> windows_;
};

} // namespace downbeat::gateway
