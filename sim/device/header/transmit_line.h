// SPDX-License-Identifier: BSD-2-Clause-Patent
// The transmitter of the 64-bit tap as a matter of time: when a segment that has left the core is a frame in the launch gate.
#pragma once

#include <deque>
#include <optional>
#include <utility>

#include "beat_stream.h"
#include "launch_gate.h"

namespace downbeat {

/// From a segment that has left the core to its frame in the launch gate: the payload is fetched while other frames go out, then the
/// frame itself passes; pure ACKs and RSTs go before the rest, which keeps its order.
class TransmitLine {
public:
  TransmitLine(LaunchGate &gate, std::uint64_t linkRate) : gate_(gate), fetch_(linkRate), out_(linkRate) {}

  bool ready() const { return immediate_.size() < depth && data_.size() < depth; }
  void put(const Frame &frame, LaunchMode mode, Stamp launch, std::size_t payload, bool immediate, Stamp now);
  /// Moves frames to the gate, up to `now`.
  void run(Stamp now);
  /// The next time at which `run` moves one; a full gate's departure may bring it forward.
  Stamp nextInstant() const;
  void reset();

private:
  /// Frames of each kind that are between the core and the gate.
  static constexpr std::size_t depth = 17;
  /// Beside beats: from a segment, or from its payload's last beat, to the frame's first one; and from a segment to its payload's first.
  static constexpr Stamp headerLatency = 7 * clockPeriod, fetchLatency = 16 * clockPeriod;

  struct Waiting {
    Frame frame;
    LaunchMode mode;
    Stamp launch, ready;
  };

  /// When the next frame may begin to pass.
  Stamp turn() const { return std::max(out_.free(), std::min(readyOf(immediate_), readyOf(data_))); }
  std::deque<Waiting> &next() { return readyOf(immediate_) <= turn() ? immediate_ : data_; }
  const std::deque<Waiting> &next() const { return readyOf(immediate_) <= turn() ? immediate_ : data_; }
  bool hasRoom() const { return gate_.ready(next().front().mode); }
  static Stamp readyOf(const std::deque<Waiting> &line) { return line.empty() ? never : line.front().ready; }

  LaunchGate &gate_;
  BeatStream fetch_, out_;
  std::deque<Waiting> immediate_, data_;
  std::optional<Waiting> passing_; // on the stream until out_.free()
  bool blocked_ = false;           // by a full gate when `run` last looked
};

} // namespace downbeat
