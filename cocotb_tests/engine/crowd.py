# SPDX-License-Identifier: BSD-2-Clause-Patent
"""All flows of an engine at once, each beside its golden model: one event of each goes in, all that comes of it is
compared, and so on. Time stands still meanwhile, so each event has its time to the nanosecond."""

from __future__ import annotations

from typing import Any

from cocotb.triggers import ClockCycles, RisingEdge

from cocotb_tests.bench import StreamMonitor, StreamSink, StreamSource, start
from cocotb_tests.bench.layout import number
from cocotb_tests.engine.comparison import Comparison
from cocotb_tests.engine.endpoint import CHOICE, LETTERS, SOURCES
from cocotb_tests.engine.lane import Apply, Lane, Seen
from sim.golden.engine.protocol.connection import Segment

# The fields of a trace record that are looked at; to read all of them takes longer than the rest of the test.
RECORDED = (
    *("reference_flow", "kind", "live", "state", "acknowledged_value", "highestSent_value", "received_value"),
    *("sendWindow", "congestion_kind", "congestion_rttValid", "congestion_rtt", "congestion_rttMinimum"),
)
CLOCK = 2**48  # ns, in which `now` wraps


class Crowd:
    def __init__(self, dut: Any, now: int) -> None:
        self.dut, self.now = dut, now
        names = SOURCES if not hasattr(dut, f"{CHOICE}_valid") else (*SOURCES, CHOICE)
        self.sources = {name: StreamSource(dut, name) for name in names}
        outputs = ("placements", "bookings", "deadlines", "status", "ended", "trace")
        self.monitors: dict[str, StreamMonitor] = {
            name: (StreamSink if name == "placements" else StreamMonitor)(dut, name) for name in outputs
        }
        self.monitors["descriptors"] = StreamSink(dut, "descriptors")
        fields = self.monitors["trace"].ports.fields
        for name in [name for name in fields if name not in RECORDED]:
            del fields[name]
        self.lanes = [Lane(flow, recovers=flow % 2 == 1) for flow in range(number("flows"))]
        self.suppressed = self.ignored = 0
        self.counted = 0  # events compared

    @classmethod
    async def create(cls, dut: Any, now: int) -> Crowd:
        crowd = cls(dut, now)
        await start(dut, now_fraction=0, now_ns=now % CLOCK)
        await crowd.settle()
        crowd.suppressed, crowd.ignored = (int(count.value) for count in crowd._counters())
        return crowd

    def _counters(self) -> tuple[Any, Any]:
        return self.dut.suppressedChallenges, self.dut.ignoredIcmpErrors

    # ---- time

    async def advance(self, duration: int) -> None:
        """Time never jumps by half of its clock's round."""
        while duration:
            step = min(duration, CLOCK // 4)
            self.now += step
            duration -= step
            self.dut.now_ns.value = self.now % CLOCK
            await ClockCycles(self.dut.clk, 3)

    async def settle(self) -> None:
        quiet = 0
        for _ in range(3000):
            await RisingEdge(self.dut.clk)
            busy = self.dut.idle.value != 1 or any(not source.idle for source in self.sources.values())
            quiet = 0 if busy else quiet + 1
            if quiet == 4:
                return
        raise AssertionError("the engine does not come to rest")

    # ---- events

    def put(self, lane: Lane, source: str, event: str, apply: Apply | None, **values: int) -> None:
        """`apply`: what the model does, reported whether the engine has sent an ACK; None: nothing, the event is stale."""
        lane.facts = {}
        if source == "departed":
            lane.facts["departed"] = values["end_value"]
        elif values.get("options_timestampValid"):
            lane.facts["echo"] = values["options_timestampEcho"]
        fields = self.sources[source].ports.fields
        flow = "flow" if "flow" in fields else "reference_flow"
        place = {flow: lane.flow} | ({"reference_generation": lane.tcb.generation} if flow != "flow" else {})
        self.sources[source].put(dict.fromkeys(fields, 0) | place | values)
        lane.event, lane.apply, lane.grants = f"{self.now}: {event}", apply, source == "grants"
        lane.story.append(lane.event)

    def segment(self, lane: Lane, segment: Segment, apply: Apply | None, **fields: int) -> None:
        syn, options = segment.has("S"), segment.timestamps
        values = {
            "sequence_value": segment.seq,
            "acknowledgment_value": segment.ack,
            "window": segment.window,
            "urgentPointer": segment.urgent,
            "length": segment.length,
            "payload_held": int(segment.length > 0 or segment.has("F")),
            "payload_offset": 54,
            "congestionExperienced": int(segment.marked),
            "options_timestampValid": int(options is not None),
            "options_timestampValue": options[0] if options else 0,
            "options_timestampEcho": options[1] if options else 0,
            "options_mssValid": int(syn and segment.mss is not None),
            "options_mss": segment.mss or 0,
            "options_windowScaleValid": int(syn and segment.scale is not None),
            "options_windowScale": segment.scale or 0,
            "options_sackPermitted": int(syn and segment.sack),
            "options_duplicateSack": int(segment.duplicate_sack),
            "stamp_ns": self.now % CLOCK,
        }
        for i, (left, right) in enumerate(segment.blocks):
            values |= {f"options_sack_{i}_{name}": at for name, at in (("valid", 1), ("left", left), ("right", right))}
        values |= {f"flags_{LETTERS[letter]}": 1 for letter in segment.flags}
        self.put(lane, "directory", str(segment), apply, **(values | fields))

    # ---- the comparison

    async def compare(self) -> None:
        """All events that were put, and what follows from them."""
        await self.settle()
        for name, monitor in self.monitors.items():
            for beat in monitor.pending():
                lane = self.lanes[beat["flow" if name == "ended" else "reference_flow"]]
                if name == "bookings":
                    lane.booked = True
                elif name == "deadlines":
                    lane.deadline = self._near(beat["at_ns"]) if beat["armed"] else None
                else:
                    getattr(lane.seen, name).append(beat)
        suppressed = ignored = 0
        put = "; ".join(f"flow {lane.flow}, {lane.tcb.state}: {lane.event}" for lane in self.lanes if lane.event)
        for lane in self.lanes:
            if lane.event:
                one, other = Comparison(lane, self.now).compare()
                suppressed, ignored = suppressed + one, ignored + other
                self.counted += 1
            else:
                lane.check(lane.seen == Seen(), f"something happens by itself: {lane.seen}")
            lane.event, lane.apply, lane.seen, lane.grants = "", None, Seen(), False
        counted = tuple(int(count.value) for count in self._counters())
        expected = (self.suppressed + suppressed, self.ignored + ignored)
        assert counted == expected, f"suppressed challenges and ignored errors {counted}, not {expected}, after {put}"
        self.suppressed, self.ignored = expected

    def _near(self, at: int) -> int:
        return self.now + (at - self.now + CLOCK // 2) % CLOCK - CLOCK // 2
