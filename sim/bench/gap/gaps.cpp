// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "gaps.h"

#include <algorithm>

namespace gap {

void Gaps::add(const Fate &first, const Fate &second, Time requested) {
  const Time sent = second.sfd - first.sfd, returned = second.returned - first.returned;
  const Time measured = timeOf(second.received) - timeOf(first.received);
  sent_.add(inNanoseconds(sent - requested));
  measured_.add(inNanoseconds(measured - returned));
  shortest_ = count_ == 0 ? requested : std::min(shortest_, requested);
  longest_ = std::max(longest_, requested);
  if (++count_ <= drawn) {
    const std::string point =
        number(inNanoseconds(requested)) + ", " + number(inNanoseconds(sent)) + ", " + number(inNanoseconds(measured));
    points_ += (points_.empty() ? "[" : ", [") + point + "]";
  }
}

void Gaps::report(Object &object) const {
  object.add("gaps", count_)
      .add("shortest_gap_ns", inNanoseconds(shortest_))
      .add("longest_gap_ns", inNanoseconds(longest_));
  object.add("max_sent_gap_error_ns", sent_.worst()).add("max_measured_gap_error_ns", measured_.worst());
  object.add("sent_gap_error_ns", sent_.json()).add("measured_gap_error_ns", measured_.json());
  object.add("asked_sent_measured_ns", "[" + points_ + "]");
}

} // namespace gap
