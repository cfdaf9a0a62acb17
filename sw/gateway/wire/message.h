// SPDX-License-Identifier: BSD-2-Clause-Patent
// The messages between hosts and gateway, version 1 (docs/reference/gateway-protocol.md). Big endian; numbers are
// binary64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "counters.h"
#include "prefix.h"

namespace downbeat::gateway {

using Bytes = std::span<const std::uint8_t>;

inline constexpr std::uint16_t magic = 0x4442; // "DB"
inline constexpr std::uint8_t version = 1;
inline constexpr std::size_t headerBytes = 32;
inline constexpr std::size_t tagBytes = 16;
inline constexpr std::size_t maxBytes = 1200; // of a message: fits the smallest MTU of IPv6 (RFC 8200, section 5)
inline constexpr std::size_t prefixBytes = 20, reportBytes = 52, responseBytes = 92;
inline constexpr std::size_t maxReports = (maxBytes - headerBytes - tagBytes) / reportBytes;
inline constexpr std::size_t maxQueries =
    (maxBytes - headerBytes - tagBytes) / responseBytes; // the response must fit too

/// Ranges of numbers. A window is at most what TCP can announce (RFC 7323, section 2.3).
inline constexpr double maxWindow = 1073725440; // bytes, 65,535 * 2^14
inline constexpr double minRtt = 1e-6, maxRtt = 60; // seconds
inline constexpr double maxAcked = 256;               // segments per ACK, at least 1
inline constexpr double maxSteady = 1 << 20;          // connections

enum class Type : std::uint8_t {
  hello = 1,
  welcome = 2,
  report = 3,
  query = 4,
  response = 5,
  refusal = 6,
  relay = 7,
  challenge = 8
};

struct Header {
  Type type = Type::hello;
  std::uint8_t key = 0; // which of the site's keys the tag is made with
  std::uint16_t length = 0; // bytes of the whole message
  std::uint32_t reporter = 0;
  std::uint32_t stamp = 0; // ms of the sender's clock, modulo 2^32; only differences count
  std::uint64_t session = 0;
  std::uint64_t sequence = 0;
};

enum class Kind : std::uint8_t {
  transfer = 1, // SPAND: window, smoothed round trip, segments per ACK
  state = 2,    // LISS: connections in congestion avoidance, sum of windows in slow start, oldest window
  saved = 3,    // Careful Resume (RFC 9959): saved window, its round trip
};

struct Report {
  Prefix prefix;
  Kind kind = Kind::transfer;
  double window = 0; // bytes: reported (transfer), of the oldest steady connection (state), saved (saved)
  double rtt = 0;    // seconds (transfer, saved)
  double acked = 0;  // segments per ACK, b of SPAND (transfer)
  double steady = 0; // connections, L of LISS (state)
  double slow = 0;   // bytes, S of LISS (state)
};

/// State of a prefix at the gateway. A part without reporters is not known, and all its numbers are zero.
struct Response {
  Prefix prefix;
  std::uint32_t lifetime = 0; // ms for which the response holds
  std::uint16_t transferReporters = 0, stateReporters = 0, savedReporters = 0;
  std::uint32_t transfers = 0; // reports behind the means
  double window = 0, rtt = 0, acked = 0;   // SPAND: bytes, seconds, segments per ACK
  double oldest = 0, connections = 0;      // LISS: w_o in bytes, n = L + S / w_o
  double savedWindow = 0, savedRtt = 0;    // Careful Resume: bytes, seconds

  bool known() const { return transferReporters || stateReporters || savedReporters; }
  bool operator==(const Response &) const = default;
};

struct Message {
  Header header{};
  std::vector<Report> reports{};  // report, relay
  std::vector<Prefix> queries{};  // query
  std::vector<Response> responses{};  // response
  std::uint64_t value = 0;      // hello, challenge, welcome: the host's nonce; refusal: the cause
  std::uint64_t token = 0; // challenge, hello: the cookie; welcome: the session that the host may use from now on
  std::uint32_t age = 0; // relay: ms since the gateway took the reports
};

/// The header, if the datagram can be a message at all. Costs no hash.
std::variant<Header, Refusal> decodeHeader(Bytes datagram);

/// The body of a message whose header is right, without header and tag. Never reads outside `body`.
std::variant<Message, Refusal> decodeBody(const Header &header, Bytes body);

/// Appends the message without its tag, which `Keys::seal` appends. The header's length is set to the whole message's.
void encode(const Message &message, std::vector<std::uint8_t> &out);

} // namespace downbeat::gateway
