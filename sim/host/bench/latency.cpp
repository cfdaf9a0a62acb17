// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "latency.h"

#include <array>

namespace downbeat::bench {

Latency latencyOf(Machine &machine, const format::Notification &from, const format::Notification &to,
                  std::uint32_t bytes, std::uint64_t linkRate) {
  const std::uint64_t clock = DOWNBEAT_NANOSECONDS(1'000'000'000) / machine.geometry.clockHz;
  constexpr std::uint64_t second = DOWNBEAT_NANOSECONDS(1'000'000'000);
  Model &model = machine.model;
  for (int quiet = 0; quiet < 200; ++quiet) machine.step();
  const format::Notification before = machine.port(0).statuses.at(from.flow);
  const std::uint32_t received = machine.port(1).statuses.at(to.flow).received;

  Latency found;
  const std::uint64_t rung = model.now();
  machine.port(0).doorbell(format::writtenSequence, before.written + bytes,
                           from.flow | std::uint32_t{from.generation} << 16);
  std::array<std::uint8_t, 9018> frame;
  std::uint64_t departure = 0;
  std::int64_t length = -1;
  while ((length = model.getFrame(frame.data(), frame.size(), &departure)) < 0) model.advance(model.now() + clock);
  found.doorbellToSfd = static_cast<double>(departure - rung) / static_cast<double>(clock);

  const std::uint64_t arrival = model.now() + clock;
  machine.reflect(frame.data(), static_cast<std::size_t>(length), arrival);
  // After the SFD: the frame and its FCS (IEEE 802.3).
  const std::uint64_t end = arrival + static_cast<std::uint64_t>(length + 4) * 8 * (second / linkRate);
  HostPort &sink = machine.port(1);
  while (sink.statuses.at(to.flow).received == received) {
    model.advance(model.now() + clock);
    sink.poll();
  }
  found.lastByteToNotification = static_cast<double>(model.now() - end) / static_cast<double>(clock);
  sink.doorbell(format::consumedSequence, received + bytes, to.flow | std::uint32_t{to.generation} << 16);
  machine.until("an idle connection",
                [&] { return machine.port(0).statuses.at(from.flow).acknowledged == before.written + bytes; });
  return found;
}

} // namespace downbeat::bench
