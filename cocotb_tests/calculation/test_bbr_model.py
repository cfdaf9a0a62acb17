# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The unit of BBR is its golden model's, bit for bit. sim/golden/congestion/bbr has the draft beside the model."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import inf
from typing import Any

import cocotb

from cocotb_tests.bench import generator
from cocotb_tests.bench.runner import run_module
from cocotb_tests.calculation.unit import agrees_with_golden_model, in_turns
from sim.golden.congestion.bbr.draft import State
from sim.golden.congestion.bbr.model import (
    CALCULATOR,
    MAX,
    MIN_RTT_FILTER_LEN,
    PROBE_RTT_DURATION,
    PROBE_RTT_INTERVAL,
    SECOND,
    Unit,
)
from sim.golden.congestion.bbr.request import NO_RTT, Request
from sim.golden.congestion.bbr.test_model import Both, both
from sim.golden.congestion.seam import wrap

REQUESTS = 4000
MAX_CLOCKS = 4_000


def test_bbr_model() -> None:
    run_module("CalculatorBbrmodel", __name__)


@dataclass
class Recorded(Unit):
    """The unit of a sender; `requests` are those since they were last taken."""

    requests: list[int] = field(default_factory=list)

    def response(self, packed: int) -> int:
        self.requests.append(packed)
        return super().response(packed)


def sender(draw: random.Random) -> Iterator[int]:
    """The requests of a sender over a drawn path, with a few packets in each round trip."""
    every = draw.choice([inf, 60, 25, 8])
    path = both(
        10 ** draw.uniform(5.1, 10.1), 10 ** draw.uniform(-5, 0), queue=draw.choice([0.2, 1, 10]),
        loss=lambda number: number > 40 and number % every == 0,
    )  # fmt: skip
    assert isinstance(path.bbr, Both)
    path.parts, path.bbr.unit = draw.choice([4, 8, 20]), Recorded()
    for _ in range(draw.choice([30, 100, 300])):
        path.run(path.now + path.round_trip / 4)
        if path.bbr.c.in_loss_recovery and draw.random() < 0.1:
            path.bbr.undo = True
        yield from path.bbr.unit.requests
        path.bbr.unit.requests.clear()


def drawn(draw: random.Random) -> Iterator[int]:
    """Requests with any flags; volumes near those of a path or at the unit's bounds, instants at its limits, or any;
    totals and instants that wrap."""
    unit, segment, rtt = Unit(), draw.choice([64, 1448, 8960]), 10 ** draw.randint(4, 10)
    delivered, lost, now = -draw.randrange(1 << 20), -draw.randrange(1 << 16), -draw.randrange(1 << 34)
    path = segment * draw.choice([2, 20, 200, 20_000])  # its BDP
    rarely, selective = draw.choice([0.005, 0.02, 0.1]), draw.random() < 0.7
    often = draw.choice([rarely, 10 * rarely, 0.8])  # with losses
    full = draw.random() < 0.3  # all of cwnd is in flight

    def flag(share: float = rarely) -> bool:
        return draw.random() < share

    def near(volume: int) -> int:
        return draw.choice([volume, round(volume * draw.uniform(0.4, 1.6)), *[draw.randrange(2 * volume)] * flag()])

    for number in range(draw.choice([20, 60, 200])):
        cwnd, little = (unit.cwnd, unit.state is State.PROBE_RTT) if number else (10 * segment, False)
        acked = draw.choice([segment, cwnd // 3, cwnd, draw.randrange(cwnd + 1)])
        newly_lost = flag(often) * draw.choice([segment, cwnd // 50, draw.randrange(cwnd + 1)])
        now += draw.choice([0, rtt // 50, rtt, rtt, rtt, *[SECOND // 5 + 1] * little])
        now += flag() * draw.randrange(12 * SECOND)
        limits = (
            unit.cycle_stamp + unit.bw_probe_wait, unit.min_rtt_stamp + MIN_RTT_FILTER_LEN,
            unit.probe_rtt_min_stamp + PROBE_RTT_INTERVAL, (unit.probe_rtt_low_stamp or 0) + PROBE_RTT_DURATION,
        )  # fmt: skip
        until = wrap(draw.choice(limits) - now)
        now += flag(0.1) * (until < 12 * SECOND) * (until + draw.randrange(2))
        bounds = (unit.inflight_longterm, unit.inflight_longterm - acked, unit._inflight(unit.bw), unit.cwnd)
        bound = draw.choice([value for value in bounds if 0 < value < MAX] or [segment])
        delivered, lost = delivered + acked, lost + newly_lost
        since = newly_lost + flag(often) * (cwnd // draw.choice([20, 50, 51]))
        request = Request(
            opens=not number,
            undone=flag(0.2 if unit.undo_state is not None else rarely),
            timed_out=flag(),
            restarted=flag(),
            recovering=flag(0.5 if newly_lost or unit.recovering else rarely),
            selective=selective ^ flag(),
            cwnd_limited=flag(0.5),
            app_limited=flag(),
            initial_window=draw.choice([10, 0, draw.getrandbits(8)]),
            segment_size=segment,
            delivered=delivered % (1 << 32),
            prior_delivered=(delivered - draw.choice([acked, near(min(cwnd, path))])) % (1 << 32),
            interval=0 if flag(0.1) else draw.choice([rtt, rtt, near(rtt), *[1, draw.getrandbits(36)] * flag()]),
            lost=lost % (1 << 32),
            prior_lost=(lost - since) % (1 << 32),
            tx_in_flight=50 * since - draw.randrange(2) if since and flag(0.1) else near(min(cwnd, 2 * path)),
            in_flight=cwnd if full else draw.choice([segment, near(min(cwnd, path)), near(cwnd), bound]),
            cwnd=near(cwnd) if flag() else bound if flag(0.3 * (unit.state is State.UP)) else cwnd,
            rtt=draw.choice([rtt, near(rtt), *[NO_RTT, 0] * flag()]),
            now=now % (1 << 48),
        )
        packed = draw.getrandbits(Request.bits()) if number and flag(0.005) else request.packed()
        unit.response(packed)
        yield packed


def connection(draw: random.Random) -> Iterator[int]:
    return draw.choice([sender, drawn])(draw)


@cocotb.test()
async def unit_agrees_with_the_golden_model(dut: Any) -> None:
    requests = list(in_turns(generator(), connection, REQUESTS))
    units: dict[int, Unit] = defaultdict(Unit)
    states = set()
    for flow, request in requests:
        units[flow].response(request)
        states.add(units[flow].state)
    assert states == set(State)
    await agrees_with_golden_model(dut, CALCULATOR, requests, MAX_CLOCKS)
