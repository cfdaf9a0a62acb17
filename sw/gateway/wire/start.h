// SPDX-License-Identifier: BSD-2-Clause-Patent
// Start of a connection by the gateway's response: the estimator's equations on the response's numbers.
#pragma once

#include <downbeat_estimator.h>

#include "message.h"

namespace downbeat::gateway {

/// The initial window of SPAND, segments; `bytes` of the transfer, 0: not known.
std::uint32_t spandWindow(const Response &response, std::uint64_t bytes, double mss, bool shift = true);

/// LISS's ssthresh, segments. n = L + S / w_o connections are one in congestion avoidance and the rest a sum of
/// windows.
double lissSsthresh(const Response &response, double mss);

/// The start with its reason. False: the response says nothing for this method (ISS and MISS need what no report
/// carries).
bool startBy(const Response &response, const downbeat_estimator_options &options, std::uint64_t now,
             const downbeat_start_request &request, downbeat_host_start &start);

} // namespace downbeat::gateway
