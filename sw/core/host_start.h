// SPDX-License-Identifier: BSD-2-Clause-Patent
// An estimate of the host as the start of a connection (docs/reference/congestion.md, host start).
#pragma once

#include <cstdint>

#include "downbeat_estimator.h"
#include "downbeat_types.h"

namespace downbeat {

/// Puts an estimate into the parameters of a connection that opens, or that the command `start` restarts. `until` of
/// the estimate is ns of the core's clock; `segmentSize` is the core's, bytes.
///
/// The instant `until` goes with every estimate: after it the core begins with slow start to ssthresh. So does the
/// round trip, which makes the RTO until the connection has a sample of its own. A window goes with its pace, also
/// where it is smaller than the initial window. Without an ssthresh of the estimate the parameters' own stays. Saved
/// parameters choose the start-up policy `resume` (RFC 9959), with the lengths in whole segments; the rate and the time
/// of drops choose `miss`.
///
/// False, and nothing has changed: there is no estimate, or the saved parameters are less than a segment.
bool applyStart(downbeat_parameters &parameters, const downbeat_host_start &start, std::uint32_t segmentSize);

} // namespace downbeat
