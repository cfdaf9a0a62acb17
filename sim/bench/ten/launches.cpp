// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "launches.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

#include "bench_model.h"

namespace ten {

namespace {

using wire::Bench;
using wire::LaunchMode;
using wire::Stamp;
using Wire = wire::Phy<Bench::Pins>;
using Wide = __int128;

constexpr std::size_t around = 24; // preamble, SFD, FCS and gap
constexpr double stampsPerNanosecond = 65536;

/// The time of a byte's lane, 48.32 ns, from the time base's at edge 0.
Wide timeOf(std::uint64_t place) {
  return Wide{place / Wire::lanes} * Wire::increment + Wide{place % Wire::lanes} * Wire::increment / Wire::lanes;
}

/// Launches that the wire can keep, pairs behind some of them, and immediate frames that fill what is left.
class Schedule {
public:
  Schedule(std::uint64_t seed, Stamp begin) : random_(seed), next_(begin) {}

  wire::TransmitFrame draw(std::uint16_t tag) {
    const std::size_t length = below(8) != 0 ? 60 + below(100) : 60 + below(1455);
    wire::TransmitFrame frame{wire::Bytes(length, static_cast<std::uint8_t>(tag)), LaunchMode::asap, 0, tag};
    const std::uint32_t kind = below(10);
    if (kind < 3) return frame;
    const Stamp wireTime = bytesTime(length + around + Wire::slotBytes);
    if (kind == 3 && paired_) {
      frame.mode = LaunchMode::afterPrevious;
      next_ += wireTime;
      return frame;
    }
    paired_ = true;
    frame.mode = LaunchMode::at;
    frame.launch = next_ + (below(2) != 0 ? below(1 << 18) : bytesTime(below(2000)));
    next_ = frame.launch + wireTime + bytesTime(Wire::slotBytes);
    return frame;
  }

private:
  static Stamp bytesTime(std::size_t bytes) { return bytes * Wire::byteTime * 65536 / 1'000'000 + 1; }
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_() % bound); }

  std::mt19937_64 random_;
  Stamp next_;
  bool paired_ = false; // there is a timed frame to be behind
};

struct Figures {
  std::uint64_t left = 0, early = 0, late = 0, damaged = 0, wrongGaps = 0, wrongStamps = 0, pairs = 0;
  double sfdError = 0, stampError = 0; // ns, the largest
};

} // namespace

bool launches(std::uint64_t frames, std::uint64_t seed) {
  Bench bench;
  bench.transmit({wire::Bytes(60), LaunchMode::asap, 0, 1});
  while (bench.departures.empty() || bench.wireOut.empty()) bench.step();
  const std::uint64_t firstPlace = bench.wireOut.front().sfd;
  const Wide origin = (Wide{bench.departures.front().stamp} << 16) - timeOf(firstPlace);
  bench.departures.clear();
  bench.wireOut.clear();
  bench.accepted.clear();

  constexpr Stamp lead = Stamp{20'000} << 16;
  Schedule schedule(seed, static_cast<Stamp>(origin + timeOf(firstPlace) >> 16) + lead);
  Figures figures;
  std::deque<wire::TransmitFrame> timed, immediate; // that have not left
  wire::Gaps gaps(Wire::slotBytes);
  std::size_t minimumGap = 0;
  std::uint64_t sent = 0, last = bench.clocks();
  constexpr std::uint64_t timeLimit = 100'000; // clocks without a frame
  while (figures.left < frames && bench.clocks() < last + timeLimit) {
    if (bench.transmitIdle() && sent < frames) {
      const auto tag = static_cast<std::uint16_t>(sent++ % 0xffff + 1);
      wire::TransmitFrame frame = schedule.draw(tag);
      (frame.mode == LaunchMode::asap ? immediate : timed).push_back(frame);
      bench.transmit(std::move(frame));
    }
    bench.step();
    bench.accepted.clear();
    for (; !bench.departures.empty() && !bench.wireOut.empty();
         bench.departures.pop_front(), bench.wireOut.pop_front()) {
      const wire::Seen seen = bench.wireOut.front();
      const Bench::Departure departure = bench.departures.front();
      last = bench.clocks();
      const bool isTimed = !timed.empty() && timed.front().tag == departure.tag;
      auto &queue = isTimed ? timed : immediate;
      if (queue.empty() || queue.front().tag != departure.tag) return false;
      const wire::TransmitFrame frame = std::move(queue.front());
      queue.pop_front();
      figures.damaged += !seen.right || seen.length != frame.bytes.size() ||
                         (seen.head & 0xff) != static_cast<std::uint8_t>(departure.tag);
      const Wide sfd = origin + timeOf(seen.sfd);
      // The origin and each stamp are cut to 2^-16 ns.
      const double stampError = static_cast<double>((Wide{departure.stamp} << 16) - sfd) / 4294967296.0;
      figures.stampError = std::max(figures.stampError, std::abs(stampError));
      figures.wrongStamps += std::abs(stampError) * stampsPerNanosecond > 1.01;
      if (frame.mode == LaunchMode::at) {
        const double error =
            (static_cast<double>(departure.stamp) - static_cast<double>(frame.launch)) / stampsPerNanosecond;
        const double exact = static_cast<double>(sfd - (Wide{frame.launch} << 16)) / 4294967296.0;
        figures.early += exact < -1.01 / stampsPerNanosecond;
        figures.late += exact > 3.2 + 1.01 / stampsPerNanosecond;
        figures.sfdError = std::max({figures.sfdError, std::abs(error), std::abs(exact)});
      }
      // Behind a gap that is a slot longer than it must be nothing is owed.
      if (seen.gap >= minimumGap + Wire::slotBytes) gaps.reset();
      const bool pair = frame.mode == LaunchMode::afterPrevious;
      figures.pairs += pair;
      if (figures.left != 0) figures.wrongGaps += seen.gap < minimumGap || (pair && seen.gap != minimumGap);
      minimumGap = gaps.behind(frame.bytes.size());
      ++figures.left;
    }
  }
  const auto &pins = bench.pins();
  const std::uint64_t counted =
      pins.counters_transmit_lateArrived + pins.counters_transmit_lateInverted + pins.counters_transmit_lateBusy;
  const bool right = figures.left == frames && counted == 0 && figures.early == 0 && figures.late == 0 &&
                     figures.damaged == 0 && figures.wrongGaps == 0 && figures.wrongStamps == 0;
  const auto print = [](std::uint64_t number) { return static_cast<unsigned long long>(number); };
  std::printf("{\"seed\": %llu, \"frames\": %llu, \"early\": %llu, \"late\": %llu, \"counted_late\": %llu, "
              "\"damaged\": %llu, \"pairs\": %llu, \"wrong_gaps\": %llu, \"wrong_stamps\": %llu, "
              "\"sfd_error_ns\": %.6f, \"stamp_error_ns\": %.6f, \"wire_clocks\": %llu, \"right\": %s}\n",
              print(seed), print(figures.left), print(figures.early), print(figures.late), print(counted),
              print(figures.damaged), print(figures.pairs), print(figures.wrongGaps), print(figures.wrongStamps),
              figures.sfdError, figures.stampError, print(bench.clocks()), right ? "true" : "false");
  return right;
}

} // namespace ten
