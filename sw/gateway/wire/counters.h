// SPDX-License-Identifier: BSD-2-Clause-Patent
// Counters of the gateway, and the causes for which a message changes nothing. Any thread may count and read.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace downbeat::gateway {

/// Why a message was refused. Each datagram that arrives is accepted or counted under exactly one of these.
enum class Refusal : std::uint8_t {
  tooShort,       // fewer bytes than header and tag
  tooLong,        // more bytes than a message may have
  wrongMagic,     // not this protocol
  wrongVersion,   // another version of it
  wrongType,      // no type that a host sends
  wrongLength,    // the header's length is not the datagram's, or not a whole number of items
  reservedBits,   // a bit that must be zero is not
  unknownKey,     // no such key, or it is not valid any more
  deniedReporter, // the key file denies this reporter
  forged,         // the keyed hash does not fit
  wrongPrefix,    // family, length or bits behind the length
  wrongKind,      // no such kind of report
  notFinite,      // NaN or infinite
  negative,       // below zero
  outOfRange,     // more or less than a connection can have
  unknownSession, // no such session: it is from before a restart, has expired or was evicted
  replayed,       // this sequence number was there
  stale,          // behind the replay window, or on its way for too long
  rateLimited,    // more than the reporter may send
  count
};

inline constexpr std::array<const char *, static_cast<std::size_t>(Refusal::count)> refusalNames = {
    "too_short",    "too_long",        "wrong_magic", "wrong_version", "wrong_type",   "wrong_length", "reserved_bits",
    "unknown_key",  "denied_reporter", "forged",      "wrong_prefix",  "wrong_kind",   "not_finite",   "negative",
    "out_of_range", "unknown_session", "replayed",    "stale",         "rate_limited",
};

inline const char *name(Refusal cause) { return refusalNames[static_cast<std::size_t>(cause)]; }

class Counter {
public:
  void add(std::uint64_t more = 1) { value_.fetch_add(more, std::memory_order_relaxed); }
  void set(std::uint64_t value) { value_.store(value, std::memory_order_relaxed); }
  std::uint64_t get() const { return value_.load(std::memory_order_relaxed); }

private:
  std::atomic<std::uint64_t> value_ = 0;
};

struct Counters {
  Counter received;  // datagrams
  Counter hellos, reports, queries; // accepted messages
  Counter challenges;               // hellos without the gateway's cookie
  Counter reportItems, queryItems;  // in them
  Counter responsesKnown, responsesUnknown; // items with and without an estimate
  Counter prefixes, reporters, sessions; // now
  Counter evictedPrefixes, evictedSessions;
  Counter unsent; // responses that the kernel did not take
  Counter snapshots, snapshotFailures, restoredPrefixes;
  Counter relayConnected; // 0 or 1
  Counter relaySent, relayTaken, relayRefused, relayLost, relayDisconnects;
  std::array<Counter, static_cast<std::size_t>(Refusal::count)> refused;

  void refuse(Refusal cause) { refused[static_cast<std::size_t>(cause)].add(); }
};

} // namespace downbeat::gateway
