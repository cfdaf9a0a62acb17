# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Vegas congestion avoidance: the RTL is its golden model's, bit for bit, and the golden model keeps to Vegas'
rules."""

from __future__ import annotations

import random
from typing import Any

import cocotb
import pytest

from cocotb_tests.bench.runner import run_module
from cocotb_tests.congestion.policy_bench import agrees_with_golden_model
from cocotb_tests.congestion.steady.timed import SMSS, Path
from sim.golden.calculation.queue_share import Request, share
from sim.golden.congestion.seam import Calculated, CongestionEvent, Kind, PolicyResult, Window, of_bytes
from sim.golden.congestion.steady.vegas import MAX_SAMPLES, POLICY, VegasState, argument

MILLISECOND = 1_000_000


def test_vegas() -> None:
    run_module("PolicyVegas", __name__)


@cocotb.test()
async def rtl_agrees_with_the_golden_model(dut: Any) -> None:
    await agrees_with_golden_model(dut, POLICY, near)


def near(draw: random.Random, event: CongestionEvent, window: Window) -> int:
    """Bounds at what the answer says, a credit about to be enough."""
    result = event.calculated.response % (1 << 32) if event.calculated else 0
    bound = min(max(result // event.segment_size + draw.randint(-1, 1), 0), 255)
    credit = max((window.cwnd >> 16) - event.acked_bytes + draw.randint(-1, 1), 0) % (1 << 32)
    return VegasState(
        draw.choice([1, bound]),
        draw.choice([3, bound]),
        draw.random() < 0.5,
        credit,
        left=(event.acked_bytes + draw.randint(-1, 1)) % (1 << 32),
        total=draw.getrandbits(48),
        count=draw.choice([0, 1, MAX_SAMPLES - 1, MAX_SAMPLES]),
        grows=draw.random() < 0.7,
        due=draw.random() < 0.3,
    ).packed()


def judged(window: int, base: int, rtt: int, given: int = VegasState().packed()) -> PolicyResult:
    """After the sample of a window in segments; times in us."""
    requested = Request(window * SMSS, rtt * 1000, 1, base * 1000)
    event = CongestionEvent(Kind.CALCULATED, calculated=Calculated(share(requested)), segment_size=SMSS)
    return POLICY.respond(event, Window(of_bytes(window * SMSS), of_bytes(2 * SMSS)), given)


def verdict(window: int, base: int, rtt: int, given: int = VegasState().packed()) -> int:
    """-1: a segment less; 1: the window grows; 0: neither."""
    after = judged(window, base, rtt, given)
    grows = VegasState.unpacked(after.policy_state).grows
    less = after.window.cwnd == of_bytes((window - 1) * SMSS)
    assert less or after.window.cwnd == of_bytes(window * SMSS)
    return grows - less


# diff is 100 (1 - 100 / RTT) segments of 100, RTT in ms.
@pytest.mark.parametrize(
    ("rtt", "rounded", "plain"),
    [
        (100000, 1, 1),
        (100480, 1, 1),
        (100530, 0, 1),
        (101050, 0, 0),
        (103050, 0, 0),
        (103550, 0, -1),
        (103700, -1, -1),
        (120000, -1, -1),
    ],
)
def test_between_alpha_and_beta_the_window_stays(rtt: int, rounded: int, plain: int) -> None:
    assert verdict(100, 100_000, rtt) == rounded
    assert verdict(100, 100_000, rtt, argument(1, 3, rounded=False)) == plain


def test_the_argument_gives_the_bounds() -> None:
    assert [verdict(100, 100_000, rtt, argument(10, 20)) for rtt in (110_000, 112_000, 124_000, 127_000)] == [
        1,
        0,
        0,
        -1,
    ]


def test_two_segments_stay_and_ssthresh_follows() -> None:
    assert judged(2, 100_000, 900_000_000, argument(1, 1, rounded=False)).window.cwnd == of_bytes(2 * SMSS)
    given = Calculated(90 * SMSS)
    window = Window(of_bytes(100 * SMSS), of_bytes(100 * SMSS))
    event = CongestionEvent(Kind.CALCULATED, calculated=given, segment_size=SMSS)
    assert POLICY.respond(event, window, VegasState().packed()).window == Window(
        of_bytes(99 * SMSS), of_bytes(99 * SMSS)
    )


def test_a_window_too_small_grows_by_a_segment_in_a_round_trip() -> None:
    path = Path(POLICY, 12_500_000, 60 * MILLISECOND, segments=20)
    path.round()
    path.round(0)
    for _ in range(10):
        before = path.cwnd
        path.round()
        assert 0 <= path.cwnd - before <= 1
    assert path.cwnd >= 28


@pytest.mark.parametrize("segments", [10, 200])
@pytest.mark.parametrize(("alpha", "beta"), [(1, 3), (2, 4), (10, 20)])
def test_alpha_to_beta_segments_wait_in_the_queue(segments: int, alpha: int, beta: int) -> None:
    path = Path(POLICY, 1_250_000, 60 * MILLISECOND, argument(alpha, beta), segments=segments)
    path.smallest = 60 * MILLISECOND
    for _ in range(400):
        path.round()
    queue = path.cwnd - 1_250_000 * 0.06 / SMSS
    assert alpha - 1.5 <= queue <= beta + 1.5


def test_the_mean_of_the_round_counts() -> None:
    """ns-2's agent: v_sumRTT_ / v_cntRTT_ at the end of a round."""
    window = Window(of_bytes(9 * SMSS), of_bytes(2 * SMSS))
    state = VegasState(left=SMSS, total=3 * 10**8, count=3).packed()
    event = CongestionEvent(Kind.ACKNOWLEDGED, acked_bytes=SMSS, flight=9 * SMSS, rtt=2 * 10**8, segment_size=SMSS)
    after = POLICY.respond(event, window, state).policy_state
    requested = POLICY.respond(CongestionEvent(Kind.SENT, rtt_minimum=10**8, segment_size=SMSS), window, after)
    assert requested.calculation is not None
    assert Request.unpacked(requested.calculation.request) == Request(9 * SMSS, 5 * 10**8, 4, 10**8)


@pytest.mark.parametrize(("kind", "segments"), [(Kind.LOSS, 30), (Kind.TIMEOUT, 20)])
def test_a_loss_leaves_three_quarters_and_a_timeout_a_half(kind: Kind, segments: int) -> None:
    event = CongestionEvent(kind, flight=40 * SMSS, segment_size=SMSS)
    after = POLICY.respond(event, Window(of_bytes(40 * SMSS), 0), VegasState(total=7, count=1, grows=True).packed())
    assert after.window.ssthresh == of_bytes(segments * SMSS)
    assert VegasState.unpacked(after.policy_state) == VegasState()


@pytest.mark.parametrize(("alpha", "beta"), [(0, 3), (4, 3), (1, 256)])
def test_what_no_argument_can_say_is_refused(alpha: int, beta: int) -> None:
    with pytest.raises(ValueError, match="alpha from 1 to beta"):
        argument(alpha, beta)


def float_error(draw: random.Random) -> float:
    """The share of verdicts that differ from diff in floats, more than a byte from a bound."""
    wrong = 0
    for _ in range(5000):
        window, base = draw.randrange(4, 5000), draw.randrange(1000, 300_000)
        rtt = round(base * (1 + draw.uniform(0, 6) / window))
        diff = window * (rtt - base) / rtt
        if min(abs(diff - 0.5), abs(diff - 3.5)) < 2 / SMSS:
            continue
        wrong += verdict(window, base, rtt) != (diff < 0.5) - (diff >= 3.5)
    return wrong / 5000
