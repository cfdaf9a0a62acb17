# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Rules of a case: each rule a sentence when it is broken."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from sim.bench.gap.cases import Case

Rule = Callable[[Case, dict[str, Any]], Iterator[str]]

MAX_RATE_ERROR = 1e-9
LONG_SECONDS = 10  # from here on the wire's byte grid is finer than that


def failures(case: Case, figures: dict[str, Any]) -> list[str]:
    rules: list[Rule] = [_pacer, _rate] if case.command == "pacer" else [_bench, _departures]
    if "gaps" in figures:
        rules.append(_gaps)
    if case.command == "paced":
        rules += [_pacer, _rate] if not case.conflicts else [_pacer]
    return [failure for rule in rules for failure in rule(case, figures)]


def _bench(case: Case, figures: dict[str, Any]) -> Iterator[str]:
    if not figures["all_back"]:
        yield "not all frames left and came back"
    if not figures["clock_right"]:
        yield "the time base is not where the number of clocks says"
    if figures["wrong_frames"]:
        yield f"{figures['wrong_frames']} frames damaged or out of order"


def _departures(case: Case, figures: dict[str, Any]) -> Iterator[str]:
    byte_time, causes = figures["byte_time_ns"], figures["late_by_cause"]
    if figures["early"]:
        yield f"{figures['early']} frames early"
    if figures["max_error_ns"] >= byte_time:
        yield f"an SFD {figures['max_error_ns']:g} ns after its launch"
    if figures["unexpected"]:
        yield f"{figures['unexpected']} frames not at the first byte time at which launch and the frames ahead let them go"
    if figures["late"] != sum(causes.values()):
        yield f"{figures['late']} late at the pins, {causes} by the MAC's counters"
    if figures["late"] and not case.conflicts:
        yield f"{figures['late']} frames late, up to {figures['max_lateness_ns']:g} ns"
    if case.conflicts and not causes["busy"]:
        yield "no frame met another: the case shows nothing"
    # The pacer orders by whole ns: a launch less than one before another's may be granted behind it.
    inverted = figures.get("grants_out_of_order", 0) + figures.get("starts_out_of_order", 0)
    if causes["arrived"] or causes["inverted"] > inverted:
        yield f"late for another cause than a busy wire: {causes}"
    if figures["wrong_departure_stamps"]:
        yield f"{figures['wrong_departure_stamps']} departure stamps are not the SFD's instant"
    if figures["max_receive_stamp_error_ns"] > byte_time:
        yield f"a receive stamp {figures['max_receive_stamp_error_ns']:g} ns off"


def _gaps(case: Case, figures: dict[str, Any]) -> Iterator[str]:
    byte_time, measured = figures["byte_time_ns"], figures["max_measured_gap_error_ns"]
    if figures["max_sent_gap_error_ns"] >= byte_time:
        yield f"a sent gap {figures['max_sent_gap_error_ns']:g} ns off"
    if measured > byte_time:
        yield f"a measured gap {measured:g} ns off"
    if case.options.get("gaps") == "back-to-back" and figures["max_sent_gap_error_ns"]:
        yield "a back-to-back pair with a gap between"
    if not case.options["receive_ppm"] and measured:
        yield f"one clock at both ends, and yet a measured gap {measured:g} ns off"


def _pacer(case: Case, figures: dict[str, Any]) -> Iterator[str]:
    if figures["inexact_grants"]:
        yield f"{figures['inexact_grants']} grants are not the departure before plus its bytes times the spacing"
    if figures["grants_out_of_order"] and figures["max_steady_disorder_ns"] >= 1:
        yield f"{figures['grants_out_of_order']} grants out of order, by up to {figures['max_steady_disorder_ns']:g} ns"


def _rate(case: Case, figures: dict[str, Any]) -> Iterator[str]:
    # First and last SFD each lie on the byte grid: less than a byte time in all.
    grid = 0 if figures["rate_seconds"] >= LONG_SECONDS else figures["byte_time_ns"] * 1e-9 / figures["rate_seconds"]
    if figures["rate_error"] > MAX_RATE_ERROR + grid:
        yield f"rate error {figures['rate_error']:.2g} over {figures['rate_seconds']:.3g} s"
