// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "start.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "clock.h"

namespace downbeat::gateway {
namespace {

constexpr double minSsthresh = 2; // segments (RFC 5681, section 3.1)

template <typename... Values> void because(downbeat_host_start &start, const char *format, Values... values) {
  std::snprintf(start.reason, sizeof start.reason, format, values...);
}

/// ns; 0: not known.
std::uint64_t roundTrip(const Response &response, const downbeat_start_request &request) {
  if (request.round_trip != 0) return request.round_trip;
  const double known = response.transferReporters ? response.rtt : response.savedReporters ? response.savedRtt : 0;
  return static_cast<std::uint64_t>(known * double(second));
}

void pace(downbeat_host_start &start, downbeat_pace kind) {
  start.pace = kind;
  start.gap = start.round_trip / start.initial_window;
}

bool bySpand(const Response &response, const downbeat_estimator_options &options, const downbeat_start_request &request,
             downbeat_host_start &start) {
  if (response.transfers < std::max(options.spand_reports, 1u)) return false;
  start.initial_window = std::min(
      spandWindow(response, request.transfer_bytes, request.segment_size, options.spand_shift), options.maximum_window);
  start.ssthresh = std::uint64_t{start.initial_window} * request.segment_size;
  pace(start, DOWNBEAT_PACE_BUCKET);
  because(start, "gateway: %u reports of %u hosts, window %.1f, b = %.2f: window %u", response.transfers,
          unsigned{response.transferReporters}, response.window / request.segment_size, response.acked,
          start.initial_window);
  return true;
}

bool byLiss(const Response &response, const downbeat_estimator_options &options, const downbeat_start_request &request,
            downbeat_host_start &start) {
  if (response.stateReporters == 0) return false;
  const double share = std::clamp(lissSsthresh(response, request.segment_size), minSsthresh,
                                  static_cast<double>(options.maximum_window));
  start.ssthresh = static_cast<std::uint64_t>(share * request.segment_size);
  because(start, "gateway: %.2f connections of %u hosts, oldest w = %.2f: ssthresh %.2f", response.connections,
          unsigned{response.stateReporters}, response.oldest / request.segment_size, share);
  return true;
}

bool byResume(const Response &response, const downbeat_estimator_options &options,
              const downbeat_start_request &request, downbeat_host_start &start) {
  if (response.savedReporters == 0) return false;
  const std::uint64_t size = request.segment_size;
  const auto saved = static_cast<std::uint64_t>(response.savedWindow);
  const std::uint64_t jump = std::min({saved / 2, options.resume_maximum_jump * size, options.maximum_window * size});
  if (jump <= options.initial_window * size) return false;
  start.saved_window = saved;
  start.saved_rtt = static_cast<std::uint64_t>(response.savedRtt * double(second));
  start.jump = jump;
  because(start, "gateway: saved by %u hosts: %.0f bytes, round trip %.2f ms; jump to %.0f bytes",
          unsigned{response.savedReporters}, response.savedWindow, response.savedRtt * 1e3, static_cast<double>(jump));
  return true;
}

bool byJs(const Response &response, const downbeat_estimator_options &options, const downbeat_start_request &request,
          downbeat_host_start &start) {
  if ((response.transferReporters == 0 && request.round_trip == 0) || !byLiss(response, options, request, start))
    return false;
  start.initial_window = static_cast<std::uint32_t>(start.ssthresh / request.segment_size);
  pace(start, DOWNBEAT_PACE_EVEN);
  return true;
}

} // namespace

std::uint32_t spandWindow(const Response &response, std::uint64_t bytes, double mss, bool shift) {
  const auto window = static_cast<std::uint32_t>(std::max(1.0, response.window / mss));
  const auto segments = static_cast<std::uint64_t>(std::ceil(double(bytes) / mss));
  return downbeat_spand(segments, window, static_cast<std::uint32_t>(std::lround(response.acked * 256)), shift);
}

double lissSsthresh(const Response &response, double mss) {
  const double others = std::max(response.connections - 1, 0.0) * response.oldest;
  const auto fixed = [&](double bytes) { return static_cast<std::uint64_t>(bytes / mss * 65536); };
  return static_cast<double>(downbeat_liss(fixed(others), 1, fixed(response.oldest))) / 65536;
}

bool startBy(const Response &response, const downbeat_estimator_options &options, std::uint64_t now,
             const downbeat_start_request &request, downbeat_host_start &start) {
  start = {};
  start.method = request.method;
  start.initial_window = options.initial_window;
  start.round_trip = roundTrip(response, request);
  bool known = false;
  switch (request.method) {
  case DOWNBEAT_LISS: known = byLiss(response, options, request, start); break;
  case DOWNBEAT_JS: known = byJs(response, options, request, start); break;
  case DOWNBEAT_SPAND: known = bySpand(response, options, request, start); break;
  case DOWNBEAT_RESUME: known = byResume(response, options, request, start); break;
  default: break;
  }
  if (!known) return false;
  start.known = 1;
  start.until = now + options.hold;
  return true;
}

} // namespace downbeat::gateway
