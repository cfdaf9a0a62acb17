// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "line_rate.h"

#include <cstdio>

#include "bench_model.h"

namespace wire {

bool lineRate(std::size_t first, std::size_t last, std::uint64_t frames, std::uint64_t corePeriod) {
  Bench bench(corePeriod);
  constexpr std::size_t fcsBytes = 4, around = 20; // preamble, SFD and gap
  const auto bytes = [=](std::uint64_t number) { return first + number % (last - first + 1) - fcsBytes; };
  const auto frame = [=](std::uint64_t number) {
    return segmentFrame(bytes(number), static_cast<std::uint32_t>(number));
  };
  std::uint64_t sentIn = 0, sentOut = 0, inOrder = 0, out = 0, gaps = 0, damaged = 0, firstSfd = 0, lastSfd = 0;
  using Wire = Phy<Bench::Pins>;
  Gaps expected(Wire::slotBytes);
  std::uint64_t gap = 0;
  const std::uint64_t limit = frames * (last + around) / Wire::lanes + 10'000;
  while ((inOrder < frames || out < frames) && bench.clocks() < limit) {
    if (bench.wireIn.size() < Wire::lanes && sentIn < frames) bench.wireIn.put(frame(sentIn++));
    if (bench.transmitIdle() && sentOut < frames) bench.transmit({frame(sentOut++), LaunchMode::asap, 0, 0});
    bench.step();
    bench.accepted.clear();
    for (; !bench.sequences.empty(); bench.sequences.pop_front()) inOrder += bench.sequences.front() == inOrder;
    for (; !bench.wireOut.empty(); bench.wireOut.pop_front()) {
      const Seen &seen = bench.wireOut.front();
      if (!seen.right || seen.length != bytes(out)) ++damaged;
      if (out != 0 && seen.gap != gap) ++gaps;
      gap = expected.behind(bytes(out));
      if (out == 0) firstSfd = seen.sfd;
      lastSfd = seen.sfd;
      ++out;
    }
  }
  const double seconds = static_cast<double>((lastSfd - firstSfd) * Wire::byteTime) * 1e-15;
  const bool right = inOrder == frames && out == frames && damaged == 0 && gaps == 0;
  const auto print = [](std::uint64_t number) { return static_cast<unsigned long long>(number); };
  std::printf(
      "{\"frame_bytes\": [%zu, %zu], \"core_mhz\": %.3f, \"frames_each_way\": %llu, \"received_in_order\": %llu, "
      "\"left\": %llu, "
      "\"damaged\": %llu, \"wrong_gaps\": %llu, \"frames_per_second\": %.0f, \"right\": %s}\n",
      first, last, 1e6 / static_cast<double>(corePeriod), print(frames), print(inOrder), print(out), print(damaged),
      print(gaps), static_cast<double>(out - 1) / seconds, right ? "true" : "false");
  return right;
}

} // namespace wire
