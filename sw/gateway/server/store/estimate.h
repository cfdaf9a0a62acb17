// SPDX-License-Identifier: BSD-2-Clause-Patent
// The gateway's response about a prefix, from the rows of its reporters
// (docs/decisions/gateway-median-of-reporters.md).
//
//   a reporter's word     the mean of its own reports of the last 5 minutes
//   W, b, w_o, n, saved   the lower median of the reporters' words: a minority cannot raise it, and two that
//                         disagree give the smaller
//   RTT                   the upper median, for the same reason: a longer one paces more slowly
//   n = L + S / w_o       LISS: reporters times the lower median of each one's own
//   w_o's quorum          of three reporters or more at least three, and more than half, have a steady connection:
//                         otherwise a liar that says so would be alone with few, and decide
//   transfers             a reporter counts with its own, but with the upper median of all at most
#pragma once

#include <span>

#include "row.h"
#include "wire/message.h"

namespace downbeat::gateway {

enum class Aggregate {
  median, // of reporters, as above
  mean,   // of all reports alike, as TCP/SPAND has it: any one reporter moves it without bound
};

Response estimate(const Prefix &prefix, std::span<const Row> rows, Nanoseconds now, Aggregate how,
                  std::uint32_t minReports = 1);

} // namespace downbeat::gateway
