// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "start.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "clock.h"

namespace downbeat::gateway {
namespace {

constexpr double leastSsthresh = 2; // segments (RFC 5681, section 3.1)

template <typename... Values> void because(downbeat_host_start &start, const char *format, Values... values) {
  std::snprintf(start.reason, sizeof start.reason, format, values...);
}

void pace(downbeat_host_start &start, downbeat_pace kind, double rtt, const downbeat_start_request &question) {
  const auto roundTrip = question.round_trip ? question.round_trip : static_cast<std::uint64_t>(rtt * double(second));
  start.pace = kind;
  start.gap = roundTrip / start.initial_window;
}

bool bySpand(const Answer &answer, const downbeat_estimator_options &options, const downbeat_start_request &question,
             downbeat_host_start &start) {
  if (answer.transfers < std::max(options.spand_reports, 1u)) return false;
  start.initial_window = std::min(
      spandWindow(answer, question.transfer_bytes, question.segment_size, options.spand_shift), options.maximum_window);
  start.ssthresh = std::uint64_t{start.initial_window} * question.segment_size;
  pace(start, DOWNBEAT_PACE_BUCKET, answer.rtt, question);
  because(start, "gateway: %u reports of %u hosts, window %.1f, b = %.2f: window %u", answer.transfers,
          unsigned{answer.transferReporters}, answer.window / question.segment_size, answer.acked,
          start.initial_window);
  return true;
}

bool byLiss(const Answer &answer, const downbeat_estimator_options &options, const downbeat_start_request &question,
            downbeat_host_start &start) {
  if (answer.stateReporters == 0) return false;
  const double share = std::clamp(lissSsthresh(answer, question.segment_size), leastSsthresh,
                                  static_cast<double>(options.maximum_window));
  start.ssthresh = static_cast<std::uint64_t>(share * question.segment_size);
  because(start, "gateway: %.2f connections of %u hosts, oldest w = %.2f: ssthresh %.2f", answer.connections,
          unsigned{answer.stateReporters}, answer.oldest / question.segment_size, share);
  return true;
}

bool byResume(const Answer &answer, const downbeat_estimator_options &options, const downbeat_start_request &question,
              downbeat_host_start &start) {
  if (answer.savedReporters == 0) return false;
  const std::uint64_t size = question.segment_size;
  const auto saved = static_cast<std::uint64_t>(answer.savedWindow);
  const std::uint64_t jump = std::min({saved / 2, options.resume_maximum_jump * size, options.maximum_window * size});
  if (jump <= options.initial_window * size) return false;
  start.saved_window = saved;
  start.saved_rtt = static_cast<std::uint64_t>(answer.savedRtt * double(second));
  start.jump = jump;
  because(start, "gateway: saved by %u hosts: %.0f bytes, round trip %.2f ms; jump to %.0f bytes",
          unsigned{answer.savedReporters}, answer.savedWindow, answer.savedRtt * 1e3, static_cast<double>(jump));
  return true;
}

bool byJs(const Answer &answer, const downbeat_estimator_options &options, const downbeat_start_request &question,
          downbeat_host_start &start) {
  if ((answer.transferReporters == 0 && question.round_trip == 0) || !byLiss(answer, options, question, start))
    return false;
  start.initial_window = static_cast<std::uint32_t>(start.ssthresh / question.segment_size);
  pace(start, DOWNBEAT_PACE_EVEN, answer.rtt, question);
  return true;
}

} // namespace

std::uint32_t spandWindow(const Answer &answer, std::uint64_t bytes, double mss, bool shift) {
  const auto window = static_cast<std::uint32_t>(std::max(1.0, answer.window / mss));
  const auto segments = static_cast<std::uint64_t>(std::ceil(double(bytes) / mss));
  return downbeat_spand(segments, window, static_cast<std::uint32_t>(std::lround(answer.acked * 256)), shift);
}

double lissSsthresh(const Answer &answer, double mss) {
  const double others = std::max(answer.connections - 1, 0.0) * answer.oldest;
  const auto fixed = [&](double bytes) { return static_cast<std::uint64_t>(bytes / mss * 65536); };
  return static_cast<double>(downbeat_liss(fixed(others), 1, fixed(answer.oldest))) / 65536;
}

bool startBy(const Answer &answer, const downbeat_estimator_options &options, std::uint64_t now,
             const downbeat_start_request &question, downbeat_host_start &start) {
  start = {};
  start.method = question.method;
  start.initial_window = options.initial_window;
  bool known = false;
  switch (question.method) {
  case DOWNBEAT_LISS: known = byLiss(answer, options, question, start); break;
  case DOWNBEAT_JS: known = byJs(answer, options, question, start); break;
  case DOWNBEAT_SPAND: known = bySpand(answer, options, question, start); break;
  case DOWNBEAT_RESUME: known = byResume(answer, options, question, start); break;
  default: break;
  }
  if (!known) return false;
  start.known = 1;
  start.until = now + options.hold;
  return true;
}

} // namespace downbeat::gateway
