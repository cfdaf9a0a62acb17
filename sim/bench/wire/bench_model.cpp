// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "bench_model.h"

#include <algorithm>
#include <cstring>

namespace wire {

Bench::Bench(std::uint64_t corePeriod) : top_(std::make_unique<Vwire>(&context_)), corePeriod_(corePeriod) {
  auto &pins = *top_;
  pins.local_mac = ownMac;
  pins.local_ip = ownIp;
  pins.increment = Phy<Pins>::increment;
  pins.bypass_ready = 1;
  pins.reset = 1;
  constexpr int resetClocks = 16;
  for (int i = 0; i < resetClocks; ++i) step();
  pins.reset = 0;
  for (int i = 0; i < resetClocks; ++i) step();
  clocks_ = 0;
}

void Bench::step() {
  for (;;) {
    const std::uint64_t now = std::min(nextCore_, nextWire_);
    const bool core = nextCore_ == now, wire = nextWire_ == now;
    // The edge takes the values at the pins before it; the values that it drives go out behind it.
    if (core) top_->clk = 0;
    if (wire) wireClocks(false);
    eval();
    if (core) top_->clk = 1;
    if (wire) wireClocks(true);
    const bool taken = core && top_->transmit_valid && top_->transmit_ready;
    if (core) coreEdge();
    if (wire) wireEdge();
    eval();
    if (taken) {
      position_ += downbeat::beatBytes;
      if (position_ >= queue_.front().bytes.size()) {
        accepted.push_back({std::move(queue_.front()), clocks_ - 1});
        queue_.pop_front();
        position_ = 0;
      }
    }
    if (core) {
      driveTransmit();
      nextCore_ += corePeriod_;
    }
    if (wire) {
      phy_.drive(wireIn);
      nextWire_ += wirePeriod;
      return;
    }
  }
}

void Bench::wireClocks(bool level) {
  phy_.receiveClock(level);
  phy_.transmitClock(level);
}

void Bench::coreEdge() {
  const auto &pins = *top_;
  if (pins.reset) return;
  if (pins.sequence_valid) sequences.push_back(pins.sequence_payload);
  if (pins.departures_valid)
    departures.push_back(
        {pins.departures_payload_tag, pins.departures_payload_stamp_ns << 16 | pins.departures_payload_stamp_fraction});
}

void Bench::wireEdge() {
  // The bytes came to the pins at the edge before.
  phy_.take(deserialiser_, clocks_ - 1, [this] { wireOut.push_back(deserialiser_.seen); });
  ++clocks_;
}

void Bench::driveTransmit() {
  auto &pins = *top_;
  pins.transmit_valid = !queue_.empty();
  if (queue_.empty()) return;
  const TransmitFrame &frame = queue_.front();
  const std::size_t rest = frame.bytes.size() - position_;
  std::uint64_t data = 0;
  std::memcpy(&data, frame.bytes.data() + position_, std::min(rest, downbeat::beatBytes));
  pins.transmit_payload_frame_data = data;
  pins.transmit_payload_frame_keep = downbeat::keepOf(std::min(rest, downbeat::beatBytes));
  pins.transmit_payload_frame_last = rest <= downbeat::beatBytes;
  pins.transmit_payload_mode = static_cast<std::uint8_t>(frame.mode);
  pins.transmit_payload_launch_ns = frame.launch >> 16;
  pins.transmit_payload_launch_fraction = frame.launch & 0xffff;
  pins.transmit_payload_tag = frame.tag;
}

} // namespace wire
