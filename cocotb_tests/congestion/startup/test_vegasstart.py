# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Vegas slow start: the RTL is its golden model's, bit for bit, and the golden model keeps to Vegas' rules."""

from __future__ import annotations

import random
from typing import Any

import cocotb
import pytest

from cocotb_tests.bench.runner import run_module
from cocotb_tests.congestion.policy_bench import agrees_with_golden_model
from cocotb_tests.congestion.startup.conversation import Conversation
from sim.golden.calculation.queue_share import Request, share
from sim.golden.congestion.seam import Calculated, CongestionEvent, Kind, ProbeAck, Window, of_bytes
from sim.golden.congestion.startup.vegasstart import MAX_SAMPLES, POLICY, VegasstartState, argument

SMSS = 1000
MICROSECOND = 1000


def test_vegasstart() -> None:
    run_module("PolicyVegasstart", __name__)


@cocotb.test()
async def rtl_agrees_with_the_golden_model(dut: Any) -> None:
    await agrees_with_golden_model(dut, POLICY, near)


def near(draw: random.Random, event: CongestionEvent, window: Window) -> int:
    """Rounds about to end, gamma at what the answer says, the last sample that counts."""
    result = event.calculated.response % (1 << 32) if event.calculated else 0
    return VegasstartState(
        gamma=draw.choice([0, 1, min(result // event.segment_size, 255)]),
        round=draw.random() < 0.5,
        left=(event.acked_bytes + draw.randint(-1, 1)) % (1 << 32),
        total=draw.getrandbits(48),
        count=draw.choice([0, 1, MAX_SAMPLES - 1, MAX_SAMPLES]),
        grows=draw.random() < 0.5,
        due=draw.random() < 0.3,
    ).packed()


def opened(segments: int, given: int = 0) -> Conversation:
    return Conversation(
        POLICY, segment_size=SMSS, initial_window=segments, ssthresh=100_000, startup_policy_state=given
    )


def round_of(connection: Conversation, rtt: int) -> None:
    """A window of ACKs of a segment, all sampled; us."""
    window = int(connection.segments_of_cwnd())
    for _ in range(window):
        flight = int(connection.segments_of_cwnd()) * SMSS
        if connection.window.cwnd >= connection.window.ssthresh:
            return
        connection.see(
            CongestionEvent(
                Kind.ACKNOWLEDGED,
                acked_bytes=SMSS,
                flight=flight,
                probe=ProbeAck(begins=True, round_trip=rtt * MICROSECOND),
                rtt=rtt * MICROSECOND,
                segment_size=SMSS,
            )
        )


def test_the_window_doubles_in_every_other_round() -> None:
    connection, sizes = opened(4), list[float]()
    connection.see(  # the first ACK marks
        CongestionEvent(Kind.ACKNOWLEDGED, acked_bytes=SMSS, flight=4 * SMSS, rtt=10**8, segment_size=SMSS)
    )
    for _ in range(5):
        round_of(connection, 100_000)
        sizes.append(connection.segments_of_cwnd())
    grown = [after / before for before, after in zip([4, *sizes], sizes, strict=False)]
    assert sizes[-1] > 12
    assert sum(growth > 1.5 for growth in grown) >= 2 and sum(growth < 1.3 for growth in grown) >= 2


@pytest.mark.parametrize(
    ("segments", "rtt", "plain"),
    # Vectors of the specification: base 100 ms. ns-2 rounds, so it leaves from 1.5 segments on: never here.
    [(16, 106_000, False), (16, 108_000, True), (64, 101_000, False), (64, 102_000, True)],
)
def test_more_than_gamma_segments_in_the_queue_end_start_up(segments: int, rtt: int, plain: bool) -> None:
    requested = Request(segments * SMSS, rtt * MICROSECOND, 1, 100_000 * MICROSECOND)
    given = Calculated(share(requested), of_startup=True)
    window = Window(of_bytes(segments * SMSS), of_bytes(1 << 20))
    for rounded in (False, True):
        event = CongestionEvent(Kind.CALCULATED, calculated=given, segment_size=SMSS)
        after = POLICY.respond(event, window, argument(1, rounded=rounded)).window
        if plain and not rounded:
            assert after == Window(of_bytes(segments * SMSS * 7 // 8), of_bytes(2 * SMSS))
        else:
            assert after == window


def test_on_a_path_it_leaves_before_the_queue_is_large() -> None:
    """100 segments fit; slow start would pass 200."""
    connection = opened(4)
    for _ in range(30):
        round_of(connection, max(100_000, int(connection.segments_of_cwnd()) * 1000))
    assert connection.segments_of_ssthresh() == 2
    assert 50 < connection.segments_of_cwnd() < 180


def test_the_mean_of_the_round_counts() -> None:
    state = VegasstartState(left=SMSS, total=3 * 10**8, count=3).packed()
    event = CongestionEvent(
        Kind.ACKNOWLEDGED, starting_up=True, acked_bytes=SMSS, flight=9 * SMSS, rtt=2 * 10**8, segment_size=SMSS
    )
    after = VegasstartState.unpacked(POLICY.respond(event, Window(of_bytes(9 * SMSS), 1 << 40), state).policy_state)
    assert (after.due, after.total, after.count, after.grows) == (1, 5 * 10**8, 4, 1)
    requested = POLICY.respond(
        CongestionEvent(Kind.SENT, rtt_minimum=10**8, segment_size=SMSS), Window(of_bytes(9 * SMSS), 1), after.packed()
    ).calculation
    assert requested is not None
    assert Request.unpacked(requested.request) == Request(9 * SMSS, 5 * 10**8, 4, 10**8)


def test_a_window_that_is_not_used_does_not_grow() -> None:
    window, state = Window(of_bytes(50 * SMSS), of_bytes(100 * SMSS)), VegasstartState(left=9 * SMSS, grows=1).packed()
    for flight, grown in ((48, 1), (47, 0)):
        event = CongestionEvent(
            Kind.ACKNOWLEDGED, starting_up=True, acked_bytes=SMSS, flight=flight * SMSS, segment_size=SMSS
        )
        assert POLICY.respond(event, window, state).window.cwnd == window.cwnd + of_bytes(grown * SMSS)


@pytest.mark.parametrize("gamma", [0, 256])
def test_what_no_argument_can_say_is_refused(gamma: int) -> None:
    with pytest.raises(ValueError, match="gamma from 1 to 255"):
        argument(gamma)


def float_error(draw: random.Random) -> float:
    """The share of exits that differ from diff >= gamma + 1/2 in floats, more than a byte from that."""
    wrong = 0
    for _ in range(5000):
        window, base = draw.randrange(4, 5000), draw.randrange(1000, 300_000)
        rtt = round(base * (1 + draw.uniform(0, 3) / window))
        diff = window * (rtt - base) / rtt
        if abs(diff - 1.5) < 2 / SMSS:
            continue
        given = Calculated(share(Request(window * SMSS, rtt * 1000, 1, base * 1000)), of_startup=True)
        event = CongestionEvent(Kind.CALCULATED, calculated=given, segment_size=SMSS)
        old = Window(of_bytes(window * SMSS), of_bytes(1 << 30))
        wrong += (POLICY.respond(event, old, VegasstartState().packed()).window != old) != (diff >= 1.5)
    return wrong / 5000
