// SPDX-License-Identifier: BSD-2-Clause-Patent
// The transmitter of the 64-bit tap as a matter of time: when a segment that has left the core is a frame in the launch
// gate.
#pragma once

#include <deque>
#include <optional>
#include <utility>

#include "beat_stream.h"
#include "device/core/launch_gate.h"

namespace downbeat {

/// From a segment that has left the core to its frame in the launch gate: the payload is fetched and summed while other
/// frames go out, then the frame itself passes; pure ACKs and RSTs go before the data of other flows, and all else
/// keeps its order.
class TransmitLine {
public:
  TransmitLine(LaunchGate &gate, std::uint64_t linkRate) : gate_(gate), fetch_(linkRate), out_(linkRate) {}

  bool ready() const {
    return immediate_.size() + (inSerialiser_ && !dataOwns_) < immediateDepth &&
           data_.size() + (inSerialiser_ && dataOwns_) < dataDepth;
  }
  /// The payload's `length` bytes begin at a sequence number. `mayOvertake`: a pure ACK or RST.
  void put(const Frame &frame, LaunchMode mode, Stamp launch, std::uint32_t sequence, std::size_t length,
           bool mayOvertake, Stamp now);
  /// Moves frames to the gate, up to `now`.
  void run(Stamp now);
  /// The next time at which `run` moves one; a full gate's departure may bring it forward.
  Stamp nextInstant() const;
  void reset();

private:
  /// Frames of each kind between the builder and the serialiser's end: the Transmitter's lines of 16, for data two
  /// registers at the checksum, for immediate ones one before the serialiser; less the register that HeaderTap has
  /// before `outgoing`.
  static constexpr std::size_t dataDepth = 17, immediateDepth = 16;
  /// Beside beats, until the merge takes the frame's first one. From a segment: through the serialiser, and for data
  /// the checksum.
  static constexpr Stamp immediateLatency = 3 * clockPeriod, dataLatency = 7 * clockPeriod;
  /// From a segment to its payload's first word, but for the clocks that the builder needs for each word of headers
  /// after it has asked; and from the last one: through the sum as well.
  static constexpr Stamp fetchLatency = 18 * clockPeriod, sumLatency = 11 * clockPeriod;

  /// From a frame's end in the serialiser to its end in the merge.
  static constexpr Stamp serialiserLead = 2 * clockPeriod;

  struct Waiting {
    Frame frame;
    LaunchMode mode;
    Stamp launch, ready;
  };
  struct Turn {
    bool immediate;
    Stamp start; // `never`: nothing waits
  };

  /// Data of the frame's flow is not with the merge yet.
  bool dataWaits(const Frame &frame) const;
  /// Which frame passes next, and when, as TransmitMerge chooses.
  Turn turn() const;
  std::deque<Waiting> &line(const Turn &turn) { return turn.immediate ? immediate_ : data_; }
  const std::deque<Waiting> &line(const Turn &turn) const { return turn.immediate ? immediate_ : data_; }
  bool hasSpace(const Turn &turn) const { return gate_.ready(line(turn).front().mode); }
  static Stamp readyOf(const std::deque<Waiting> &line) { return line.empty() ? never : line.front().ready; }

  LaunchGate &gate_;
  BeatStream fetch_, out_;
  std::deque<Waiting> immediate_, data_;
  std::optional<Waiting> passing_; // on the stream until out_.free()
  bool inSerialiser_ = false; // that one, all but its last beats
  bool dataOwns_ = false; // the stream; it stays with its owner while nobody else waits
  bool blocked_ = false; // by a full gate when `run` last looked
};

} // namespace downbeat
