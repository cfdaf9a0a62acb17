# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The recovery stage alone: what it keeps of sequence numbers, 18 bits, stays true when SND.UNA goes on, and around."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import ClockCycles

from cocotb_tests.bench import StreamMonitor, StreamSource, start
from cocotb_tests.bench.layout import element, layout
from cocotb_tests.bench.runner import run_module

MODULUS = 2**32
MSS = 1460
FLIGHT = 10 * MSS
BUFFER = 64 * 1024  # bytes, which one ACK may acknowledge
LESS_COMMON = ("resent", "ahead", "noRack", "sequence_value", "length")  # fields of a request
MINUTES = 200 * 10**9  # ns


def test_recovery_stage() -> None:
    run_module("RecoveryBench", __name__)


class Stage:
    def __init__(self, dut: Any, first: int) -> None:
        self.dut = dut
        self.requests = StreamSource(dut, "request")
        self.responses = StreamMonitor(dut, "response")
        self.unacknowledged = first
        self.now = 0  # ns
        self.response: dict[str, int] = {}

    @classmethod
    async def opened(cls, dut: Any, first: int, **fields: int) -> Stage:
        stage = cls(dut, first)
        await start(dut)
        await stage.request("open", opening=1, **fields)
        return stage

    async def request(self, kind: str, acked: int = 0, **fields: int) -> str:
        """The event, and its kind for congestion; a flight is outstanding afterwards."""
        self.unacknowledged = (self.unacknowledged + acked) % MODULUS
        beat = {
            "kind": element("EventKind", kind),
            "unacknowledged_value": self.unacknowledged,
            "highestSent_value": (self.unacknowledged + FLIGHT) % MODULUS,
            "acked": acked,
            "now_ns": self.now,
            **dict.fromkeys(("opening", "duplicate", "echoed", *LESS_COMMON), 0),
        }
        self.requests.put(beat | fields)
        self.response = await self.responses.receive()
        await ClockCycles(self.dut.clk, 8)
        kinds: dict[str, int] = layout()["enums"]["CongestionEventKind"]
        return next(name for name, value in kinds.items() if value == self.response["kind"])

    async def acknowledge(self, count: int, **fields: int) -> str:
        return await self.request("segment", acked=count, **fields)

    async def duplicates(self) -> list[str]:
        """Three in a row."""
        return [await self.request("segment", duplicate=1) for _ in range(3)]

    async def expire(self) -> str:
        """The timer, when any retransmission timeout is over."""
        self.now += MINUTES
        return await self.request("timer")


@cocotb.test()
@cocotb.parametrize(first=[1, MODULUS - BUFFER, MODULUS - 1])
@cocotb.parametrize(steps=[1, 2, 3, 4, 5])
async def a_loss_is_one_however_much_was_acknowledged_since_the_last(dut: Any, first: int, steps: int) -> None:
    """RFC 6582 3.2: `recover` is older than SND.UNA, also when that has gone on by 2^17, half of what 18 bits tell
    apart."""
    stage = await Stage.opened(dut, first)
    assert await stage.acknowledge(MSS) == "acknowledged"
    assert await stage.duplicates() == ["none", "none", "loss"]
    # Up to `recover`; the flight behind it has no loss of its own before that is left behind.
    assert await stage.acknowledge(FLIGHT) == "recovered"
    assert "loss" not in await stage.duplicates()
    for _ in range(steps):
        assert await stage.acknowledge(BUFFER) == "acknowledged"
    assert await stage.duplicates() == ["none", "none", "loss"]


@cocotb.test()
@cocotb.parametrize(first=[1, MODULUS - BUFFER, MODULUS - 1])
@cocotb.parametrize(steps=[1, 2, 3, 4, 5])
async def a_mark_counts_however_much_was_acknowledged_since_the_last(dut: Any, first: int, steps: int) -> None:
    """RFC 3168 6.1.2: once in a window."""
    stage = await Stage.opened(dut, first)
    assert await stage.acknowledge(MSS, echoed=1) == "loss"
    assert await stage.acknowledge(MSS, echoed=1) == "none"
    for _ in range(steps):
        assert await stage.acknowledge(BUFFER) == "acknowledged"
    assert await stage.acknowledge(MSS, echoed=1) == "loss"


@cocotb.test()
async def a_timeout_in_a_recovery_says_that_the_flight_is_inflated(dut: Any) -> None:
    """RFC 5681 3.1, equation 4, wants the flight of the loss: in a recovery more than that is outstanding."""
    stage = await Stage.opened(dut, 1)
    assert await stage.acknowledge(MSS) == "acknowledged"
    assert (await stage.expire(), stage.response["uninflated"]) == ("timeout", 1)
    # Up to `recover`, and beyond it: the next loss is one.
    assert await stage.acknowledge(FLIGHT) == "acknowledged"
    assert await stage.acknowledge(MSS) == "acknowledged"
    assert (await stage.duplicates(), stage.response["uninflated"]) == (["none", "none", "loss"], 0)
    assert (await stage.expire(), stage.response["uninflated"]) == ("timeout", 0)
