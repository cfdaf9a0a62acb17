// SPDX-License-Identifier: BSD-2-Clause-Patent
// The simplest honest TCP at the other end of a connection: goes back to the first unacknowledged byte after a timeout,
// takes data in order only, acknowledges everything.
#pragma once

#include <optional>
#include <string>

#include "draw.h"
#include "packet.h"

namespace fuzz {

/// A stream whose bytes are known by their position.
class Pattern {
public:
  explicit Pattern(std::uint64_t seed);
  /// `length` bytes from `position` on.
  View from(std::uint64_t position, std::size_t length) const {
    return View(bytes_).subspan(position % period, length);
  }
  static constexpr std::size_t longest = 65536;

private:
  static constexpr std::size_t period = 65521; // no power of two: a byte in the wrong buffer place shows
  Bytes bytes_;
};

class Endpoint {
public:
  using Time = std::uint64_t; // 2^-16 ns

  /// `tuple.localPort` 0: the core's port is learned from its SYN.
  Endpoint(const Station &own, const Station &core, const Tuple &tuple, std::uint32_t initialSequence,
           const Pattern &toCore, const Pattern &toPeer)
      : own_(own), core_(core), tuple_(tuple), initial_(initialSequence), toCore_(toCore), toPeer_(toPeer) {}

  const Tuple &tuple() const { return tuple_; }
  const Station &station() const { return own_; }
  bool established() const { return established_; }
  bool dead() const { return dead_; }
  /// Errors that it found in the core's bytes.
  const std::string &failure() const { return failure_; }

  void connect() { opens_ = true; }
  /// It may send so many more bytes.
  void offer(std::size_t bytes) { given_ += bytes; }
  /// FIN behind all that was offered.
  void finish() { finishing_ = true; }

  void receive(View frame, Time now);
  /// Appends what it sends now; segments of at most `segment` bytes.
  void send(std::vector<Bytes> &frames, Time now, std::size_t segment, unsigned maxSegments);

  std::uint64_t acknowledged() const { return acknowledged_; } // bytes of ours that the core has
  std::uint64_t received() const { return received_; }
  bool settled() const { return acknowledged_ == given_ && !ackDue_ && (!finishing_ || finAcknowledged_); }
  bool peerFinished() const { return peerFinished_; }

  /// For forged segments: SND.UNA, SND.NXT, RCV.NXT.
  std::uint32_t unacknowledged() const { return sequenceAt(acknowledged_); }
  std::uint32_t highest() const { return sequenceAt(highest_) + 1; } // beyond a FIN
  std::uint32_t expected() const { return peerInitial_ + 1 + static_cast<std::uint32_t>(received_) + peerFinished_; }

  static constexpr Time timeout = Time{200'000} << 16; // its retransmission timeout: 200 us

private:
  std::uint32_t sequenceAt(std::uint64_t position) const { return initial_ + 1 + static_cast<std::uint32_t>(position); }
  Bytes segment(std::uint8_t flags, std::uint32_t sequence, View payload = {}) const;
  void handshake(const Segment &segment);
  void takeAcknowledgment(const Segment &segment, Time now);
  void takeData(const Segment &segment);

  static constexpr std::uint64_t inFlight = 32768; // bytes
  static constexpr std::uint16_t window = 65535;

  Station own_, core_;
  Tuple tuple_;
  std::uint32_t initial_, peerInitial_ = 0;
  const Pattern &toCore_, &toPeer_;
  bool opens_ = false, synSent_ = false, synReceived_ = false, established_ = false, dead_ = false, ackDue_ = false;
  bool finishing_ = false, finAcknowledged_ = false, peerFinished_ = false;
  unsigned scale_ = 0;
  std::uint64_t given_ = 0, next_ = 0, highest_ = 0, acknowledged_ = 0, received_ = 0, peerWindow_ = 0;
  bool finSent_ = false;
  Time progress_ = 0; // when something was last acknowledged or first sent
  std::string failure_;
};

} // namespace fuzz
