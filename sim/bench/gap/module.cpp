// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "module.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "Vgap___024root.h"

// The register of rtl/downbeat/mac/TimeBase.scala, made visible by module.vlt.
#define GAP_TIME_BASE(top) (top)->rootp->GapBench__DOT__mac__DOT__wireTime_1__DOT__timeBase_1__DOT__time_2

namespace gap {

namespace {

constexpr std::uint64_t transmitPeriod = 8'000'000; // fs
constexpr std::uint16_t anyTag = 1;                 // departures come in order: no tag need tell them apart
constexpr unsigned timeWords = 3, wordBits = 32;

/// Eight bytes of a frame: its number, then noise, with an EtherType for local experiments (IEEE 802).
std::uint64_t wordAt(std::uint64_t id, std::size_t position) {
  constexpr std::uint64_t etherType = 0xb588, shift = 32, mask = std::uint64_t{0xffff} << shift;
  if (position == 0) return id;
  const std::uint64_t noise = (id + position) * 0x9e3779b97f4a7c15;
  return position == downbeat::beatBytes ? (noise & ~mask) | etherType << shift : noise;
}

} // namespace

Module::Module(const Clocks &clocks, Listener &listener)
    : top_(std::make_unique<Vgap>(&context_)),
      listener_(listener),
      byteTime_(clocks.increment),
      receivePeriod_(static_cast<std::uint64_t>(transmitPeriod / (1 + clocks.receivePpm * 1e-6) + 0.5)) {
  auto &pins = *top_;
  pins.increment = clocks.increment;
  pins.grants_ready = 1;
  pins.receive_ready = 1;
  pins.reset = 1;
  constexpr int resetClocks = 16, settled = 2048; // the pacer disarms its flows, one a clock
  for (int i = 0; i < resetClocks; ++i) step();
  pins.reset = 0;
  for (int i = 0; i < settled; ++i) step();
  now_ = timeBase();
  simulated_ = 0;
}

Time Module::timeBase() const {
  Time time = 0;
  for (unsigned word = timeWords; word-- > 0;) time = time << wordBits | GAP_TIME_BASE(top_)[word];
  return time;
}

void Module::skip(std::uint64_t clocks) {
  // The receive clock comes out where it would have run to, between this transmit clock and the next.
  const auto gone = static_cast<std::uint64_t>(Time{transmitPeriod} * clocks % receivePeriod_);
  nextReceive_ -= gone;
  if (nextReceive_ + transmitPeriod <= nextTransmit_) nextReceive_ += receivePeriod_;
  now_ += byteTime_ * clocks;
  constexpr unsigned nanosecondBits = 48;
  if (now_ >> (nanosecondBits + 32) != 0)
    throw std::range_error("time would wrap after 78 virtual hours: ask for less");
  Time time = timeBase() + byteTime_ * clocks;
  for (unsigned word = 0; word < timeWords; ++word, time >>= wordBits)
    GAP_TIME_BASE(top_)[word] = static_cast<std::uint32_t>(time);
}

void Module::step() {
  auto &pins = *top_;
  for (;;) {
    const std::uint64_t now = std::min(nextTransmit_, nextReceive_);
    const bool transmits = nextTransmit_ == now, receives = nextReceive_ == now;
    // The edge takes the values at the pins before it; the values that it drives go out behind it.
    if (transmits) pins.clk = pins.gmii_gtx_clk = 0;
    if (receives) pins.gmii_rx_clk = 0;
    eval();
    const bool taken = transmits && pins.transmit_valid && pins.transmit_ready;
    if (transmits && !pins.reset) sampleCore();
    if (transmits) pins.clk = pins.gmii_gtx_clk = 1;
    if (receives) pins.gmii_rx_clk = 1;
    eval();
    if (taken) {
      position_ += downbeat::beatBytes;
      if (position_ >= launches_.front().length) {
        launches_.pop_front();
        position_ = 0;
      }
    }
    if (receives) {
      nextReceive_ += receivePeriod_;
      receiveEdge();
    }
    if (transmits) {
      nextTransmit_ += transmitPeriod;
      transmitEdge();
      driveCore();
      return;
    }
  }
}

void Module::transmitEdge() {
  now_ += byteTime_;
  ++simulated_;
  const wire::Symbol symbol{top_->gmii_txd, top_->gmii_tx_en != 0};
  beginArrival();
  loop_.put(arriving_.empty() ? symbol : arriving_.next());
  if (!outgoing_.take(symbol, simulated_)) return;
  const wire::Seen &seen = outgoing_.seen;
  damaged_ += !seen.right;
  ++left_;
  listener_.left(seen.head, seen.length, now_ - byteTime_ * (simulated_ - seen.sfd));
}

void Module::beginArrival() {
  constexpr unsigned preamble = 7;
  if (arrivals_.empty() || now_ + preamble * byteTime_ < arrivals_.front().sfd) return;
  const Arrival arrival = arrivals_.front();
  arrivals_.pop_front();
  wire::Bytes bytes((arrival.length + downbeat::beatBytes - 1) / downbeat::beatBytes * downbeat::beatBytes);
  for (std::size_t at = 0; at < bytes.size(); at += downbeat::beatBytes) {
    const std::uint64_t word = wordAt(arrival.id, at);
    std::memcpy(bytes.data() + at, &word, sizeof word);
  }
  bytes.resize(arrival.length);
  arriving_.put(bytes);
  ++left_;
  ++departed_;
}

void Module::receiveEdge() {
  ++receiveEdges_;
  const wire::Symbol symbol = loop_.next();
  top_->gmii_rxd = symbol.data;
  top_->gmii_rx_dv = symbol.valid;
  if (!incoming_.take(symbol, receiveEdges_)) return;
  const wire::Seen &seen = incoming_.seen;
  damaged_ += !seen.right;
  ++returned_;
  // The transmit clock's last edge was at `nextTransmit_` less a period, or is this very one, which is not yet counted.
  const auto sinceSfd = static_cast<Time>((receiveEdges_ - seen.sfd) * receivePeriod_);
  const Time edge =
      static_cast<Time>(nextReceive_) - receivePeriod_ - (static_cast<Time>(nextTransmit_) - transmitPeriod);
  listener_.returned(seen.head, now_ + (edge - sinceSfd) * byteTime_ / transmitPeriod);
}

bool Module::quiet() const {
  constexpr std::uint64_t settling = 8; // clocks until the pacer shows that it is busy
  const bool allThrough = left_ == departed_ && left_ == returned_ && left_ == received_;
  const bool nothingGiven =
      launches_.empty() && bookings_.empty() && arrivals_.empty() && simulated_ > lastBooking_ + settling;
  const bool wireIdle = !top_->gmii_tx_en && arriving_.empty() && loop_.empty();
  return allThrough && nothingGiven && wireIdle && top_->idle && !top_->grants_valid;
}

Module::Next Module::nextGrant() const { return {top_->next_armed != 0, nanoseconds(top_->next_at_ns)}; }

void Module::sampleCore() {
  const auto &pins = *top_;
  const auto stamp = [](std::uint64_t ns, std::uint64_t fraction) { return Stamp{ns << 16 | fraction}; };
  if (pins.grants_valid) {
    const Stamp launch = stamp(pins.grants_payload_launch_ns, pins.grants_payload_launch_fraction);
    listener_.granted(pins.grants_payload_reference_flow, launch);
  }
  if (pins.departures_valid) {
    ++departed_;
    listener_.departed(stamp(pins.departures_payload_stamp_ns, pins.departures_payload_stamp_fraction));
  }
  if (!pins.receive_valid) return;
  if (!midFrame_) {
    ++received_;
    listener_.received(pins.receive_payload_frame_data,
                       stamp(pins.receive_payload_stamp_ns, pins.receive_payload_stamp_fraction));
  }
  midFrame_ = !pins.receive_payload_frame_last;
}

void Module::driveCore() {
  auto &pins = *top_;
  pins.bookings_valid = !bookings_.empty();
  if (!bookings_.empty()) {
    const Booking &booking = bookings_.front();
    pins.bookings_payload_reference_flow = static_cast<std::uint16_t>(booking.flow);
    pins.bookings_payload_first = booking.first;
    pins.bookings_payload_paced = booking.spacing != 0;
    pins.bookings_payload_interval = booking.spacing;
    pins.bookings_payload_perByte = 1;
    pins.bookings_payload_previousLength = static_cast<std::uint16_t>(booking.previousLength);
    bookings_.pop_front();
    lastBooking_ = simulated_;
  }
  pins.transmit_valid = !launches_.empty();
  if (launches_.empty()) return;
  const Launch &launch = launches_.front();
  const std::size_t rest = launch.length - position_;
  pins.transmit_payload_frame_data = wordAt(launch.id, position_);
  pins.transmit_payload_frame_keep = downbeat::keepOf(std::min(rest, downbeat::beatBytes));
  pins.transmit_payload_frame_last = rest <= downbeat::beatBytes;
  pins.transmit_payload_mode = static_cast<std::uint8_t>(launch.mode);
  pins.transmit_payload_launch_ns = launch.launch >> 16;
  pins.transmit_payload_launch_fraction = launch.launch & 0xffff;
  pins.transmit_payload_tag = anyTag;
}

} // namespace gap
