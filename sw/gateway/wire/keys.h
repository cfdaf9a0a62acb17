// SPDX-License-Identifier: BSD-2-Clause-Patent
// The site's keys. A host has a key of its own, derived from the site's, so that it can speak for itself alone.
//
//   host key = BLAKE2b-256(key: site key, message: "downbeat-gateway" and the reporter's number, big endian)
//   tag      = BLAKE2b-128(key: host key, message: all bytes of the message before the tag)      [RFC 7693]
#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "message.h"

namespace downbeat::gateway {

using Key = std::array<std::uint8_t, 32>;

/// A host's key and what it is called; what `downbeat gateway keys issue` prints.
struct HostKey {
  std::uint8_t id = 0;
  std::uint32_t reporter = 0;
  Key key{};

  /// "host KEY-ID REPORTER 64-HEX-DIGITS"; an error says what is wrong.
  static std::variant<HostKey, std::string> parse(const std::string &line);
};

bool startCrypto(); // once for each process, before all else; false: libsodium cannot start

Key derive(const Key &site, std::uint32_t reporter);
void appendTag(const Key &key, std::vector<std::uint8_t> &message, std::size_t begin = 0);
bool tagFits(const Key &key, Bytes message);

/// A file that others may not read, into `text`; empty: done, otherwise the reason.
std::string readSecret(const std::string &file, std::string &text);

/// The key file: "key ID 64-HEX-DIGITS" at most twice, so that hosts may change over, and "deny REPORTER".
class Keys {
public:
  static constexpr std::uint32_t gateways = 0; // a number that no host may have
  static constexpr std::size_t max = 2;          // valid at once
  static constexpr std::size_t maxDerived = 65536; // host keys kept; behind them they are derived each time

  static std::variant<Keys, std::string> parse(const std::string &text, const std::string &file);
  static std::variant<Keys, std::string> read(const std::string &file);

  /// The host's key, or why there is none.
  std::variant<Key, Refusal> of(std::uint8_t id, std::uint32_t reporter) const;
  /// Keeps a key whose holder has proved that it has it.
  void keep(std::uint8_t id, std::uint32_t reporter, const Key &key);

  /// No host may speak as this reporter.
  bool denies(std::uint32_t reporter) const { return reporter == gateways || denied_.contains(reporter); }

  const std::set<std::uint32_t> &denied() const { return denied_; }

  /// Key of messages between the site's gateways; no host has it.
  std::optional<Key> ofGateways(std::uint8_t id) const;

  std::uint8_t newest() const { return newest_; } // the key that is last in the file
  std::size_t size() const { return site_.size(); }

private:
  std::map<std::uint8_t, Key> site_;
  std::set<std::uint32_t> denied_;
  std::unordered_map<std::uint64_t, Key> derived_;
  std::uint8_t newest_ = 0;
};

} // namespace downbeat::gateway
