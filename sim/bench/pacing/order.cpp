// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "order.h"

#include <algorithm>
#include <array>
#include <functional>
#include <queue>
#include <sstream>

#include "lib/packets/draw.h"
#include "module.h"

namespace pacing {

namespace {

constexpr std::uint32_t flows = PACER_FLOWS;
constexpr std::uint64_t second = 1'000'000'000; // ns
constexpr std::uint64_t shortest = 256;         // bytes: two seconds between such segments are a spacing of 56 bits

/// How far the next departure of a flow lies at most.
constexpr std::array<std::uint64_t, 4> ranges{1000, second, second, 2 * second}; // ns

class Crowd {
public:
  explicit Crowd(std::uint64_t seed) : draw_(seed), schedules_(flows) {
    // The first segments of all connections are due in the order of their booking.
    for (std::uint32_t flow = 0; flow < flows; ++flow) book(flow, 0);
    takeDue();
  }

  /// A flow that was granted books again, its departure up to `range` ns after the last one.
  void book(std::uint32_t flow, std::uint64_t range) {
    const auto length = static_cast<std::uint16_t>(draw_.between(shortest, 16383));
    const Instant spacing = range == 0 ? Instant{1} : instant(draw_.below(range) + 1) / length;
    const Booking booking{flow, range == 0, static_cast<std::uint64_t>(spacing), length};
    waiting_.emplace(nanoseconds(schedules_[flow].book(booking, dut_.now())), flow);
    dut_.book(booking);
  }

  /// All that is due comes, each once at its instant, the earliest first; whole ns that are equal are equally early.
  std::vector<std::uint32_t> takeDue() {
    dut_.settle();
    std::vector<std::uint32_t> taken;
    for (const Grant &grant : dut_.grants) {
      if (waiting_.empty()) throw Failure("a grant that nobody booked");
      const std::uint64_t earliest = waiting_.top().first;
      Schedule &schedule = schedules_[grant.flow];
      if (nanoseconds(schedule.booked()) != earliest)
        throw Failure("flow " + std::to_string(grant.flow) + " is granted before an earlier one");
      if (grant.launch != schedule.launch())
        throw Failure("flow " + std::to_string(grant.flow) + " is launched at the wrong time");
      ties_.push_back(grant.flow);
      // The heap returns bookings of the same ns in any order: all must have come when the next ns begins.
      for (std::size_t i; !waiting_.empty() && waiting_.top().first == earliest &&
                          (i = static_cast<std::size_t>(std::ranges::find(ties_, waiting_.top().second) -
                                                        ties_.begin())) < ties_.size();) {
        ties_.erase(ties_.begin() + static_cast<std::ptrdiff_t>(i));
        waiting_.pop();
      }
      schedule.granted();
      taken.push_back(grant.flow);
    }
    if (!ties_.empty()) throw Failure("a flow was granted twice");
    if (!waiting_.empty() && waiting_.top().first <= dut_.now()) throw Failure("a grant that is due does not come");
    dut_.grants.clear();
    return taken;
  }

  Module &dut() { return dut_; }
  fuzz::Draw &draw() { return draw_; }
  std::uint64_t earliest() const { return waiting_.top().first; }

private:
  using Entry = std::pair<std::uint64_t, std::uint32_t>; // ns, flow
  fuzz::Draw draw_;
  Module dut_;
  std::vector<Schedule> schedules_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> waiting_;
  std::vector<std::uint32_t> ties_; // granted, and still in the heap
};

struct Spread {
  std::uint64_t lowest = UINT64_MAX, highest = 0;
  void take(std::uint64_t value) {
    lowest = std::min(lowest, value);
    highest = std::max(highest, value);
  }
  std::string text() const { return "[" + std::to_string(lowest) + ", " + std::to_string(highest) + "]"; }
};

/// All flows due at once: clocks from one grant to the next.
Spread together(Crowd &crowd) {
  for (std::uint32_t flow = 0; flow < flows; ++flow) crowd.book(flow, second);
  crowd.dut().settle();
  crowd.dut().set(crowd.dut().now() + 2 * second);
  crowd.dut().settle();
  Spread spread;
  const std::vector<Grant> &grants = crowd.dut().grants;
  for (std::size_t i = 1; i < grants.size(); ++i) spread.take(grants[i].clock - grants[i - 1].clock);
  if (crowd.takeDue().size() != flows) throw Failure("not all flows were granted");
  return spread;
}

/// One flow, due when it books: clocks from the booking to its grant.
std::uint64_t alone(Crowd &crowd) {
  const std::uint64_t begun = crowd.dut().clocks();
  crowd.book(flows / 2, 0);
  crowd.dut().settle();
  const std::uint64_t clocks = crowd.dut().grants.at(0).clock - begun;
  crowd.takeDue();
  return clocks;
}

} // namespace

std::string order(std::uint64_t seed, std::uint64_t count) {
  Crowd crowd(seed);
  const std::uint64_t bookingToGrant = alone(crowd);
  const Spread between = together(crowd);
  Spread fromTime;
  for (std::uint32_t flow = 0; flow < flows; ++flow) crowd.book(flow, 2 * second);
  for (auto due = crowd.takeDue(); !due.empty(); due = crowd.takeDue())
    for (const std::uint32_t flow : due) crowd.book(flow, second);
  std::uint64_t grants = 0, several = 0;
  while (grants < count) {
    // To the earliest, or past some more, so that several are due at once.
    const bool exactly = crowd.draw().chance(50);
    if (crowd.dut().next() != crowd.earliest()) throw Failure("next is not the earliest");
    crowd.dut().set(crowd.earliest() + (exactly ? 0 : crowd.draw().below(32 * second / flows)));
    const std::uint64_t begun = crowd.dut().clocks();
    crowd.dut().settle();
    fromTime.take(crowd.dut().grants.at(0).clock - begun);
    several += crowd.dut().grants.size() > 1;
    // A flow whose next departure is past is granted at once, and books again.
    for (auto due = crowd.takeDue(); !due.empty(); due = crowd.takeDue()) {
      grants += due.size();
      for (const std::uint32_t flow : due) crowd.book(flow, crowd.draw().pick(ranges));
    }
  }
  std::ostringstream text;
  text << "\"flows\": " << flows << ", \"grants\": " << grants << ", \"several_due\": " << several
       << ", \"clocks_booking_to_grant\": " << bookingToGrant << ", \"clocks_time_to_grant\": " << fromTime.text()
       << ", \"clocks_between_grants\": " << between.text() << ", \"clocks\": " << crowd.dut().clocks();
  return text.str();
}

} // namespace pacing
