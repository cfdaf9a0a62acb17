// SPDX-License-Identifier: BSD-2-Clause-Patent
// Measured cases: each runs to its end and says what it showed.
#pragma once

#include "figures.h"
#include "options.h"

namespace gap {

/// Launch times one after another, as close as frames can stand (--spare: ns at most between them). --frames --length
void schedule(const Options &options, Bench &bench, Object &result);
/// Up to --burst frames want to leave at once, or while another holds the wire. --frames --length
void conflict(const Options &options, Bench &bench, Object &result);
/// Pairs: --gaps=back-to-back by `afterPrevious`, --gaps=timed from the shortest that fits to 10 s by `at`. --pairs
/// --length
void pairs(const Options &options, Bench &bench, Object &result);
/// Trains of 2 to 64 frames with equal gaps, or back to back. --trains --length
void trains(const Options &options, Bench &bench, Object &result);
/// --flows flows for --seconds. --phases=apart: each of --rate payload b/s, none ever meets another's frame;
/// --phases=any: rates from half as much to half as much again. --length
void paced(const Options &options, Bench &bench, Object &result);
/// The same without frames: the pacer's grants alone.
void pacer(const Options &options, Bench &bench, Object &result);

/// Frames from standard input, a line "id bytes instant" each, in order: bytes with FCS; 2^-16 ns. `launch` sends them
/// at these instants and says when their SFDs left; to `receive` they come, and it says how it stamped them. The
/// result's `stamps` are [id, 2^-16 ns].
void launch(const Options &options, Bench &bench, Object &result);
void receive(const Options &options, Bench &bench, Object &result);

} // namespace gap
