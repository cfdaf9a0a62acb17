# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The rate estimator beside the engine: each ACK of a burst counts, and what finds no space joins the next.

What the engine knows of the rate after each event is the golden model's (sim/golden/engine/rate_meter.py).
"""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

from cocotb_tests.bench.layout import layout, policy
from cocotb_tests.bench.runner import run_module
from cocotb_tests.engine.endpoint import FLOW, GENERATION, MILLISECOND, MODULE, Endpoint
from cocotb_tests.engine.segment import Options
from sim.golden.replay import replay

STEADY = "westwood"  # which reads the estimates
SMSS = 1000
SEGMENTS = 64
QUEUE = 32  # ACKs before the estimator
ROUND_TRIP = 10 * MILLISECOND
# Fields of the trace's record, by the names that golden.replay has.
FIELDS = {
    "time": "time_ns",
    "requested": "requested",
    "estimates": "estimates",
    "arrival": "congestion_arrival",
    "repeated": "congestion_repeated",
    "bwe": "congestion_rates_bwe",
    "ere": "congestion_rates_ere",
    "uninflated": "congestion_uninflated",
    "rtt_full": "congestion_rttFull",
    "rtt_first": "congestion_rttFirst",
    "acked": "congestion_ackedBytes",
    "flight": "congestion_flight",
    "mss": "congestion_segmentSize",
    "initial_window": "congestion_initialWindow",
    "initial_ssthresh": "congestion_initialSsthresh",
    "sent_probe": "congestion_sentProbe",
    "sent_ahead": "congestion_sentAhead",
}
Row = dict[str, str | int]


def test_rates() -> None:
    run_module(MODULE, __name__)


class Record:
    """The connection's events, as replay takes them."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.rows: list[Row] = []
        cocotb.start_soon(self._watch())

    async def _watch(self) -> None:
        enums = {name: {number: text for text, number in texts.items()} for name, texts in layout()["enums"].items()}
        steady = {number: name for name, number in layout()["policies"]["SteadyPolicy"].items()}
        while True:
            await RisingEdge(self.dut.clk)
            if self.dut.trace_valid.value == 1 and self._field("live"):
                row: Row = {name: self._field(field) for name, field in FIELDS.items()}
                row |= {"event": enums["EventKind"][self._field("kind")]}
                row |= {"kind": enums["CongestionEventKind"][self._field("congestion_kind")]}
                row |= {"rtt": self._field("congestion_rtt") if self._field("congestion_rttValid") else ""}
                row |= {"startup": "standard", "steady": steady[self._field("steady")], "probe": ""}
                row |= {"cwnd": self._field("window_cwnd"), "startup_argument": 0, "steady_argument": 0}
                self.rows.append(row)

    def _field(self, name: str) -> int:
        return int(getattr(self.dut, f"trace_payload_{name}").value)

    def estimates(self) -> list[Row]:
        return [row for row in self.rows if row["event"] == "estimated"]

    def agrees(self) -> None:
        """With the golden models: estimates and windows of each event."""
        made = next(index for index, row in enumerate(self.rows) if row["kind"] == "established")
        rows = self.rows[made:]
        assert [row["cwnd"] for row in rows] == [window.cwnd for window in replay(rows)]


async def sending(dut: Any, steady: str = STEADY) -> tuple[Endpoint, Record]:
    """A connection with a round trip that has sent all segments."""
    parameters = {"initialWindow": SEGMENTS, "ssthresh": 10 * SMSS, "noDelay": 1}
    parameters |= {"steady": policy("SteadyPolicy", steady)}
    endpoint = await Endpoint.create(dut, options=Options(mss=SMSS), parameters=parameters)
    record = Record(dut)
    reply = await endpoint.arrive()
    await endpoint.settle()
    endpoint.ack = reply.seq + 1
    place = {"reference_flow": FLOW, "reference_generation": GENERATION, "end_value": endpoint.ack}
    endpoint._put("departed", **place, stamp_ns=endpoint.now)
    await endpoint.settle()
    await endpoint.advance(ROUND_TRIP)
    endpoint.send("A")
    await endpoint.settle()
    endpoint.application("written", SEGMENTS * SMSS)
    assert len(await endpoint.replies()) == SEGMENTS
    await endpoint.advance(ROUND_TRIP)
    return endpoint, record


@cocotb.test()
async def nothing_is_estimated_for_policies_that_read_no_estimates(dut: Any) -> None:
    endpoint, record = await sending(dut, steady="reno")
    for _ in range(3):
        endpoint.ack += SMSS
        endpoint.send("A")
        await endpoint.settle()
    assert len([row for row in record.rows if row["acked"] == SMSS]) == 3
    assert not record.estimates() and not any(row["estimates"] or row["bwe"] for row in record.rows)
    record.agrees()


@cocotb.test()
async def estimates_begin_with_a_policy_that_reads_them(dut: Any) -> None:
    endpoint, record = await sending(dut, steady="reno")
    endpoint.choose(steady=policy("SteadyPolicy", STEADY))
    await endpoint.settle()
    for _ in range(3):
        endpoint.ack += SMSS
        endpoint.send("A")
        await endpoint.settle()
        await endpoint.advance(MILLISECOND)
    assert len(record.estimates()) == 3 and record.estimates()[-1]["bwe"]
    record.agrees()
    endpoint.choose(steady=policy("SteadyPolicy", "reno"))
    await endpoint.settle()
    endpoint.ack += SMSS
    endpoint.send("A")
    await endpoint.settle()
    assert len(record.estimates()) == 3 and record.rows[-1]["bwe"] == 0
    record.agrees()


@cocotb.test()
async def each_ack_of_a_burst_is_a_sample_of_its_own(dut: Any) -> None:
    endpoint, record = await sending(dut)
    before = len(record.estimates())
    for _ in range(10):
        endpoint.ack += SMSS
        endpoint.send("A")
        await endpoint.advance(8)
    await endpoint.settle()
    assert len(record.estimates()) == before + 10
    assert len({row["bwe"] for row in record.estimates()[before:]}) == 10
    record.agrees()


@cocotb.test()
async def acks_that_find_the_queue_full_join_the_next(dut: Any) -> None:
    endpoint, record = await sending(dut)
    for _ in range(SEGMENTS - 1):
        endpoint.ack += SMSS
        endpoint.send("A")
    await endpoint.settle()
    acks = [row for row in record.rows if row["acked"] == SMSS]
    taken = sum(int(row["estimates"]) for row in acks)
    assert QUEUE // 2 < taken < len(acks) == SEGMENTS - 1
    await endpoint.advance(ROUND_TRIP)
    endpoint.ack += SMSS
    endpoint.send("A")
    await endpoint.settle()
    record.agrees()


@cocotb.test()
async def duplicates_count_until_their_data_is_acknowledged(dut: Any) -> None:
    endpoint, record = await sending(dut)
    for segments in (1, 0, 0, 1, 3, 0, 0, 0, 2):
        endpoint.ack += segments * SMSS
        endpoint.send("A")
        await endpoint.settle()
        await endpoint.advance(MILLISECOND)
    assert [row["repeated"] for row in record.rows if row["estimates"]][-9:] == [0, 1, 1, 0, 0, 1, 1, 1, 0]
    record.agrees()


@cocotb.test()
async def an_estimate_for_a_connection_that_is_gone_is_stale(dut: Any) -> None:
    endpoint, record = await sending(dut)
    before = len(record.estimates())
    endpoint.ack += SMSS
    endpoint.send("A")
    while not any(row["acked"] == SMSS and row["estimates"] for row in record.rows):
        await RisingEdge(dut.clk)
    endpoint.application("abort")
    await endpoint.settle()
    assert len(record.estimates()) == before
