# SPDX-License-Identifier: BSD-2-Clause-Patent
"""CUBIC's growth: the RTL is its golden model's, bit for bit; the model keeps to RFC 9438's equations within bounds."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import cocotb
import pytest

from cocotb_tests.bench import StreamSink, StreamSource, generator, start
from cocotb_tests.bench.runner import run_module
from sim.golden.calculation.cubic_growth import (
    CALCULATOR,
    MAX_ACKED,
    Growth,
    Request,
    cube_root,
    cubic,
    epoch_root,
    grow,
)

REQUESTS = 400
MAX_CLOCKS = 7_000
TICK = Fraction(1024, 10**9)  # s
C = Fraction(2, 5)
GIBIBYTE = 1 << 30


def test_cubic_growth() -> None:
    run_module("CalculatorCubicgrowth", __name__)


def request(draw: random.Random) -> Request:
    """Windows from a segment to 1 GiB, W_max near them, any time from it; a window's worth of bytes or any."""
    segment = draw.choice([64, 536, 1460, 8960])
    cwnd = min(max(draw.getrandbits(draw.randint(17, 46)), segment << 16), (1 << 46) - 1)
    w_max = draw.choice([cwnd >> 16, int((cwnd >> 16) / 0.7), draw.getrandbits(30)])
    t_minus_k = draw.getrandbits(draw.randint(1, 30)) * draw.choice([1, -1])
    acked = draw.choice([1, segment, 2 * segment, cwnd >> 16, MAX_ACKED, draw.getrandbits(18)])
    w_est = draw.choice([cwnd, max(cwnd + draw.randint(-(1 << 20), 1 << 20), 0), draw.getrandbits(46)])
    return Request(
        root=draw.random() < 0.2,
        reno=draw.random() < 0.5,
        segment_size=segment,
        acked=min(acked, MAX_ACKED),
        round_trip=draw.getrandbits(draw.randint(1, 26)),
        t_minus_k=t_minus_k,
        w_max=min(w_max, (1 << 30) - 1),
        cwnd=cwnd,
        w_est=min(w_est, (1 << 46) - 1),
    )


@cocotb.test()
async def rtl_agrees_with_the_golden_model(dut: Any) -> None:
    source, sink, draw = StreamSource(dut, "request"), StreamSink(dut, "response"), generator()
    await start(dut)
    unit, expected = CALCULATOR.unit(), []
    for _ in range(REQUESTS):
        requested = request(draw)
        source.put({"flow": 3, "operands": requested.packed()})
        expected.append((unit(requested.packed()), requested))
    for response, requested in expected:
        assert (await sink.receive(MAX_CLOCKS))["payload"] == response, str(requested)


def test_a_request_comes_back_as_it_was_packed() -> None:
    draw = random.Random(0)
    for _ in range(100):
        requested = request(draw)
        assert Request.unpacked(requested.packed()) == requested


def equation(requested: Request, t_minus_k: int) -> tuple[Fraction, Fraction]:
    """W_cubic (RFC 9438 equation 1) and the size of its cubic term, bytes, exact."""
    seconds = t_minus_k * TICK
    term = C * seconds * seconds * seconds * requested.segment_size
    window: Fraction = min(max(requested.w_max + term, Fraction(0)), Fraction(GIBIBYTE))
    return window, abs(term)


@pytest.mark.parametrize("seed", range(5))
def test_the_window_is_the_equation_within_half_a_byte_and_a_ten_millionth(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(2000):
        requested = request(draw)
        exact, term = equation(requested, requested.t_minus_k)
        error = abs(Fraction(cubic(requested, requested.t_minus_k), 65536) - exact)
        assert error <= Fraction(1, 2) + min(term, Fraction(GIBIBYTE)) / 10**7, str(requested)


@pytest.mark.parametrize("seed", range(5))
def test_growth_is_the_equation_for_each_byte_within_two_65536ths(seed: int) -> None:
    """RFC 9438 4.2 to 4.5: (target - cwnd) / cwnd for each byte; alpha SMSS / cwnd for W_est."""
    draw = random.Random(seed)
    for _ in range(2000):
        requested = request(draw)
        growth, unit = grow(requested), Fraction(1, 65536)
        cwnd = Fraction(requested.cwnd, 65536)
        target = min(
            max(Fraction(cubic(requested, requested.t_minus_k + requested.round_trip), 65536), cwnd),
            cwnd * Fraction(3, 2),
        )
        acked = min(requested.acked, requested.cwnd >> 16)
        assert -unit * 2 < growth.increase * unit - (target - cwnd) * acked / cwnd <= 0
        alpha = 1 if requested.reno else Fraction(9, 17)
        exact = alpha * requested.segment_size * acked / cwnd
        assert abs(growth.w_est_increase * unit - exact) <= unit + exact / 50000
        now = cubic(requested, requested.t_minus_k)
        assert growth.friendly == (now < requested.w_est + growth.w_est_increase)


@pytest.mark.parametrize("seed", range(5))
def test_k_is_the_cube_root_within_sixteen_ticks(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(2000):
        requested = request(draw)
        segments = max(requested.w_max - (requested.cwnd >> 16), 0) / requested.segment_size
        assert -1 <= (segments / 0.4) ** (1 / 3) / float(TICK) - epoch_root(requested) < 17


@pytest.mark.parametrize("value", [0, 1, 7, 8, 26, 27, (1 << 75) - 1])
def test_the_root_is_rounded_down(value: int) -> None:
    root = cube_root(value)
    assert root**3 <= value < (root + 1) ** 3


def test_at_w_max_nothing_grows_but_w_est() -> None:
    """The plateau: t = K, no round trip; cwnd is W_max."""
    requested = Request(
        root=0, reno=1, segment_size=1460, acked=1460, w_max=146000, cwnd=146000 << 16, w_est=146000 << 16
    )
    assert grow(requested) == Growth(increase=0, w_est_increase=(1460 << 16) // 100, friendly=1)
