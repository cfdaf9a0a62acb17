// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "throughput.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "downbeat_registers.h"

namespace ten {

using latency::Bytes;
using latency::Pins;

namespace {

constexpr Time microsecond = 1'000'000'000;
constexpr std::size_t around = 78; // Ethernet, IP, TCP; preamble, SFD, FCS and gap
constexpr std::uint64_t inFlight = 40'000; // bytes of a connection, each way; a buffer has 64 KiB

} // namespace

Throughput::Throughput(latency::Module &dut, unsigned connections)
    : dut_(dut), connections_(connections), application_(connections), peer_(connections, mss, 0xffff) {
  dut.sample = [this](const Pins &pins, Time now) {
    events_ += pins.trace_valid;
    application_.sample(pins, now);
  };
  dut.drive = [this](Pins &pins) { application_.drive(pins); };
  dut.left = [this](std::span<const std::uint8_t> frame, Time) { peer_.take(frame); };
  dut.nextFrame = [this](Time) { return peer_.handshake(); };
  application_.open();
  constexpr int timeLimit = 200'000;
  for (int i = 0; i < timeLimit && !application_.established(); ++i) dut.step();
  if (!application_.established()) throw std::runtime_error("the connections did not open");
  idle(10 * microsecond);
}

void Throughput::idle(Time duration) {
  for (const Time begin = dut_.now(); dut_.now() < begin + duration;) dut_.step();
}

Throughput::Shares Throughput::segments(const Traffic &traffic, Time duration) {
  std::vector<std::uint64_t> given(connections_), delivered(connections_);
  std::vector<bool> owed(connections_); // an ACK
  std::uint64_t sent = 0, received = 0;
  unsigned writer = 0, next = 0;
  Time due = 0; // the peers' next segment
  const auto frameTime = static_cast<double>((mss + around) * latency::byteTime);
  dut_.drive = [&](Pins &pins) {
    for (unsigned tried = 0; traffic.sends && tried < connections_; ++tried, writer = (writer + 1) % connections_)
      if (application_.written(writer) < peer_.received(writer) + inFlight) {
        application_.write(writer, mss);
        writer = (writer + 1) % connections_;
        break;
      }
    application_.drive(pins);
  };
  application_.onDelivered = [&](unsigned connection, std::uint64_t end, Time) {
    received += end - delivered[connection];
    delivered[connection] = end;
  };
  dut_.left = [&](std::span<const std::uint8_t> frame, Time) {
    const auto data = peer_.take(frame);
    if (!data) return;
    sent += data->length;
    owed[data->connection] = true;
  };
  dut_.nextFrame = [&](Time sfd) -> std::optional<Bytes> {
    for (unsigned tried = 0; tried < connections_; ++tried) {
      const unsigned connection = next;
      next = (next + 1) % connections_;
      const bool data = traffic.offered > 0 && sfd >= due && given[connection] < delivered[connection] + inFlight;
      if (!data && !owed[connection]) continue;
      owed[connection] = false;
      if (!data) return peer_.acknowledge(connection);
      given[connection] += mss;
      due = std::max(due + static_cast<Time>(frameTime / traffic.offered), sfd - latency::Phy::period);
      return peer_.data(connection, mss);
    }
    return std::nullopt;
  };
  idle(duration);
  sent = received = 0;
  idle(duration);
  const double whole = static_cast<double>(duration) / frameTime * mss;
  return {static_cast<double>(sent) / whole, static_cast<double>(received) / whole};
}

Throughput::Acknowledgments Throughput::acknowledgments(std::uint64_t frames) {
  std::uint64_t given = 0;
  Time first = 0, last = 0;
  const std::uint32_t before = dut_.readRegister(DOWNBEAT_REG_COUNTER_MAC_RECEIVE_FRAMES);
  const std::uint64_t eventsBefore = events_;
  dut_.nextFrame = [&](Time sfd) -> std::optional<Bytes> {
    if (given == frames) return std::nullopt;
    if (given == 0) first = sfd;
    last = sfd;
    return peer_.acknowledge(static_cast<unsigned>(given++ % connections_));
  };
  while (given < frames) dut_.step();
  idle(10 * microsecond);
  const std::uint32_t taken = dut_.readRegister(DOWNBEAT_REG_COUNTER_MAC_RECEIVE_FRAMES) - before;
  const std::uint64_t events = events_ - eventsBefore; // one for each ACK that came through
  return {static_cast<double>(frames - 1) / static_cast<double>(last - first) * 1e15, taken,
          frames - std::min(frames, events)};
}

} // namespace ten
