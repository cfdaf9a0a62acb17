# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The fit of gaps: the unit is its golden model's, bit for bit; the model is least squares, and the table of paths."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import cocotb
import pytest

from cocotb_tests.bench import generator
from cocotb_tests.bench.runner import run_module
from cocotb_tests.calculation.unit import agrees_with_golden_model, in_turns
from sim.golden.calculation.gap_fit import CALCULATOR, Request, Samples, spacing

SMSS = 1000
MAX_CLOCKS = 4_000
INPUT_GAPS = (1.0, 1.5, 2.0, 4.0)  # y0
Path = Callable[[float], float]


def test_gap_fit() -> None:
    run_module("CalculatorGapfit", __name__)


# ---- the unit


def path(draw: random.Random, y0: int) -> Path:
    share = draw.choice([0.0, 0.25, 0.5, 0.75, 1.0, draw.uniform(0, 1.2)])
    noise = draw.choice([0.0, 0.05, 0.5])
    return lambda x: max(x, y0 + share * x) * draw.uniform(1 - noise, 1 + noise)


def connection(draw: random.Random) -> Iterator[int]:
    """The requests of one connection, now and then one with bits that mean nothing."""
    y0 = draw.choice([1, 2, 1000, 1 << 20, (1 << 20) - 1, draw.randrange(1, 1 << draw.randint(2, 34))])
    through = path(draw, y0)
    requested = Request(y0, round_trip=draw.randrange(1 << 35), cwnd=draw.randrange(SMSS, 1 << 24), segment_size=SMSS)
    yield replace(requested, begins=1).packed()
    for number in range(draw.choice([0, 3, 12, 12, 16, 70])):
        x = y0 * INPUT_GAPS[number % draw.choice([4, 4, 4, 1])] * draw.choice([1, 1, 1, draw.uniform(0.9, 1.1)])
        y = min(round(through(x)), (1 << 36) - 1)
        yield replace(requested, sampled=1, departure_gap=min(round(x), (1 << 36) - 1), arrival_gap=y).packed()
    if draw.random() < 0.2:
        yield draw.getrandbits(CALCULATOR.request_bits)
    yield replace(requested, estimates=1).packed()


@cocotb.test()
async def unit_agrees_with_the_golden_model(dut: Any) -> None:
    await agrees_with_golden_model(dut, CALCULATOR, in_turns(generator(), connection, 2000), MAX_CLOCKS)


# ---- the model


def fitted(y0: int, round_trip: int, path_gap: Callable[[int, int], int], rounds: int = 3) -> tuple[int, int] | None:
    """Estimated gap (in ticks) and window (segments) after so many rounds of the four input gaps."""
    samples = Samples()
    requested = Request(y0, round_trip=round_trip, cwnd=SMSS, segment_size=SMSS, begins=1)
    for turn in range(rounds):
        for gap in (2, 3, 4, 8):
            x = gap * y0 // 2
            sample = replace(requested, departure_gap=x, arrival_gap=path_gap(x, turn), sampled=1)
            assert samples.response(sample.packed()) >> 36 == 1
            requested = replace(requested, begins=0)
    response = samples.response(replace(requested, estimates=1).packed())
    estimate = samples.gap(y0)
    if response >> 36 == 0:
        assert estimate is None
        return None
    assert estimate is not None
    shift = max(0, y0.bit_length() - 20)
    return estimate << shift, response % (1 << 36) // SMSS


# Paths of the thesis: y0, R (both in one unit of time), output gap; estimated gap and ssthresh.
NOISE = (-20, 0, 35)
PATHS: dict[str, tuple[int, int, Callable[[int, int], int], tuple[int, int] | None]] = {
    "free": (166, 440_000, lambda x, _: x, (166, 2650)),
    "1 CBR": (8000, 240_000, lambda x, _: max(x, 8000 + x // 4), (12000, 20)),
    "2 CBR": (8000, 240_000, lambda x, _: max(x, 8000 + x // 2), (16000, 15)),
    "3 CBR": (8000, 240_000, lambda x, _: max(x, 8000 + 3 * x // 4), (32000, 7)),
    "4 CBR, saturated": (8000, 240_000, lambda x, _: x + 8000, None),
    "noisy": (200, 440_000, lambda x, turn: max(x, 200 + 6 * x // 10) + NOISE[turn], (779, 564)),
    "ns": (8_300_000, 240_000_000, lambda x, _: max(x, 8_300_000 + x // 2), (16_600_000, 14)),
}


@pytest.mark.parametrize("name", PATHS)
def test_a_path_gives_its_gap_and_its_window(name: str) -> None:
    y0, round_trip, path_gap, expected = PATHS[name]
    assert fitted(y0, round_trip, path_gap) == expected


@pytest.mark.parametrize(("cwnd", "expected"), [(2, 440_000), (8, 110_000), (16, 55_000), (30, 29_333)])
def test_pairs_are_two_round_trips_over_cwnd_apart(cwnd: int, expected: int) -> None:
    assert spacing(440_000, cwnd * SMSS, SMSS) == expected


def least_squares(points: list[tuple[int, int]]) -> tuple[Fraction, Fraction]:
    """Slope and intercept, exactly."""
    n = len(points)
    x, y = Fraction(sum(p[0] for p in points), n), Fraction(sum(p[1] for p in points), n)
    slope = Fraction(sum((px - x) * (py - y) for px, py in points), sum((px - x) ** 2 for px, _ in points))
    return slope, y - slope * x


@pytest.mark.parametrize("seed", range(20))
def test_the_estimate_is_where_the_fitted_line_meets_y_equals_x(seed: int) -> None:
    """Departure gaps as measured, not as asked; against exact least squares over the classes up to the first that is
    free."""
    draw = random.Random(seed)
    fits = 0
    for _ in range(100):
        y0, share = draw.randrange(1000, 50_000_000), draw.uniform(0.1, 0.9)
        requested = Request(y0, round_trip=10**9, cwnd=SMSS, segment_size=SMSS, begins=1)
        samples, classes = Samples(), [list[tuple[int, int]]() for _ in INPUT_GAPS]
        for number in range(16):
            x = round(INPUT_GAPS[number % 4] * y0 * draw.uniform(0.97, 1.03))
            y = round(max(x, y0 + share * x) * draw.uniform(0.95, 1.05))
            classes[number % 4].append((x, y))
            assert samples.response(replace(requested, departure_gap=x, arrival_gap=y, sampled=1).packed()) >> 36
            requested = replace(requested, begins=0)
        means = [(sum(x for x, _ in points) / 4, sum(y for _, y in points) / 4) for points in classes]
        free = next((index for index, (x, y) in enumerate(means) if y <= 1.05 * x), None)
        used = classes if free is None else classes[: free + 1]
        slope, intercept = least_squares([point for points in used for point in points])
        estimate = samples.gap(y0)
        if free == 0:
            expected = Fraction(y0)
        elif slope >= Fraction(99, 100):
            continue  # parallel, or so nearly that an ulp decides
        else:
            expected = intercept / (1 - slope)
            if free is not None:
                expected = min(expected, Fraction(means[free][0]))
            expected = max(expected, Fraction(y0))
        fits += free != 0
        assert estimate is not None
        shift = max(0, y0.bit_length() - 20)
        assert abs((estimate << shift) - expected) <= expected / 5000 + (2 << shift)
    assert fits > 50


def test_sixteen_samples_of_a_gap_count_and_wrong_gaps_do_not() -> None:
    samples = Samples()
    requested = Request(32_000, sampled=1, cwnd=SMSS, segment_size=SMSS, begins=1)
    for gap, counts in [
        (32_000, 1),
        (30_000, 1),
        (33_999, 1),
        (34_000, 0),
        (29_999, 0),
        (48_000, 1),
        (127_000, 1),
        (0, 0),
    ]:
        assert samples.response(replace(requested, departure_gap=gap, arrival_gap=gap).packed()) >> 36 == counts
        requested = replace(requested, begins=0)
    counted = [
        samples.response(replace(requested, departure_gap=64_000, arrival_gap=1).packed()) >> 36 for _ in range(20)
    ]
    assert counted == [1] * 16 + [0] * 4
