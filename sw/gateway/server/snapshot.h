// SPDX-License-Identifier: BSD-2-Clause-Patent
// The store on disk: written whole every few seconds, read at a start. Ages outlive a restart and a reboot; an age that
// cannot be known (the machine's date went back) makes the file void.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "server/store/store.h"
#include "wire/clock.h"
#include "wire/socket.h"

namespace downbeat::gateway {

/// When something was saved, in both clocks: the first counts while the machine has not rebooted, the second after
/// that.
struct Moment {
  std::string boot; // the kernel's name of this boot
  Nanoseconds now = 0; // CLOCK_BOOTTIME
  Nanoseconds date = 0; // CLOCK_REALTIME

  static Moment read();
};

/// Saves in steps, so that no datagram waits for more than one of them, and in pieces, so that memory holds the store
/// once.
class Snapshot {
public:
  Snapshot();
  ~Snapshot();

  void begin(const Moment &moment);
  /// Takes up to `most` entries; true when all are in, and then which messages they have in them.
  bool step(Store &store, std::size_t max, Nanoseconds now);
  bool underWay() const { return underWay_; }
  /// The file's bytes since the last piece. The one after the last step ends with the hash of all.
  std::vector<std::uint8_t> piece();
  std::size_t pending() const { return bytes_.size(); }

private:
  struct Hash;

  bool underWay_ = false;
  std::size_t slot_ = 0;
  std::vector<std::uint8_t> bytes_;
  std::unique_ptr<Hash> hash_;
};

struct Restored {
  std::size_t prefixes = 0;
  Nanoseconds age = 0; // of the snapshot: what was reported in this time before the stop is lost at most
};

/// Puts the entries into the store, without what is older than it may be. An error says why nothing was.
std::variant<Restored, std::string> restore(std::span<const std::uint8_t> bytes, const Moment &moment, Store &store);

/// A file that is replaced at once or not at all. Each call is empty where it is done, otherwise the reason.
class FreshFile {
public:
  explicit FreshFile(std::string file) : file_(std::move(file)) {}
  std::string write(std::span<const std::uint8_t> bytes);
  std::string finish();

private:
  std::string failed(const char *what) const;

  std::string file_;
  Descriptor descriptor_;
};

std::variant<std::vector<std::uint8_t>, std::string> readFile(const std::string &file);

} // namespace downbeat::gateway
