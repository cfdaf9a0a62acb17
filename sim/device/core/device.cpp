// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device.h"

#include <array>
#include <iterator>

#include "downbeat_build.h"

namespace downbeat {

namespace {
constexpr unsigned resetClocks = 8;
}

Device::Device(const Addresses &own, std::uint64_t linkRate, std::uint64_t secret, std::size_t staging,
               std::uint32_t initialValues)
    : model_(initialValues), wire_(own, linkRate), application_(staging, linkRate) {
  wire_.setAddresses(model_.pins);
  model_.pins.secret[0] = static_cast<std::uint32_t>(secret);
  model_.pins.secret[1] = static_cast<std::uint32_t>(secret >> 32);
  model_.pins.secret[2] = model_.pins.secret[3] = 0;
  reset(resetClocks);
}

void Device::reset(unsigned clocks) {
  model_.pins.reset = 1;
  for (; clocks > 0; --clocks) clock(std::max(lastEdge_ + clockPeriod, nextClock(now_)));
  model_.pins.reset = 0;
  wire_.reset();
  application_.reset();
  quietClocks_ = 0;
}

Stamp Device::nextEdge() const {
  const Pins &pins = model_.pins;
  const bool blocked = quietClocks_ > timeLimit && wire_.blocks(pins);
  const bool busy = wire_.active(pins) || application_.active() || (!pins.idle && !blocked);
  if (busy || quietClocks_ < settling) return std::max(lastEdge_ + clockPeriod, nextClock(now_));
  Stamp wake = std::min(wire_.nextInstant(), application_.nextInstant());
  constexpr std::uint64_t noDeadline = (std::uint64_t{1} << 48) - 1;
  // The core's clock wraps after 78 hours; a deadline before `now` modulo the wrap is one that is due.
  if (!blocked && pins.nextDeadline != noDeadline) wake = std::min(wake, Stamp{pins.nextDeadline} << 16);
  if (wake == never) return never;
  return std::max({nextClock(wake), lastEdge_ + clockPeriod, nextClock(now_)});
}

Stamp Device::nextDeadline() const { return std::min(nextEdge(), wire_.nextRun()); }

void Device::advance(Stamp until) {
  for (;;) {
    const Stamp edge = nextEdge(), run = wire_.nextRun();
    if (std::min(edge, run) > until) break;
    if (edge <= run) {
      clock(edge);
    } else { // nothing to the core but perhaps its consequences: a stamp, space in the gate
      wire_.run(run);
      now_ = std::max(now_, run);
    }
  }
  now_ = std::max(now_, until);
}

void Device::clock(Stamp edge) {
  Pins &pins = model_.pins;
  wire_.run(edge);
  wire_.drive(pins, edge);
  application_.drive(pins, edge);
#ifdef DOWNBEAT_PATH_REPORTS
  pins.m_axis_path_report_tready = 1;
#endif
  model_.settle(edge);

  bool moved = edge != lastEdge_ + clockPeriod;
  moved |= wire_.sample(pins, edge);
  if (!pins.reset) moved |= sample(edge); // a core's outputs mean nothing in reset
  model_.edge();
  lastEdge_ = edge;
  now_ = std::max(now_, edge);
  quietClocks_ = moved ? 0 : quietClocks_ + 1;
  ++counters_.clocks;
}

bool Device::sample(Stamp edge) {
  const Pins &pins = model_.pins;
  bool moved = application_.sample(pins, edge);
  report(); // that it is taken changes nothing in the core
  if (pins.trace_valid) {
    ++counters_.events;
    moved = true;
    if (callback_ != nullptr) trace();
  }
  return moved;
}

void Device::report() {
#ifdef DOWNBEAT_PATH_REPORTS
  const Pins &pins = model_.pins;
  if (!pins.m_axis_path_report_tvalid || reportCallback_ == nullptr) return;
  Words<DOWNBEAT_PATH_REPORT_BITS> words;
  std::memcpy(words.data(), &pins.m_axis_path_report_tdata[0], sizeof words);
  downbeat_path_report report{};
#define DOWNBEAT_TAKE(member, field)                                                                                   \
  report.member = static_cast<decltype(report.member)>(DOWNBEAT_GET(words, PATH_REPORT, field))
  DOWNBEAT_TAKE(time, TIME_NS);
  DOWNBEAT_TAKE(flow, REFERENCE_FLOW);
  DOWNBEAT_TAKE(generation, REFERENCE_GENERATION);
  DOWNBEAT_TAKE(phase, PHASE);
  DOWNBEAT_TAKE(closed, CLOSED);
  DOWNBEAT_TAKE(segment_size, SEGMENT_SIZE);
  DOWNBEAT_TAKE(cwnd, CWND);
  DOWNBEAT_TAKE(ssthresh, SSTHRESH);
  DOWNBEAT_TAKE(losses, LOSSES);
  DOWNBEAT_TAKE(loss_time, LOSS_TIME_NS);
  DOWNBEAT_TAKE(loss_window, LOSS_WINDOW);
  DOWNBEAT_TAKE(loss_in_avoidance, LOSS_IN_AVOIDANCE);
  DOWNBEAT_TAKE(restarts, RESTARTS);
  DOWNBEAT_TAKE(retreats, RETREATS);
  DOWNBEAT_TAKE(smoothed_rtt, SMOOTHED_RTT);
  DOWNBEAT_TAKE(smallest_rtt, SMALLEST_RTT);
  DOWNBEAT_TAKE(rtt_variation, RTT_VARIATION);
  DOWNBEAT_TAKE(average_window, AVERAGE_WINDOW);
  DOWNBEAT_TAKE(growth, GROWTH);
  DOWNBEAT_TAKE(acked, ACKED);
  DOWNBEAT_TAKE(acks, ACKS);
#undef DOWNBEAT_TAKE
  reportCallback_(reportContext_, &report);
#endif
}

void Device::trace() {
  const Pins &pins = model_.pins;
  downbeat_event event{};
#define DOWNBEAT_COPY(member, field) event.member = pins.trace_payload_##field;
  DOWNBEAT_EVENT_FIELDS(DOWNBEAT_COPY)
#undef DOWNBEAT_COPY
  if (!event.probe_answered)
    event.probe_begins = event.probe_disturbed = event.probe_round_trip = 0; // they mean nothing
  if (!event.probe_answered || event.probe_begins) event.departure_gap = event.arrival_gap = 0;
  callback_(callbackContext_, &event);
}

bool Device::putFrame(const std::uint8_t *bytes, std::size_t length, Stamp arrival) {
  if (length < 14 || length > largestFrame) return false;
  if (length >= smallestFrame) return putAnything(bytes, length, false, arrival), true;
  std::array<std::uint8_t, smallestFrame> padded{};
  std::memcpy(padded.data(), bytes, length);
  putAnything(padded.data(), padded.size(), false, arrival);
  return true;
}

void Device::putAnything(const std::uint8_t *bytes, std::size_t length, bool damaged, Stamp arrival) {
  const Stamp due = arrival + wire_.departures().gate.lastByteAfterSfd(length);
  if (due < now_) ++counters_.late_arrivals;
  ++counters_.frames_in;
  wire_.put(bytes, length, damaged, arrival, due);
}

downbeat_sim_counters Device::counters() const {
  downbeat_sim_counters counters = counters_;
  counters.frames_out = wire_.departures().frames;
  counters.frames_refused = wire_.refused();
  counters.bypass_in = wire_.bypass().frames;
  counters.late_departures = wire_.departures().gate.lateDepartures();
  counters.worst_lateness = wire_.departures().gate.worstLateness();
  return counters;
}

std::pair<const char *, std::uint32_t> Device::coreCounter(unsigned index) const {
#define DOWNBEAT_COUNTER(name) std::pair{#name, model_.pins.counters_##name},
  const std::pair<const char *, std::uint32_t> all[] = {DOWNBEAT_CORE_COUNTERS(DOWNBEAT_COUNTER){nullptr, 0}};
#undef DOWNBEAT_COUNTER
  return all[std::min<std::size_t>(index, std::size(all) - 1)];
}

bool Device::waves(const char *path) {
  if (path == nullptr) {
    model_.endWaves();
    return true;
  }
  return model_.startWaves(path);
}

} // namespace downbeat
