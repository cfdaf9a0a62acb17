// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a connection starts with by the gateway's answer: the estimator's equations on the answer's numbers.
#pragma once

#include <downbeat_estimator.h>

#include "message.h"

namespace downbeat::gateway {

/// The initial window of SPAND, segments; `bytes` of the transfer, 0: not known.
std::uint32_t spandWindow(const Answer &answer, std::uint64_t bytes, double mss, bool shift = true);

/// LISS's ssthresh, segments. n = L + S / w_o connections are one in congestion avoidance and the rest a sum of
/// windows.
double lissSsthresh(const Answer &answer, double mss);

/// The start with its reason. False: the answer says nothing for this method (ISS and MISS need what no report
/// carries).
bool startBy(const Answer &answer, const downbeat_estimator_options &options, std::uint64_t now,
             const downbeat_start_request &question, downbeat_host_start &start);

} // namespace downbeat::gateway
