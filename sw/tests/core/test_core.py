# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Parameters and estimates as a core's command has them, by tables; and the limits that the RTL's layout gives."""

from __future__ import annotations

import ctypes
import os
import random
import subprocess
from ctypes import POINTER, byref, c_char_p, c_int, c_uint32, c_uint64, c_void_p
from typing import Any

import pytest
from downbeat_toe.estimator.structures import CStart
from downbeat_toe.structures import Parameters, PathReport

from sw.api import limits
from sw.api.model import ROOT

INCLUDES = ("sw", "sw/include", "sw/estimator/include")
NONE, EVEN, BUCKET = 0, 1, 2
MSS = 1460
SEED = int(os.environ.get("SEED") or 1)
NS = 1 << 16  # units of a gap
CALLS = """
#include "core/host_start.h"
#include "core/parameters.h"
#include "core/path_counts.h"
extern "C" int apply(downbeat_parameters *parameters, const downbeat_host_start *start, uint32_t mss) {
  return downbeat::applyStart(*parameters, *start, mss);
}
extern "C" const char *problem(const downbeat_parameters *parameters) {
  static std::string text;
  return (text = downbeat::rangeProblem(*parameters)).c_str();
}
extern "C" void take(const downbeat_path_report *reports, const uint64_t *now, downbeat_path_report *taken, int count) {
  downbeat::PathCounts counts;
  for (int each = 0; each < count; ++each) taken[each] = counts.take(reports[each], now[each]);
}
extern "C" void complete(downbeat_parameters *parameters) { *parameters = downbeat::withDefaults(*parameters); }
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    place = tmp_path_factory.mktemp("core")
    (place / "calls.cpp").write_text(CALLS)
    sources = [place / "calls.cpp", *sorted((ROOT / "sw" / "core").glob("*.cpp"))]
    command = ["g++", "-std=c++20", "-O1", "-fPIC", "-shared", *(f"-I{ROOT / path}" for path in INCLUDES)]
    subprocess.run([*command, *sources, "-o", place / "core.so"], check=True, timeout=300)
    made = ctypes.CDLL(str(place / "core.so"))
    made.apply.restype, made.apply.argtypes = c_int, [POINTER(Parameters), POINTER(CStart), c_uint32]
    made.problem.restype, made.problem.argtypes = c_char_p, [POINTER(Parameters)]
    made.take.restype, made.take.argtypes = None, [c_void_p, c_void_p, c_void_p, c_int]
    made.complete.restype, made.complete.argtypes = None, [POINTER(Parameters)]
    return made


def as_dictionary(parameters: Parameters) -> dict[str, Any]:
    start = parameters.start
    return {
        "startup": parameters.startup,
        "argument": tuple(parameters.startup_argument),
        "ssthresh": parameters.ssthresh,
        "start": (start.window, start.pace, start.gap, start.until),
        "round_trip": start.round_trip,
    }


UNCHANGED: dict[str, Any] = {"startup": None, "argument": (0, 0), "ssthresh": 70_000, "start": (0, 0, 0, 0)}
UNCHANGED |= {"round_trip": 0}
SAVED = {"known": 1, "until": 9, "saved_window": 100 * MSS + 7, "saved_rtt": 40_000_000, "jump": 50 * MSS + 7}
STARTS = {
    "no estimate": ({"initial_window": 10, "ssthresh": 0}, None),
    "ssthresh alone (LISS, ISS) expires too": (
        {"known": 1, "initial_window": 10, "ssthresh": 30_000, "until": 9, "round_trip": 40_000_000},
        {"ssthresh": 30_000, "start": (0, 0, 0, 9), "round_trip": 40_000_000},
    ),
    "a paced window (JS)": (
        {"known": 1, "initial_window": 22, "ssthresh": 32_120, "pace": EVEN, "gap": 4_545, "until": 9},
        {"ssthresh": 32_120, "start": (22, EVEN, 4_545 * NS, 9)},
    ),
    "the rate of drops, the next one's time, a bound (MISS): the core computes the window": (
        {"known": 1, "initial_window": 1, "ssthresh": 13_333, "until": 9}
        | {"miss_rate": 3 << 8 | 5, "miss_next": 1 << 48 | 8_000_000_000, "miss_cap": 40},
        {
            "startup": b"miss",
            "argument": ((3 << 8 | 5) | (8_000_000_000 << 24) & (1 << 64) - 1, 8_000_000_000 >> 40 | 40 << 8),
            "ssthresh": 13_333,
            "start": (0, 0, 0, 9),
        },
    ),
    "a window below the initial one (SPAND) counts": (
        {"known": 1, "initial_window": 3, "ssthresh": 4_380, "pace": BUCKET, "gap": 33_333_333, "until": 9},
        {"ssthresh": 4_380, "start": (3, BUCKET, 33_333_333 * NS, 9)},
    ),
    "without an ssthresh the connection's own stays": (
        {"known": 1, "initial_window": 22, "pace": EVEN, "gap": 1},
        {"start": (22, EVEN, NS, 0)},
    ),
    "what does not fit is the largest that does": (
        {"known": 1, "initial_window": 70_000, "ssthresh": 1 << 40, "pace": EVEN, "gap": 1 << 60, "until": 1 << 48 | 9}
        | {"round_trip": 1 << 50},
        {"ssthresh": 1 << 30, "start": (65_535, EVEN, (1 << 52) - NS, 9), "round_trip": (1 << 36) - 1},
    ),
    "saved parameters in whole segments (RFC 9959), until they are too old": (
        SAVED,
        {
            "startup": b"resume",
            "argument": (100 | 50 << 16 | (40_000_000 & 0xFFFFFFFF) << 32, 0),
            "start": (0, 0, 0, 9),
        },
    ),
    "saved less than a segment": (SAVED | {"saved_window": MSS - 1}, None),
    "a jump of less than a segment": (SAVED | {"jump": MSS - 1}, None),
    "no saved round trip": (SAVED | {"saved_rtt": 0}, None),
}


@pytest.mark.parametrize("name", STARTS)
def test_an_estimate_becomes_a_start(library: ctypes.CDLL, name: str) -> None:
    given, expected = STARTS[name]
    parameters = Parameters(ssthresh=70_000)
    assert library.apply(byref(parameters), byref(CStart(**given)), MSS) == (expected is not None)
    assert as_dictionary(parameters) == UNCHANGED | (expected or {})


def largest() -> dict[str, int]:
    """Each limit of the header by its member."""
    rows = (
        line.split("each(")[1].split(")")[0].split(", ")
        for line in (ROOT / limits.HEADER).read_text().splitlines()
        if "  each(" in line
    )
    return {member: int(value.rstrip("u")) for member, _, value in rows}


@pytest.mark.parametrize("member", largest())
def test_a_parameter_above_its_limit_is_refused(library: ctypes.CDLL, member: str) -> None:
    limit = largest()[member]
    parameters = Parameters()
    structure = parameters.start if member.startswith("start.") else parameters
    setattr(structure, member.removeprefix("start."), limit)
    assert library.problem(byref(parameters)) == b""
    if limit == (1 << 32) - 1:
        return  # as wide as its C type
    setattr(structure, member.removeprefix("start."), limit + 1)
    assert library.problem(byref(parameters)) == f"{member} is {limit + 1}: use at most {limit}".encode()


def test_zero_stands_for_a_default(library: ctypes.CDLL) -> None:
    parameters = Parameters()
    library.complete(byref(parameters))
    assert (parameters.initial_window, parameters.ssthresh) == (10, 1 << 30)
    parameters = Parameters(initial_window=2, ssthresh=5)
    library.complete(byref(parameters))
    assert (parameters.initial_window, parameters.ssthresh) == (2, 5)


def taken(library: ctypes.CDLL, *reports: tuple[PathReport, int]) -> list[PathReport]:
    """Each report with the instant of the estimator's clock at which it came, as the estimator takes it."""
    count = len(reports)
    result = (PathReport * count)()
    given = (PathReport * count)(*(report for report, _ in reports))
    library.take(given, (c_uint64 * count)(*(now for _, now in reports)), result, count)
    return list(result)


def test_counters_count_on_where_the_cores_wrap(library: ctypes.CDLL) -> None:
    first = PathReport(acked=(1 << 48) - 5, acks=(1 << 24) - 2)
    second = PathReport(acked=3, acks=1, cwnd=7, losses=2)
    _, last = taken(library, (first, 10), (second, 20))
    assert (last.acked, last.acks, last.cwnd, last.losses) == ((1 << 48) + 3, (1 << 24) + 1, 7, 2)


def test_paths_are_taken_as_by_counters_without_end(library: ctypes.CDLL) -> None:
    """Drawn steps: the core's counters and clock come round, its clock differs, and a loss has no earlier instant than
    the first report."""
    print(f"seed {SEED}")
    draw = random.Random(SEED)
    for _ in range(300):
        acked, acks = draw.randrange(1 << 48), draw.randrange(1 << 24)
        core, now = draw.choice((0, (1 << 48) - 1000, draw.randrange(1 << 48))), draw.randrange(1 << 50)
        begun, lost = now, core
        reports, expected = [], []
        for _ in range(draw.randrange(1, 20)):
            report = PathReport(acked=acked % (1 << 48), acks=acks % (1 << 24), cwnd=draw.randrange(1 << 32))
            report.time, report.loss_time = core % (1 << 48), lost % (1 << 48)
            reports.append((report, now))
            expected.append((acked, acks, now, max(now - (core - lost), begun), report.cwnd))
            acked += draw.choice((0, 1, draw.randrange(1 << 47)))
            acks += draw.choice((0, 1, draw.randrange(1 << 23)))
            step = draw.choice((0, 1, 500, 10**9, 10**12))
            core, now = core + step, now + step + draw.choice((0, 0, 7))
            lost = core - draw.choice((0, 1, 400, 10**6)) if draw.random() < 0.3 else lost
        found = [(each.acked, each.acks, each.time, each.loss_time, each.cwnd) for each in taken(library, *reports)]
        assert found == expected


LOSSES = {
    "by the same clock": ((900, 900), (1_000, 970, 1_000), 970),
    "by a clock ahead of the core's": ((900, 5_900), (1_000, 970, 6_000), 5_970),
    "where the core's clock wraps": ((0, 100), (20, (1 << 48) - 10, 200), 170),
    "not before the first report": ((900, 900), (1_000, 800, 1_000), 900),
}


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_has_its_time(library: ctypes.CDLL, name: str) -> None:
    (first, came), (time, loss_time, now), expected = LOSSES[name]
    reports = ((PathReport(time=first), came), (PathReport(time=time, loss_time=loss_time, losses=1), now))
    last = taken(library, *reports)[-1]
    assert (last.time, last.loss_time) == (now, expected)
