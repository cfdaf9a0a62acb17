// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "launch_trace.h"

#include <cstdio>
#include <random>
#include <vector>

#include "bench_model.h"

namespace wire {

namespace {

constexpr Stamp byteTime = Stamp{8} << 16;
constexpr std::size_t depth = 4; // the model's store of each kind
constexpr std::uint64_t timeLimit = 1'000'000; // clocks

/// Draws frames: sizes and modes mixed, launches about as dense as the wire can carry, and how early each is handed in:
/// mostly well ahead, sometimes at the last moment, sometimes too late; now and then one out of order.
class Traffic {
public:
  explicit Traffic(std::uint64_t seed) : random_(seed) {}

  struct Drawn {
    TransmitFrame frame;
    Stamp handedIn;
  };

  Drawn next() {
    const std::uint32_t kind = below(100), size = below(10);
    const std::size_t length = size < 5 ? 60 : size < 9 ? 60 + below(300) : 60 + below(1455);
    Drawn drawn{{Bytes(length, static_cast<std::uint8_t>(tag_)), LaunchMode::at, 0, tag_}, 0};
    tag_ = tag_ == 0xffff ? 1 : static_cast<std::uint16_t>(tag_ + 1);
    const Stamp wireTime = (length + 24) * byteTime;
    if (kind < 25)
      drawn.frame.mode = LaunchMode::asap;
    else if (kind < 40)
      drawn.frame.mode = LaunchMode::afterPrevious;
    // A busy stretch and a quiet one take turns.
    const std::uint32_t spare = below(20) == 0 ? 4000 : busyStretch_ ? 10 : 400;
    if (below(200) == 0) busyStretch_ = !busyStretch_;
    schedule_ += wireTime + below(spare) * byteTime;
    drawn.frame.launch = schedule_ - (below(3) == 0 ? 0 : below(8) * byteTime / 8 + below(3));
    if (below(50) == 0) drawn.frame.launch -= below(1000) * byteTime; // out of order
    const std::uint32_t haste = below(100);
    const Stamp lead = haste < 94 ? 3000 + below(2000) : below(60);
    drawn.handedIn = schedule_ - lead * byteTime + (haste == 99 ? below(500) * byteTime : 0);
    return drawn;
  }

private:
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_() % bound); }

  std::mt19937_64 random_;
  Stamp schedule_ = 10'000 * byteTime;
  bool busyStretch_ = false;
  std::uint16_t tag_ = 1;
};

struct Left {
  std::uint16_t tag;
  Stamp stamp;
  bool operator==(const Left &) const = default;
};

/// The same frames, complete at the same instants, through the model.
class Model {
public:
  void push(const TransmitFrame &frame, Stamp now) {
    departUntil(now);
    gate.filling().length = static_cast<std::uint32_t>(frame.bytes.size());
    gate.filling().tag = frame.tag;
    gate.push(frame.mode, frame.launch, now);
  }
  void departUntil(Stamp now) {
    while (gate.nextDeparture() <= now && gate.nextDeparture() != downbeat::never) {
      const downbeat::Frame frame = gate.depart();
      left.push_back({frame.tag, frame.time});
    }
  }
  downbeat::LaunchGate gate{1'000'000'000};
  std::vector<Left> left;
};

/// Runs the bench until its wire clock `clock`, keeping what left.
void runUntil(Bench &bench, std::vector<Left> &left, std::uint64_t clock) {
  while (bench.clocks() < clock) {
    bench.step();
    bench.wireOut.clear();
    for (; !bench.departures.empty(); bench.departures.pop_front())
      left.push_back({bench.departures.front().tag, bench.departures.front().stamp});
  }
}

} // namespace

bool launchTrace(std::uint64_t frames, std::uint64_t seed) {
  Bench bench;
  Model model;
  std::vector<Left> left;

  // A clock's number to the time base, by a frame whose SFD is seen at the pins and stamped.
  bench.transmit({Bytes(60), LaunchMode::asap, 0, 1});
  while (bench.departures.empty() || bench.wireOut.empty()) bench.step();
  const Stamp origin = bench.departures.front().stamp - bench.wireOut.front().sfd * byteTime;
  bench.departures.clear();
  bench.accepted.clear();

  Traffic traffic(seed);
  std::uint64_t inside[2] = {0, 0};
  std::vector<bool> isAsap(1 << 16);
  std::size_t counted = 0;
  for (std::uint64_t sent = 0; sent < frames; ++sent) {
    Traffic::Drawn drawn = traffic.next();
    const bool asap = drawn.frame.mode == LaunchMode::asap;
    isAsap[drawn.frame.tag] = asap;
    const auto count = [&] {
      for (; counted < left.size(); ++counted) --inside[isAsap[left[counted].tag]];
    };
    // Handed in when it is drawn to be, and when there is space.
    if (drawn.handedIn > origin) runUntil(bench, left, (drawn.handedIn - origin) / byteTime);
    const std::uint64_t limit = bench.clocks() + timeLimit;
    for (count(); inside[asap] >= depth && bench.clocks() < limit; count()) runUntil(bench, left, bench.clocks() + 1);
    ++inside[asap];
    bench.transmit(std::move(drawn.frame));
    while (bench.accepted.empty() && bench.clocks() < limit) runUntil(bench, left, bench.clocks() + 1);
    if (bench.accepted.empty()) break; // the gate is stuck; the counts will say so
    model.push(bench.accepted.front().frame, origin + bench.accepted.front().clock * byteTime);
    bench.accepted.clear();
  }
  const std::uint64_t limit = bench.clocks() + timeLimit;
  while (left.size() < frames && bench.clocks() < limit) runUntil(bench, left, bench.clocks() + 1);
  model.departUntil(downbeat::never - 1);
  runUntil(bench, left, bench.clocks() + 100); // the counters' crossing

  std::uint64_t equal = 0;
  while (equal < left.size() && equal < model.left.size() && left[equal] == model.left[equal]) ++equal;
  const auto print = [](std::uint64_t number) { return static_cast<unsigned long long>(number); };
  const auto &pins = bench.pins();
  const auto &gate = model.gate;
  const bool right = equal == frames && model.left.size() == frames &&
                     pins.counters_transmit_lateArrived == gate.lateArrived() &&
                     pins.counters_transmit_lateInverted == gate.lateInverted() &&
                     pins.counters_transmit_lateBusy == gate.lateBusy() &&
                     pins.counters_transmit_worstLateness == gate.worstLateness() >> 16;
  if (equal < left.size() && equal < model.left.size())
    std::fprintf(stderr, "departure %llu: the gate's tag %u at %.3f ns, the model's tag %u at %.3f ns\n", print(equal),
                 left[equal].tag, static_cast<double>(left[equal].stamp) / 65536, model.left[equal].tag,
                 static_cast<double>(model.left[equal].stamp) / 65536);
  std::printf("{\"seed\": %llu, \"frames\": %llu, \"equal_departures\": %llu, \"late_arrived\": [%u, %llu], "
              "\"late_inverted\": [%u, %llu], \"late_busy\": [%u, %llu], \"wire_clocks\": %llu, \"right\": %s}\n",
              print(seed), print(frames), print(equal), pins.counters_transmit_lateArrived, print(gate.lateArrived()),
              pins.counters_transmit_lateInverted, print(gate.lateInverted()), pins.counters_transmit_lateBusy,
              print(gate.lateBusy()), print(bench.clocks()), right ? "true" : "false");
  return right;
}

} // namespace wire
