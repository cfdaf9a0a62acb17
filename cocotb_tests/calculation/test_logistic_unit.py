# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The logistic unit: its RTL is the golden model, bit for bit, and the golden model keeps to Eq. 10."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import Any

import cocotb
import pytest

from cocotb_tests.bench import Beat, generator
from cocotb_tests.bench.runner import run_module
from cocotb_tests.calculation.flow_bench import agrees, latency
from sim.golden.calculation.logistic_draws import draw_beyond, draw_request, epsilon, error, exact
from sim.golden.calculation.logistic_window import LogisticRequest, logistic_window

REQUESTS = 5000
# By module, clocks from request to request.
SPACING = {"LogisticUnit": 1, "LogisticUnitSingle": 425}
CLOCKS = {"LogisticUnit": 126, "LogisticUnitSingle": 425}
# The tolerance: 2^-16 of the window, or one unit of the last place.
TOLERANCE = 2**-16


@pytest.mark.parametrize("module", SPACING)
def test_logistic_unit(module: str) -> None:
    run_module(module, __name__, label=module)


def _beat(requested: LogisticRequest) -> Beat:
    return {
        "capacity": requested.capacity,
        "available": requested.available,
        "roundTrip": requested.round_trip,
        "elapsed": requested.elapsed,
        "window": requested.window,
        "epsilon": requested.epsilon,
        "gamma": requested.gamma,
    }


@cocotb.test()
async def answers_are_those_of_the_golden_model(dut: Any) -> None:
    draw = generator()
    requested = [draw_request(draw) if draw.random() < 0.8 else draw_beyond(draw) for _ in range(REQUESTS)]
    cases = [(_beat(request), {"payload": logistic_window(request)}) for request in requested]
    await agrees(dut, cases[: REQUESTS // SPACING[dut._name] + 500], SPACING[dut._name])


@cocotb.test()
async def a_response_comes_so_many_clocks_after_the_request(dut: Any) -> None:
    assert await latency(dut, SPACING[dut._name]) == CLOCKS[dut._name]


def test_the_error_is_below_the_tolerance_over_the_whole_range() -> None:
    draw = generator()
    for _ in range(5000):
        requested = draw_request(draw)
        window = exact(requested).window
        share, units = error(logistic_window(requested), window)
        assert share < TOLERANCE or units <= 1 or window >= 1 << 32, requested


# K of 100 Mb/s and tau of 60 ms: w0, t (us), A, and Eq. 10 in floats.
PUBLISHED = [
    (3000, 1000, 12_500_000, 3005.83),
    (15_000, 10_000, 12_500_000, 15289.35),
    (300_000, 10_000, 12_500_000, 303516.75),
    (750_000, 60_000, 12_500_000, 750000.00),
    (750_000, 60_000, 6_250_000, 713611.69),
    (750_000, 0, 6_250_000, 750000.00),
    (15_000, 9_000_000, 6_250_000, 411798.70),
]


@pytest.mark.parametrize(("own", "microseconds", "available", "window"), PUBLISHED)
def test_the_windows_of_the_specification(own: int, microseconds: int, available: int, window: float) -> None:
    requested = _request(own=own, available=available, elapsed=microseconds * 1000)
    assert logistic_window(requested) / 65536 == pytest.approx(window, rel=TOLERANCE, abs=0.005)


def _request(own: float, available: float, elapsed: int) -> LogisticRequest:
    """At 100 Mb/s and 60 ms: bytes, bytes per second, ns."""
    return LogisticRequest(12_500_000 << 10, round(available * 1024), 60_000_000, elapsed, round(own * 65536))


def test_no_time_changes_nothing() -> None:
    draw = random.Random(1)
    for _ in range(1000):
        requested = replace(draw_request(draw), elapsed=0)
        assert abs(logistic_window(requested) - requested.window) <= max(1, requested.window >> 33)


@pytest.mark.parametrize("step", [1_000, 30_000, 1_000_000])
def test_many_steps_are_one(step: int) -> None:
    """ns. However often it is asked, from two segments to 99 % takes what Eq. 12 says, within 0.1 %."""
    window, target = 3000.0, 750_000.0
    equation = math.log(0.99 / 0.01 * (target - window) / window) / 1.95 * 1e9
    requested, elapsed = _request(own=window, available=12_500_000, elapsed=step), 0
    while requested.window < 0.99 * target * 65536:
        # Short steps where they are hardest, at both ends, for ten thousand of them each; long ones in between.
        short = step if elapsed < 10_000 * step or requested.window > 0.989 * target * 65536 else 1_000_000
        requested = replace(requested, window=logistic_window(replace(requested, elapsed=short)))
        elapsed += short
    assert elapsed == pytest.approx(equation, rel=0.001)


@pytest.mark.parametrize(("flows", "windows", "queue"), [(1, 1.0, 0.0), (2, 1.0526, 0.0526), (5, 1.0870, 0.0870)])
def test_flows_leave_the_queue_of_equation_17(flows: int, windows: float, queue: float) -> None:
    """Each gets the link's K and what the others leave of it, by their windows; sums are shares of K tau."""
    capacity, product = 12_500_000, 750_000
    own = [3000.0 * (1 + index) for index in range(flows)]
    for _ in range(4000):
        total = sum(own)
        own = [
            logistic_window(_request(own=w, available=max(capacity - (total - w) / 0.06, 0), elapsed=50_000_000))
            / 65536
            for w in own
        ]
    assert sum(own) / product == pytest.approx(windows, abs=1e-4)
    assert sum(own) / product - 1 == pytest.approx(queue, abs=1e-4)


@pytest.mark.parametrize("gamma", [1, 320, 576, 620])
@pytest.mark.parametrize("times", [1, 64, 320, 640, 1280, 2560, 8355, 65535])
def test_epsilon_and_gamma_are_equation_10_s(times: int, gamma: int) -> None:
    """Iguchi, 4.2.2 and p. 20: eps up to pi / 2 over the delay, which is 26 at 60 ms."""
    requested = replace(_request(3000, 6_250_000, 60_000_000), epsilon=times, gamma=gamma)
    taken = float(epsilon(requested))
    assert taken == pytest.approx(times / 320, rel=2e-6, abs=3.2e-6)
    rate = 1 - gamma / 640 / 2
    growth, target = math.exp(taken * 0.06 * rate), 750_000 * rate
    assert logistic_window(requested) / 65536 == pytest.approx(
        3000 * growth * target / (3000 * (growth - 1) + target), rel=TOLERANCE
    )


MEGABIT = 125_000  # bytes/s
# Fig. 17, Mb/s: a bottleneck that two flows share, each behind an access link of its own (10 and 20 Mb/s, or what the
# bottleneck has), and what they get of it. Where the bottleneck is short, Eq. 8 leaves both the same distance from K.
SHARES = [
    (5, 5, 5, 2.63, 2.63),
    (8, 8, 8, 4.21, 4.21),
    (12, 10, 12, 5.26, 7.26),
    (15, 10, 15, 5.26, 10.26),
    (18, 10, 18, 5.26, 13.26),
    (20, 10, 20, 5.26, 15.26),
    (25, 10, 20, 7.63, 17.63),
    (30, 10, 20, 10.00, 20.00),
]


@pytest.mark.parametrize(("bottleneck", "one", "other", "of_one", "of_other"), SHARES)
def test_two_flows_share_a_bottleneck_as_equation_8_says(
    bottleneck: int, one: int, other: int, of_one: float, of_other: float
) -> None:
    """A is what the other leaves. Not in proportion to K, as Eq. 28 has it: 6 and 9 Mb/s of 15."""
    tau = 0.06
    capacities, windows = (one * MEGABIT, other * MEGABIT), [3000.0, 3000.0]
    for _ in range(3000):
        rates = [window / tau for window in windows]
        windows = [
            logistic_window(
                LogisticRequest(
                    capacity << 10,
                    min(max(round((bottleneck * MEGABIT - theirs) * 1024), 0), capacity << 10),
                    round(tau * 1e9),
                    50_000_000,
                    round(window * 65536),
                )
            )
            / 65536
            for capacity, theirs, window in zip(capacities, reversed(rates), windows, strict=True)
        ]
    assert [window / tau / MEGABIT for window in windows] == pytest.approx([of_one, of_other], abs=0.006)
