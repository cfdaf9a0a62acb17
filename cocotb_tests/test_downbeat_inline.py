# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Inline measurement at the core's edge: how its streams leave, and what their ACKs make of K and A."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

from cocotb_tests.bench.layout import element
from cocotb_tests.bench.widths import end_widths_in_soak, run_width
from cocotb_tests.calculation.inline_path import Path
from cocotb_tests.core.core import Core
from cocotb_tests.core.station import MSS, Station, opened
from sim.golden.calculation.inline_measurement import PROBES, Request, Response, Unit

ROUND_TRIP = 1_000_000  # ns, behind the bottleneck
ESTIMATOR = 100_000  # clocks: longer than a round's last acknowledgment takes


@end_widths_in_soak
def test_downbeat_inline(width: int) -> None:
    run_width("Downbeat", __name__, width)


class Sender:
    """A connection that measures, its path, and the golden model of the unit that gets the requests that the engine
    should send."""

    def __init__(self, core: Core, peer: Any, flow: int, load: float) -> None:
        self.core, self.flow = core, flow
        self.station = Station(core, peer)
        self.path = Path(load, 0.3)
        self.unit = Unit()
        self.plan = Response()
        self.responses: list[Response] = []
        self.request(Request(opens=1, segment_size=MSS))
        cocotb.start_soon(self._watch())

    @classmethod
    async def opened(cls, dut: Any, load: float = 0.0) -> Sender:
        """The first response may have come already: the estimator learns of the connection before its first data."""
        core, peer, flow = await opened(dut, steady="logistic", initial_window=24, ssthresh=1000 * MSS)
        return cls(core, peer, flow, load)

    async def _watch(self) -> None:
        dut = self.core.dut
        kind = element("CongestionEventKind", "measured")
        while True:
            await RisingEdge(dut.clk)
            if dut.trace_valid.value == 1 and dut.trace_payload_congestion_kind.value == kind:
                names = ("valid", "alternate", "gap", "step", "capacity", "available")
                values = [int(getattr(dut, f"trace_payload_congestion_inline_{name}").value) for name in names]
                self.responses.append(Response(1, *values))

    def request(self, request: Request) -> None:
        response = Response.unpacked(self.unit.response(request.packed()))
        if response.tells:
            self.plan = response

    async def departures(self, segments: int) -> tuple[list[int], int]:
        """When so many leave, ns, and the sequence number of the first."""
        self.core.write(self.flow, bytes(segments * MSS))
        sent = [await self.station.data() for _ in range(segments)]
        return [departure for _, departure in sent], sent[0][0].seq

    async def settled(self) -> None:
        await self.core.idle(ESTIMATOR)

    async def acknowledged(self, start: int, departures: list[int], every: int = 1) -> None:
        """ACKs of every segment, or of every second, of which each is then a probe."""
        arrivals = [round(self.path.arrival(time)) + ROUND_TRIP for time in departures]
        self.request(Request(completes=1, segment_size=MSS))
        before = None
        for number in range(every - 1, len(departures), every):
            self.station.acknowledge(start + (number + 1) * MSS, arrivals[number])
            acknowledgment = Request(acknowledged=1, begins=1, segment_size=MSS)
            if before is not None:
                gaps = (times[number] - times[before] for times in (departures, arrivals))
                acknowledgment = replace(acknowledgment, begins=0, departure_gap=next(gaps), arrival_gap=next(gaps))
            self.request(acknowledgment)
            before = number
        await self.settled()


def stream_of(plan: Response, stride: int = 1) -> list[int]:
    """Gaps between its segments, ns; zero: back to back."""
    segments = (PROBES - 1) * stride
    return [
        plan.gap - plan.step * (number // stride) if number < segments - stride else 0 for number in range(segments)
    ]


def leaves_as(plan: Response, departures: list[int], modes: list[int], stride: int = 1) -> bool:
    behind = element("LaunchMode", "afterPrevious")
    steps = [after - before for before, after in itertools.pairwise(departures)]
    wanted = stream_of(plan, stride)
    return all(
        abs(step - gap) <= 1 if gap else mode == behind
        for step, gap, mode in zip(steps, wanted, modes[1:], strict=True)
    )


@cocotb.test()
async def streams_leave_as_wanted_and_tell_of_the_path(dut: Any) -> None:
    """A stream back to back gives the range; a round of four then gives K and A as the golden model has them."""
    sender = await Sender.opened(dut, load=0.5)
    for _ in range(5):
        plan = sender.plan
        departures, start = await sender.departures(PROBES)
        assert leaves_as(plan, departures, sender.station.modes[-PROBES:]), (plan, departures)
        await sender.acknowledged(start, departures)
        assert sender.responses[-1] == sender.plan
    assert sender.plan.capacity and sender.plan.available


@cocotb.test()
async def every_second_segment_is_a_probe_where_acks_are_delayed(dut: Any) -> None:
    """A round in which each ACK is of two segments teaches it; the receiver's pairs are counted from the first
    segment."""
    sender = await Sender.opened(dut)
    departures, start = await sender.departures(PROBES)
    sender.request(Request(completes=1, segment_size=MSS))
    for number in range(1, PROBES, 2):
        arrival = round(sender.path.arrival(departures[number])) + ROUND_TRIP
        sender.station.acknowledge(start + (number + 1) * MSS, arrival)
        sender.request(Request(missed=1, acknowledged=1, disturbed=1, segment_size=MSS))
    await sender.settled()
    assert sender.responses[-1] == sender.plan and sender.plan.alternate
    for _ in range(2):
        plan = sender.plan
        departures, start = await sender.departures(2 * PROBES)
        assert leaves_as(plan, departures[1:], sender.station.modes[1 - 2 * PROBES :], stride=2)
        await sender.acknowledged(start, departures, every=2)
        assert sender.responses[-1] == sender.plan and sender.plan.gap


@cocotb.test()
async def a_loss_begins_the_round_again(dut: Any) -> None:
    sender = await Sender.opened(dut)
    departures, start = await sender.departures(PROBES)
    await sender.acknowledged(start, departures)
    range_known = sender.plan
    departures, start = await sender.departures(PROBES)
    for step in range(4):
        sender.station.acknowledge(start + MSS, departures[-1] + ROUND_TRIP + step)
    await sender.settled()
    assert sender.responses[-1] == range_known, "the stream that was under way is wanted again"
