# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Proportional rate reduction, RFC 9937: RTL against the golden model, and what leaves in a recovery."""

from __future__ import annotations

from typing import Any

import cocotb

from cocotb_tests.bench import StreamMonitor, StreamSource, generator, start
from cocotb_tests.bench.runner import run_module
from sim.golden.engine.proportional_rate import Account

EVENTS = 4000
BITS = 17  # offsets in the send buffer
ALL = (1 << BITS) - 1
SEGMENT = 1448  # bytes


def test_proportional_rate() -> None:
    run_module("ProportionalRateBench", __name__)


@cocotb.test()
async def the_account_and_what_may_leave_are_those_of_the_model(dut: Any) -> None:
    requests, responses = StreamSource(dut, "request"), StreamMonitor(dut, "response")
    await start(dut)
    draw = generator()
    seen = dict.fromkeys(("bounded", "proportion", "high", "full", "nothing", "taken back", "safe", "held"), 0)
    account = Account(ALL)
    for _ in range(EVENTS):
        if draw.random() < 0.05:
            delivered, out, flight, left = (draw.randrange(0, 1 << BITS) for _ in range(4))
            account = Account(ALL, delivered, out, flight, draw.random() < 0.5, left)
        begins, safe = draw.random() < 0.05, draw.random() < 0.3
        acked = draw.choice([0, 0, SEGMENT, draw.randrange(0, 20 * SEGMENT)])
        held = draw.randrange(0, 20 * SEGMENT)
        delivered = draw.choice([0, SEGMENT, acked, -SEGMENT, draw.randrange(0, 1 << 16)])
        outstanding = acked + held + draw.randrange(SEGMENT, 1 << 15)
        pipe = draw.randrange(0, 1 << 16)
        ssthresh = draw.choice([2 * SEGMENT, draw.randrange(2 * SEGMENT, 1 << 16), pipe, (1 << 28) + 5])
        segment = draw.choice([536, SEGMENT])
        length = draw.choice([0, segment, draw.randrange(1, segment)])
        granted = draw.random() < 0.5
        before = {
            "delivered": account.delivered,
            "out": account.out,
            "flight": account.flight,
            "bounded": int(account.bounded),
            "left": account.left,
        }
        requests.put(
            {f"before_{name}": value for name, value in before.items()}
            | {
                "begins": int(begins),
                "advanced": int(safe),
                "retransmits": 0,
                "granted": int(granted),
                "delivered": delivered % (1 << (BITS + 2)),
                "pipe": pipe,
                "held": held,
                "outstandingBefore": outstanding,
                "acked": acked,
                "ssthresh": ssthresh,
                "segmentSize": segment,
                "length": length,
            }
        )
        response = await responses.receive()
        if begins:
            account = account.begun((outstanding - acked - held + delivered) % (1 << BITS))
        account = account.heard(delivered, pipe, ssthresh, segment, safe)
        permits = account.permits(ssthresh % (1 << BITS))
        assert response["permits"] == permits, f"{before} {account}"
        if granted:
            account = account.sent(length)
        after = {name: response[f"after_{name}"] for name in before}
        assert after == {name: getattr(account, name) for name in before}, f"{before}"
        seen["bounded"] += account.bounded
        seen["proportion"] += not account.bounded and permits
        seen["high"] += ssthresh > ALL and permits
        seen["full"] += account.out == ALL or account.delivered == ALL
        seen["nothing"] += delivered == 0
        seen["taken back"] += delivered < 0
        seen["safe"] += safe and account.bounded and delivered > 0
        seen["held"] += not permits
    assert min(seen.values()) > EVENTS // 100, f"the draw has missed a case: {seen}"


@cocotb.test()
async def what_is_lost_and_waits_makes_an_ack_unsafe(dut: Any) -> None:
    """5: SND.UNA advances and no further loss is indicated."""
    requests, responses = StreamSource(dut, "request"), StreamMonitor(dut, "response")
    await start(dut)
    for waits in (0, 1):
        beat = dict.fromkeys(requests.ports.fields, 0)
        beat |= {"before_out": 9 * SEGMENT, "before_delivered": 8 * SEGMENT, "before_flight": 20 * SEGMENT}
        beat |= {"advanced": 1, "retransmits": waits, "delivered": SEGMENT, "segmentSize": SEGMENT}
        requests.put(beat | {"pipe": 5 * SEGMENT, "ssthresh": 10 * SEGMENT})
        response = await responses.receive()
        assert response["after_left"] == (SEGMENT if waits else 2 * SEGMENT)
