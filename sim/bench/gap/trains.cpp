// SPDX-License-Identifier: BSD-2-Clause-Patent
// Pairs and trains: frames whose gap is what counts.
#include "cases.h"
#include "draw.h"
#include "gaps.h"

namespace gap {

namespace {

constexpr double longestGap = 10e9; // ns

/// Trains one behind another, and the gap from each frame to the one before it.
class Trains {
public:
  Trains(const Options &options, Bench &bench) : draw(options.count("seed"), options.text("length")), bench_(bench) {
    bench.onFate = [this](const Fate &fate) {
      departures_.add(fate);
      if (requested_.front() != first) gaps_.add(before_, fate, requested_.front());
      requested_.pop_front();
      before_ = fate;
    };
  }

  /// From SFD to SFD, for all of the train.
  void timed(const std::vector<std::size_t> &lengths, Stamp gap) {
    Stamp launch = start();
    for (std::size_t i = 0; i < lengths.size(); ++i, launch += gap) {
      // Some frames wait out their gap at the gate, most in front of it.
      if (i == 0 || draw.below(4) != 0) bench_.runToHandIn(launch);
      handIn({id_, lengths[i], LaunchMode::at, launch}, i == 0 ? first : timeOf(gap));
    }
    free_ = timeOf(launch - gap) + wireTime(lengths.back());
  }
  void backToBack(const std::vector<std::size_t> &lengths) {
    const Stamp launch = start();
    free_ = timeOf(launch);
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      handIn({id_, lengths[i], i == 0 ? LaunchMode::at : LaunchMode::afterPrevious, launch},
             i == 0 ? first : wireTime(lengths[i - 1]));
      free_ += wireTime(lengths[i]);
    }
  }
  std::vector<std::size_t> lengths(std::size_t count) {
    std::vector<std::size_t> lengths(count);
    for (std::size_t &length : lengths) length = draw.length();
    return lengths;
  }
  /// The shortest gap that fits behind every one of them.
  double shortestGap(const std::vector<std::size_t> &lengths) const {
    return inNanoseconds(wireTime(*std::ranges::max_element(lengths))) + 0.3;
  }

  void report(Object &result) {
    result.add("all_back", bench_.finish());
    departures_.report(result, bench_.dut().pins());
    gaps_.report(result);
  }

  Draw draw;

private:
  static constexpr Time first = -1;

  Time wireTime(std::size_t length) const { return byteTimes(length) * bench_.byteTime(); }
  /// The next train's launch, after a rest of its own.
  Stamp start() {
    const Stamp launch =
        stampAfter(std::max(free_, bench_.now() + Bench::lead) + bench_.byteTime() + timeOf(draw.spare(200)));
    bench_.runToHandIn(launch);
    return launch;
  }
  void handIn(const Launch &launch, Time requested) {
    requested_.push_back(requested);
    bench_.handIn(launch);
    ++id_;
  }

  Bench &bench_;
  Time free_ = 0; // when the wire is, after all trains so far
  std::uint64_t id_ = 0;
  std::deque<Time> requested_; // gap before each frame that is on its way
  Fate before_;
  Departures departures_;
  Gaps gaps_;
};

} // namespace

void pairs(const Options &options, Bench &bench, Object &result) {
  Trains trains(options, bench);
  const bool timed = options.text("gaps") == "timed";
  for (std::uint64_t pair = 0; pair < options.count("pairs"); ++pair) {
    const std::vector<std::size_t> lengths = trains.lengths(2);
    if (timed)
      trains.timed(lengths, trains.draw.logarithmic(trains.shortestGap(lengths), longestGap));
    else
      trains.backToBack(lengths);
  }
  trains.report(result);
}

void trains(const Options &options, Bench &bench, Object &result) {
  Trains trains(options, bench);
  constexpr double longestInTrain = 1e7; // ns
  for (std::uint64_t train = 0; train < options.count("trains"); ++train) {
    const std::vector<std::size_t> lengths = trains.lengths(2 + trains.draw.below(63));
    if (train % 2 == 0)
      trains.timed(lengths, trains.draw.logarithmic(trains.shortestGap(lengths), longestInTrain));
    else
      trains.backToBack(lengths);
  }
  trains.report(result);
}

} // namespace gap
