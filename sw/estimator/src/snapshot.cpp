/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/// State that outlives a process, as text: a line for each ten seconds of a prefix, and for each set of saved
/// parameters.
#include <array>
#include <charconv>
#include <limits>

#include "estimator.h"

namespace downbeat::estimator {

namespace {

constexpr std::string_view header = "downbeat-estimator 1";

std::string_view word(std::string_view &line) {
  const size_t end = line.find(' ');
  const std::string_view found = line.substr(0, end);
  line = end == line.npos ? std::string_view() : line.substr(end + 1);
  return found;
}

/// So many whole numbers, and nothing after them.
template <size_t COUNT> bool numbers(std::string_view line, std::array<uint64_t, COUNT> &values) {
  for (uint64_t &value : values) {
    const std::string_view digits = word(line);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) return false;
  }
  return line.empty();
}

} // namespace

std::string Estimator::save(uint64_t now) {
  now = at(now);
  std::string saved = std::string(header) + '\n';
  const auto write = [&](std::initializer_list<uint64_t> values) {
    for (const uint64_t value : values) saved += ' ' + std::to_string(value);
    saved += '\n';
  };
  for (const PrefixRecord &record : table_.prefixes()) {
    if (!record.used) continue;
    for (const SpandSums &sums : record.spand.ticks()) {
      const uint32_t age = SpandReports::tick(now) - sums.tick;
      if (sums.reports == 0 || age >= SpandReports::keptTicks) continue;
      saved += "spand " + text(record.prefix);
      write({age, sums.reports, sums.windows, sums.roundTrips, sums.segments, sums.acks});
    }
  }
  saved_.each([&](const Saved &each) {
    if (now - each.time > options_.resume_lifetime) return;
    saved += "resume " + text(each.remote);
    write({now - each.time, each.window, each.roundTrip});
  });
  return saved;
}

Cause Estimator::load(uint64_t now, uint64_t elapsed, std::string_view text) {
  now = at(now);
  const auto next = [&] {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
    return line;
  };
  if (next() != header) return refuse(DOWNBEAT_CAUSE_ARGUMENT);
  opened_ = true;
  while (!text.empty()) {
    std::string_view line = next();
    const std::string_view kind = word(line);
    const bool good = kind == "spand"    ? loadSpand(line, now, elapsed)
                      : kind == "resume" ? loadSaved(line, now, elapsed)
                                         : kind.empty();
    if (!good) refuse(DOWNBEAT_CAUSE_ARGUMENT);
  }
  return DOWNBEAT_CAUSE_NONE;
}

bool Estimator::loadSpand(std::string_view line, uint64_t now, uint64_t elapsed) {
  Prefix prefix;
  std::array<uint64_t, 6> values;
  if (!parse(word(line), prefix) || !isUnicast(prefix.address) || !numbers(line, values)) return false;
  const auto [age, reports, windows, round_trips, segments, acks] = values;
  if (age >= SpandReports::keptTicks || reports == 0 || reports > SpandReports::maxReports || acks > segments)
    return false;
  if (windows > reports * options_.maximum_window << 8 || round_trips > reports * longestRoundTrip) return false;
  if (segments > reports * UINT32_MAX) return false;
  if (rules_.of(prefix.address) != prefix) return false; // saved with other rules
  const uint64_t old = age + elapsed / SpandReports::tickLength + (elapsed % SpandReports::tickLength ? 1 : 0);
  if (old >= SpandReports::keptTicks || old > SpandReports::tick(now)) return true; // over, or before time began
  PrefixRecord *record = table_.findOrMake(prefix);
  if (!record) return false;
  record->spand.add({SpandReports::tick(now) - static_cast<uint32_t>(old), static_cast<uint32_t>(reports), windows,
                     round_trips, segments, acks});
  return true;
}

bool Estimator::loadSaved(std::string_view line, uint64_t now, uint64_t elapsed) {
  downbeat_address remote;
  std::array<uint64_t, 3> values;
  if (!parse(word(line), remote) || !isUnicast(remote) || !numbers(line, values)) return false;
  const auto [age, window, round_trip] = values;
  if (window == 0 || window > uint64_t{options_.maximum_window} * UINT16_MAX) return false;
  if (round_trip == 0 || round_trip > longestRoundTrip) return false;
  if (elapsed > options_.resume_lifetime || age > options_.resume_lifetime - elapsed || age + elapsed > now)
    return true;
  const Saved *own = saved_.find(remote);
  if (!own || own->time <= now - age - elapsed) saved_.put(remote, now - age - elapsed, window, round_trip);
  return true;
}

} // namespace downbeat::estimator
