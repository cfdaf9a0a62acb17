# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The flow directory on the bench: its streams, and beats for them."""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

from cocotb_tests.bench import Beat, StreamSink, StreamSource, clocks, generator, start, until
from cocotb_tests.flow.model import FLAGS, PARAMETERS, Directory
from sim.golden.flow.keyed_numbers import Numbers, Tuple
from sim.golden.flow.time_wait import Waiting

LISTENING = (80, 8080)
LOCAL_IP = 0x0A000002
NETMASK, GATEWAY = 0xFFFF0000, 0x0A0000FE
WIDTHS = {
    "sequence_value": 32,
    "acknowledgment_value": 32,
    "window": 16,
    "urgentPointer": 16,
    "length": 14,
    "options_mssValid": 1,
    "options_mss": 16,
    "options_windowScaleValid": 1,
    "options_windowScale": 4,
    "options_sackPermitted": 1,
    "options_timestampValid": 1,
    "options_timestampValue": 32,
    "options_timestampEcho": 32,
    "options_duplicateSack": 1,
    **{
        f"options_sack_{at}_{name}": width
        for at in range(4)
        for name, width in (("valid", 1), ("left", 17), ("right", 17))
    },
    "congestionExperienced": 1,
    "payload_offset": 14,
    "stamp_fraction": 16,
    "stamp_ns": 48,
}


class Bench:
    """All streams of the directory, with a model beside it."""

    def __init__(self, dut: Any, stall: float = 0.0) -> None:
        self.dut = dut
        self.random = generator()
        self.segments = StreamSource(dut, "segments", stall=stall)
        self.opens = StreamSource(dut, "opens", stall=stall)
        self.hops = StreamSource(dut, "moves", stall=stall)
        self.listens = StreamSource(dut, "listens", stall=stall)
        self.ended = StreamSource(dut, "ended")  # before the release, so without a stall
        self.released = StreamSource(dut, "released", stall=stall)
        self.events = StreamSink(dut, "events", stall=stall)
        self.discards = StreamSink(dut, "discards", stall=stall)
        self.refused = StreamSink(dut, "refused", stall=stall)
        # A queue that overflows would drop by chance.
        self.stateless_replies = StreamSink(dut, "statelessReplies")
        self.numbers = Numbers(self.random.getrandbits(128), LOCAL_IP)
        self.model = Directory(self.numbers)
        self.handshakes_over = 0  # not yet said
        self.made: list[Beat] = []  # events that made a connection

    async def start(self) -> None:
        inputs = {f"addressRead_{reader}_{name}": 0 for reader in (0, 1) for name in ("enable", "flow")}
        pins = {"now_ns": 0, "now_fraction": 0, "secret": self.numbers.secret, "localIp": LOCAL_IP}
        pins |= {"timestampClock": 0, "network_netmask": NETMASK, "network_gateway": GATEWAY}
        await start(self.dut, handshakeOver_valid=0, **pins, **inputs)
        cocotb.start_soon(self._handshakes())
        await self.idle()

    async def _handshakes(self) -> None:
        while True:
            await RisingEdge(self.dut.clk)
            over = self.handshakes_over > 0
            self.dut.handshakeOver_valid.value = over
            self.handshakes_over -= over

    async def idle(self, limit: int = 20_000) -> None:
        """Waits until everything was taken in and nothing moves any more."""
        sources = (self.segments, self.opens, self.hops, self.listens, self.ended, self.released)
        await until(
            self.dut,
            lambda: all(source.idle for source in sources) and not self.handshakes_over and self.dut.idle.value == 1,
            "an idle directory",
            limit,
        )
        # A beat that went in at this edge is seen at the next.
        await until(self.dut, lambda: self.dut.idle.value == 1, "an idle directory", limit)

    async def moves(self, now: int) -> None:
        """The time, in ns."""
        self.model.moves(now)
        self.model.timestamp_clock = self.random.getrandbits(32)
        self.dut.now_ns.value = now
        self.dut.timestampClock.value = self.model.timestamp_clock
        await clocks(self.dut, 5)

    def segment(self, *beats: Beat) -> None:
        for beat in beats:
            self.model.segment(beat)
        self.segments.put(*beats)

    def open(self, *beats: Beat) -> None:
        for beat in beats:
            self.model.open(beat)
        self.opens.put(*beats)

    def listen(self, *beats: Beat) -> None:
        for beat in beats:
            self.model.listen(beat)
        self.listens.put(*beats)

    def established(self, *flows: int) -> None:
        """The handshakes of these are over."""
        for flow in flows:
            self.model.established(flow)
        self.handshakes_over += len(flows)

    async def connect(self, *keys: Tuple) -> None:
        """SYNs, and at once the end of each handshake."""
        for key in keys:
            self.segment(segment(self.random, key, "syn"))
            await self.idle()
            self.established(self.model.table[key].number)
        await self.check()

    async def retire(self, *flows: int, numbers: tuple[int, int, int | None] | None = None) -> None:
        """Connections in TIME-WAIT give up their flows: SND.NXT, RCV.NXT, TS.Recent, drawn unless given."""
        for flow in flows:
            recent = self.random.getrandbits(32) if self.random.random() < 0.5 else None
            drawn = self.random.getrandbits(32), self.random.getrandbits(32), recent
            waiting = Waiting(self.model.key(flow), *(numbers or drawn))
            self.model.end(flow, waiting)
            self.release(flow)
            await self.idle()

    async def mac(self, flow: int, reader: int = 0) -> int:
        """The MAC to which a flow sends."""
        port = f"addressRead_{reader}_"
        getattr(self.dut, f"{port}enable").value = 1
        getattr(self.dut, f"{port}flow").value = flow
        await RisingEdge(self.dut.clk)
        getattr(self.dut, f"{port}enable").value = 0
        await RisingEdge(self.dut.clk)
        return int(getattr(self.dut, f"{port}addresses_remoteMac").value)

    def replies(self) -> list[Beat]:
        """Stateless replies; timestamps count where there are any."""
        replies = self.stateless_replies.pending()
        for reply in replies:
            if not reply["timestamped"]:
                del reply["timestampValue"], reply["timestampEcho"]
        return replies

    def release(self, *flows: int) -> None:
        for flow in flows:
            self.handshakes_over += flow in self.model.handshakes
            waiting = self.model.ended.get(flow)
            self.model.release(flow)
            self.give_back(flow, waiting)

    def give_back(self, flow: int, waiting: Waiting | None = None) -> None:
        """The engine has no more use for a flow; its connection may be in TIME-WAIT."""
        end = {name: self.random.getrandbits(32) for name in ("next_value", "received_value", "recent")}
        end["timestamped"] = 0
        if waiting is not None:
            end |= {"next_value": waiting.next, "received_value": waiting.received}
            if waiting.recent is not None:
                end |= {"timestamped": 1, "recent": waiting.recent}
        beat = {f"numbers_{name}": value for name, value in end.items()}
        self.ended.put({"flow": flow, "waits": int(waiting is not None), **beat})
        self.released.put(flow)

    async def check(self) -> None:
        """All that the model expects has come, in order, and nothing else."""
        await self.idle()
        model = self.model
        seen = self.events.pending()
        self.made += [event for event in seen if event["fresh"] or event["open"]]
        for expected, event in zip(model.events, seen, strict=True):
            assert {name: (event[name], value) for name, value in expected.items() if event[name] != value} == {}
        replies = self.replies()
        for number, (expected, reply) in enumerate(zip(model.stateless_replies, replies, strict=False)):
            assert reply == expected, f"stateless reply {number}"
        assert len(replies) == len(model.stateless_replies)
        assert [beat["payload"] for beat in self.discards.pending()] == model.discards
        assert self.refused.pending() == model.refused
        for expected_of in (model.events, model.stateless_replies, model.discards, model.refused):
            expected_of.clear()
        assert self.dut.freeFlows.value == len(model.free)
        assert self.dut.drops_synNoFlow.value == model.syn_no_flow % 2**32
        assert self.dut.drops_synNoBucket.value == 0
        assert self.dut.drops_cookiesSent.value == model.cookies_sent
        assert self.dut.drops_cookiesAccepted.value == model.cookies_accepted
        assert self.dut.drops_cookiesRefused.value == model.cookies_refused
        assert self.dut.drops_noConnection.value == model.no_connection % 2**32
        assert self.dut.drops_resets.value == 0
        assert self.dut.drops_icmpErrors.value == model.reports
        assert self.dut.drops_timeWaitSegments.value == model.time_wait_segments
        assert self.dut.drops_timeWaitsGivenUp.value == model.waits.given_up
        assert self.dut.suppressedChallenges.value == model.suppressed_challenges


async def listening(dut: Any, *, stall: float = 0.0, ports: tuple[int, ...] = LISTENING) -> Bench:
    bench = Bench(dut, stall)
    await bench.start()
    bench.listen(*(listen_request(bench.random, port) for port in ports))
    await bench.check()
    return bench


def segment(draw: random.Random, key: Tuple, flags: str = "", **fields: int) -> Beat:
    """A segment of a 4-tuple, and its VLAN, with the flags named ("syn ack"), everything else drawn; it holds no slot."""
    raised = flags.split()
    beat = {name: draw.getrandbits(width) for name, width in WIDTHS.items()}
    beat |= {f"flags_{name}": int(name in raised) for name in FLAGS}
    beat |= {"remoteMac": draw.getrandbits(48), "payload_held": 0, "payload_slot": 0, "icmpError": 0, "vlan": 0}
    beat |= dict(zip(("remoteIp", "remotePort", "localPort", "vlan"), key, strict=False))
    return beat | fields


def cookie_ack(draw: random.Random, cookie: Beat, flags: str = "ack", **fields: int) -> Beat:
    """The ACK of a client that got this SYN and ACK; all else is drawn."""
    key = cookie["remoteIp"], cookie["remotePort"], cookie["localPort"]
    numbers = {
        "sequence_value": cookie["acknowledgment_value"],
        "acknowledgment_value": (cookie["sequence_value"] + 1) % 2**32,
    }
    return segment(draw, key, flags, **numbers) | fields


def parameters(draw: random.Random) -> Beat:
    return {f"parameters_{name}": draw.getrandbits(width) for name, width in PARAMETERS.items()}


def open_request(draw: random.Random, remote: tuple[int, int], local_port: int = 0) -> Beat:
    return {
        "request": draw.getrandbits(16),
        "remoteMac": draw.getrandbits(48),
        "remoteIp": remote[0],
        "remotePort": remote[1],
        "localPort": local_port,
        "vlan": 0,
        **parameters(draw),
    }


def listen_request(draw: random.Random, port: int, *, remove: bool = False) -> Beat:
    return {"request": draw.getrandbits(16), "remove": int(remove), "port": port, **parameters(draw)}
