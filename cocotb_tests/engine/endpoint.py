# SPDX-License-Identifier: BSD-2-Clause-Patent
"""One connection at the engine's ports: the test is peer, application and clock; pacer and memory answer by
themselves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

from cocotb_tests.bench import CLOCK_NS, StreamMonitor, StreamSink, StreamSource, start, until
from cocotb_tests.bench.layout import element, layout, number
from cocotb_tests.engine.segment import MODULUS, Options, Placed, Segment

MODULE = "FlowEngineCounted"
FLOW = 3
GENERATION = 7
RECEIVE_BUFFER = 64 * 1024
RECEIVE_WINDOW = 65535  # the largest without window scale
SLOTS = 8
MILLISECOND = 10**6  # ns
SECOND = 10**9  # ns
LETTERS = {"F": "fin", "S": "syn", "R": "rst", "P": "psh", "A": "ack", "U": "urg", "E": "ece", "C": "cwr"}
SOURCES = ("directory", "placed", "application", "grants", "departed", "timers")
CHOICE = "policies"  # the event of an engine with several policies


@dataclass
class Endpoint:
    dut: Any
    now: int  # ns
    first: int  # the peer's initial sequence number
    initial: int = 1_000_000  # ours
    timestamp_offset: int = 0
    auto_place: bool = True
    options: Options = field(default_factory=Options)
    parameters: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        dut = self.dut
        names = SOURCES if not hasattr(dut, f"{CHOICE}_valid") else (*SOURCES, CHOICE)
        self.sources = {name: StreamSource(dut, name) for name in names}
        self._descriptors = StreamSink(dut, "descriptors")
        self._placements = StreamSink(dut, "placements")
        self._bookings = StreamMonitor(dut, "bookings")
        self._deadlines = StreamMonitor(dut, "deadlines")
        self._status = StreamMonitor(dut, "status")
        self._ended = StreamMonitor(dut, "ended")
        self.ends: list[dict[str, int]] = []
        self.deadline: int | None = None  # ns
        self.status: dict[str, int] = {}
        self.placements: list[Placed] = []  # all so far
        self.unplaced: list[Placed] = []
        self.seq = (self.first + 1) % MODULUS  # the peer's SND.NXT
        self.ack = 0  # the peer's RCV.NXT
        self.window = 65535
        self.tsval = 0
        self.tsecr = 0
        self.released = 0  # times that the flow was given back
        self._slot = 0

    @classmethod
    async def create(cls, dut: Any, *, now: int = 5 * SECOND, first: int = 77_000, **fields: Any) -> Endpoint:
        endpoint = cls(dut, now, first, **fields)
        cocotb.start_soon(endpoint._clock())
        await start(dut, now_fraction=0, now_ns=now)
        cocotb.start_soon(endpoint._world())
        await until(dut, lambda: dut.idle.value == 1, "the engine to be idle after reset")
        return endpoint

    @classmethod
    async def connected(cls, dut: Any, **fields: Any) -> Endpoint:
        """As `create`, and the peer has opened a connection."""
        endpoint = await cls.create(dut, **fields)
        await endpoint.accept()
        return endpoint

    async def _clock(self) -> None:
        while True:
            self.dut.now_ns.value = self.now % 2**48
            await RisingEdge(self.dut.clk)
            self.now += CLOCK_NS

    async def _world(self) -> None:
        """The pacer grants what is booked, the memory takes what is placed, and statuses are kept."""
        while True:
            await RisingEdge(self.dut.clk)
            for beat in self._bookings.pending():
                assert beat["reference_flow"] == FLOW
                self._put("grants", reference_flow=FLOW, reference_generation=beat["reference_generation"])
            for beat in self._deadlines.pending():
                self.deadline = beat["at_ns"] if beat["armed"] else None
            for beat in self._status.pending():
                self.status = beat
            self.ends += self._ended.pending()
            for beat in self._placements.pending():
                if not beat["discard"]:
                    placed = Placed(
                        beat["sequence_value"],
                        beat["length"],
                        bool(beat["fin"]),
                        beat["payload_offset"],
                        beat["payload_slot"],
                    )
                    self.placements.append(placed)
                    self.unplaced.append(placed)
            while self.auto_place and self.unplaced:
                self.place()

    def place(self, *, error: bool = False) -> Placed:
        """The memory has taken the oldest placement."""
        placed = self.unplaced.pop(0)
        self._put(
            "placed",
            reference_flow=FLOW,
            reference_generation=GENERATION,
            sequence_value=placed.seq,
            length=placed.length,
            fin=int(placed.fin),
            memoryError=int(error),
        )
        return placed

    def _put(self, source: str, **values: int) -> None:
        names = self.sources[source].ports.fields
        self.sources[source].put(dict.fromkeys(names, 0) | values)

    # ---- time

    async def settle(self) -> None:
        """Until nothing has moved for longer than any answer takes."""
        quiet = 0
        for _ in range(20_000):
            await RisingEdge(self.dut.clk)
            busy = self.dut.idle.value != 1 or any(not source.idle for source in self.sources.values())
            quiet = 0 if busy else quiet + 1
            if quiet == 12:
                return
        raise AssertionError("the engine does not come to rest")

    async def expire(self) -> int:
        """Time jumps to the deadline and its timer fires; returns the time that went by, ns."""
        await self.settle()
        assert self.deadline is not None, "the connection waits for nothing"
        passed = (self.deadline - self.now + 2**47) % 2**48 - 2**47
        await self.advance(max(passed, 0))
        self._put("timers", reference_flow=FLOW, reference_generation=GENERATION)
        await self.settle()
        return passed

    async def advance(self, duration: int) -> None:
        self.now += duration
        await RisingEdge(self.dut.clk)
        await RisingEdge(self.dut.clk)

    # ---- the peer

    def send(
        self,
        flags: str,
        length: int = 0,
        *,
        seq: int | None = None,
        ack: int | None = None,
        tsval: int | None = None,
        timestamped: bool | None = None,
        marked: bool = False,
        **fields: int,
    ) -> None:
        """A segment of the peer; its numbers go on unless a sequence number is given."""
        self._slot = (self._slot + 1) % SLOTS
        syn = "S" in flags
        if timestamped is None:
            timestamped = self.options.timestamp is not None
        values = {
            "reference_flow": FLOW,
            "reference_generation": GENERATION,
            "sequence_value": (self.seq if seq is None else seq) % MODULUS,
            "acknowledgment_value": (self.ack if ack is None else ack) % MODULUS if "A" in flags else 0,
            "window": self.window,
            "length": length,
            "payload_held": int(length > 0 or "F" in flags),
            "payload_slot": self._slot,
            "payload_offset": 54,
            "congestionExperienced": int(marked),
            "options_timestampValid": int(timestamped),
            "options_timestampValue": (self.tsval if tsval is None else tsval) % MODULUS if timestamped else 0,
            "options_timestampEcho": self.tsecr if timestamped else 0,
            "options_mssValid": int(syn and self.options.mss is not None),
            "options_mss": (self.options.mss or 0) if syn else 0,
            "options_windowScaleValid": int(syn and self.options.scale is not None),
            "options_windowScale": (self.options.scale or 0) if syn else 0,
            "options_sackPermitted": int(syn and self.options.sack),
            "stamp_ns": self.now % 2**48,
        }
        values |= {f"flags_{LETTERS[letter]}": 1 for letter in flags}
        self._put("directory", **(values | fields))
        if seq is None:
            self.seq = (self.seq + length + ("F" in flags)) % MODULUS

    async def received(self) -> Segment:
        """The next segment that the engine sends."""
        beat = await self._descriptors.receive()
        assert not beat["release"], "the flow was given back"
        return self._segment(beat)

    def _segment(self, beat: dict[str, int]) -> Segment:
        acknowledgment = beat["acknowledgment_value"]

        def edge(name: str, i: int) -> int:
            value = beat[f"sack_{i}_{name}"]
            below = 2 * RECEIVE_BUFFER if beat["duplicateBelow"] and i == 0 and value else 0
            return (acknowledgment + value - below) % MODULUS

        blocks = [(edge("left", i), edge("right", i)) for i in range(4) if beat[f"sack_{i}_valid"]]
        flags = "".join(letter for letter, name in LETTERS.items() if beat[f"flags_{name}"])
        timestamps = (beat["timestampValue"], beat["timestampEcho"]) if beat["timestamped"] else None
        return Segment(
            flags, beat["sequence_value"], acknowledgment, beat["length"], beat["window"], blocks, timestamps, beat
        )

    async def replies(self) -> list[Segment]:
        """All segments until the engine rests; that the flow was given back is kept in `released`."""
        await self.settle()
        beats = self._descriptors.pending()
        self.released += sum(beat["release"] for beat in beats)
        return [self._segment(beat) for beat in beats if not beat["release"]]

    async def silent(self) -> None:
        replies = await self.replies()
        assert not replies, f"nothing should be sent, but {replies[0].flags} is"

    async def acknowledged(self) -> Segment:
        """Exactly one pure ACK."""
        replies = await self.replies()
        assert len(replies) == 1, f"one ACK should be sent, not {len(replies)} segments"
        assert set(replies[0].flags) <= {"A", "E"} and replies[0].length == 0, f"{replies[0].flags} is no pure ACK"
        return replies[0]

    def icmp_error(self, kind: str = "unreachable", code: int = 3, *, seq: int | None = None) -> None:
        """An ICMP error about a segment of ours; the SYN unless `seq` says otherwise."""
        error = element("NetworkErrorKind", kind) | code << 2
        number_ = self.initial if seq is None else seq % MODULUS
        place = {"reference_flow": FLOW, "reference_generation": GENERATION, "sequence_value": number_}
        self._put("directory", icmpError=1, window=error, **place)

    def grant(self) -> None:
        """The pacer's, for which nobody has asked."""
        self._put("grants", reference_flow=FLOW, reference_generation=GENERATION)

    # ---- the application

    def application(self, kind: str, length: int = 0, *, urgent: bool = False) -> None:
        kinds = layout()["enums"]["EventKind"]
        self._put("application", kind=kinds[kind], flow=FLOW, length=length, urgent=int(urgent))

    def set_times(self, *, keep_alive: int = 0, user_timeout: int = 0) -> None:
        """In units of 2^30 ns."""
        self.application("setTimes", user_timeout << 16 | keep_alive)

    def choose(self, **parameters: int) -> None:
        """The application chooses policies."""
        self._put(CHOICE, flow=FLOW, **parameters)

    @property
    def state(self) -> str:
        return _name("TcpState", self.status["state"])

    @property
    def reason(self) -> str:
        return _name("CloseReason", self.status["reason"])

    # ---- a connection

    def _open_fields(self) -> dict[str, int]:
        parameters = {"initialWindow": 10, "ssthresh": 65536} | self.parameters
        return {
            "initialSequence_value": self.initial,
            "timestampOffset": self.timestamp_offset,
            **{f"parameters_{name}": value for name, value in parameters.items()},
        }

    async def arrive(self) -> Segment:
        """The peer's SYN; returns our SYN-ACK."""
        self.tsval = self.options.timestamp or 0
        fields: dict[str, Any] = self._open_fields()
        self.send("SEC" if self.options.ecn else "S", seq=self.first, fresh=1, **fields)
        return await self.received()

    async def accept(self) -> Segment:
        """The peer opens; returns our SYN-ACK."""
        reply = await self.arrive()
        assert set(reply.flags) - {"E"} == {"S", "A"} and reply.ack == self.seq
        self.ack = (reply.seq + 1) % MODULUS
        self.tsecr = reply.value if reply.timestamps else 0
        self.send("A")
        await self.silent()
        assert self.state == "established"
        return reply

    async def open(self) -> Segment:
        """We open; returns our SYN."""
        self._put("directory", open=1, reference_flow=FLOW, reference_generation=GENERATION, **self._open_fields())
        syn = await self.received()
        assert set(syn.flags) - {"E", "C"} == {"S"}
        self.ack = (syn.seq + 1) % MODULUS
        self.tsval = self.options.timestamp or 0
        self.tsecr = syn.value if syn.timestamps else 0
        return syn

    async def connect(self) -> Segment:
        """We open and the peer answers; returns our SYN."""
        syn = await self.open()
        self.send("SAE" if self.options.ecn else "SA", seq=self.first)
        reply = await self.acknowledged()
        assert reply.ack == self.seq
        assert self.state == "established"
        return syn

    def space(self, segment: Segment) -> int:
        """The window that a segment announces, bytes."""
        scale = number("receiveWindowScale") if self.options.scale is not None else 0
        return segment.window << scale


def _name(enum: str, value: int) -> str:
    names: dict[str, int] = layout()["enums"][enum]
    return next(name for name, index in names.items() if index == value)
