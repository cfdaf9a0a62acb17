# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Packet pairs: how they leave, in which order, and what their ACKs tell; with the policies that send them."""

from __future__ import annotations

import itertools
from typing import Any

import cocotb
import pytest
from cocotb.triggers import RisingEdge
from scapy.layers.inet import TCP

from cocotb_tests.bench import until
from cocotb_tests.bench.layout import element, layout
from cocotb_tests.bench.runner import run_room
from cocotb_tests.core.core import Core
from cocotb_tests.core.peer import Peer
from cocotb_tests.core.receiver import DelayingReceiver
from cocotb_tests.golden.congestion.seam import ProbeAnswer
from cocotb_tests.golden.congestion.startup import paced, pairs

PORT = 5001
MSS = 1460
OPTIONS: list[tuple[str, object]] = [("MSS", MSS), ("NOP", None), ("WScale", 7)]
SELECTIVE: list[tuple[str, object]] = [*OPTIONS, ("SAckOK", b"")]


def test_downbeat_pairs() -> None:
    run_room("Downbeat", __name__)


class Answers:
    """Collects what the engine tells of probes, by its trace."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.found: list[ProbeAnswer] = []
        cocotb.start_soon(self._watch())

    async def counted(self, wanted: int) -> None:
        await until(self.dut, lambda: len(self.found) == wanted, "a pair's answers", 5000)

    async def _watch(self) -> None:
        trace = "trace_payload_congestion_probe_"
        while True:
            await RisingEdge(self.dut.clk)
            if self.dut.trace_valid.value == 1 and getattr(self.dut, trace + "answered").value == 1:
                fields = ("begins", "disturbed", "departureGap", "arrivalGap")
                begins, disturbed, departure, arrival = (int(getattr(self.dut, trace + name).value) for name in fields)
                self.found.append(ProbeAnswer(bool(begins), bool(disturbed), departure, arrival))


class Station:
    """A peer whose wire has no delay of its own: frames depart when they were to, and its ACKs arrive when the test says."""

    def __init__(self, core: Core, peer: Peer) -> None:
        self.core = core
        self.peer = peer
        self.modes: list[int] = []
        self.previous = 0  # departure, 2^-16 ns

    async def data(self, *, late_by: int = 0) -> tuple[TCP, int]:
        """The next segment and its departure, ns; back to back is a frame's time on 1 Gb/s after the one before."""
        await something_leaves(self.core)
        frame = await self.core.wire_out.receive()
        user = frame.extras["user"]
        launch, mode, tag = user & (1 << 64) - 1, user >> 64 & 3, user >> 66
        self.modes.append(mode)
        if mode == element("LaunchMode", "afterPrevious"):
            launch = self.previous + (8 * (len(frame.data) + 24) << 16)
        self.previous = launch + (late_by << 16)
        self.core.departures.put({"data": self.previous << 16 | tag})
        segment = TCP(frame.data[34:])
        return segment, self.previous >> 16

    def acknowledge(self, number: int, at: int) -> None:
        """An ACK whose SFD arrives at an instant, ns."""
        tcp = TCP(
            sport=self.peer.port,
            dport=self.peer.core_port,
            flags="A",
            seq=self.peer.sequence,
            ack=number % 2**32,
            window=65535,
        )
        self.peer.put(tcp, at << 16)


async def something_leaves(core: Core) -> None:
    """Idle time is skipped until a frame comes out."""
    while await quiet(core):
        await core.jump()


async def opened(
    dut: Any, peer_class: type[Peer] = Peer, *, selective: bool = False, **parameters: Any
) -> tuple[Core, Any, int]:
    core = await Core.create(dut)
    peer = peer_class(core, port=PORT)
    core.connect(port=PORT, **parameters)
    await peer.accept_connection(SELECTIVE if selective else OPTIONS)
    flow = (await core.notified_of("established"))["status_reference_flow"]
    peer.send("A")  # the window of a SYN is not scaled: from here on it stays as it is
    await core.idle()
    return core, peer, flow


# ---- SSIPP: inverted pairs

# Yu's Algorithms 1 and 2 by hand, initial window 1, a receiver that delays ACKs: which segments each ACK releases.
RELEASED_BY_ACKS = [[2, 1], [4], [3, 6, 5], [8], [7, 10, 9], [12], [11, 14, 13], [16], [15, 18, 17], [20], [19, 22, 21]]


@cocotb.test()
async def ssipp_sends_pairs_the_other_way_round(dut: Any) -> None:
    core, peer, flow = await opened(
        dut, DelayingReceiver, startup="ssipp", initial_window=1, ssthresh=64 * MSS, no_delay=1
    )
    core.write(flow, bytes(40 * MSS))
    first = await peer.receive()
    assert not peer.take(first)
    on_the_way: list[TCP] = []
    peer.acknowledge()  # the receiver's timer
    for released in RELEASED_BY_ACKS:
        for _ in released:
            on_the_way.append(await peer.receive())
        assert [(segment.seq - first.seq) // MSS for segment in on_the_way[-len(released) :]] == released
        await core.idle()
        assert core.wire_out.stream.beats.empty()
        assert peer.take(on_the_way.pop(0))


@cocotb.test()
@cocotb.parametrize(selective=[False, True])
async def ssipp_doubles_the_window_each_round_trip(dut: Any, selective: bool) -> None:
    """In lock step: all ACKs of a window come back, then the next window goes. The first has one segment and half a pair."""
    core, peer, flow = await opened(
        dut, DelayingReceiver, selective=selective, startup="ssipp", initial_window=2, ssthresh=1000 * MSS
    )
    core.write(flow, bytes(40 * MSS))
    counts = []
    for _ in range(5):
        window = [await peer.receive()]
        while not await quiet(core):
            window.append(await peer.receive())
        counts.append(len(window))
        for segment in window:
            peer.take(segment)
        if peer.owes:
            peer.acknowledge()
        await core.idle()
    assert counts == [2, 2, 4, 8, 16]


async def taken(core: Core) -> None:
    """All that was put on the wire has had its effect."""
    await core.wire_in.drained()
    await core.idle()


async def quiet(core: Core) -> bool:
    """Nothing more comes out."""
    await core.idle()
    return core.wire_out.stream.beats.empty()


@cocotb.test()
async def an_ack_beyond_the_unsent_half_is_of_unsent_data(dut: Any) -> None:
    """A window of two: a pair's second half has gone, its first has not. An ACK of that is answered, and nothing moves."""
    core, peer, flow = await opened(dut, startup="ssipp", initial_window=2, ssthresh=64 * MSS)
    core.write(flow, bytes(8 * MSS))
    first, ahead = await peer.receive(), await peer.receive()
    assert ahead.seq - first.seq == 2 * MSS
    assert await quiet(core)
    peer.send("A", acknowledgment=ahead.seq + MSS)
    challenge = await peer.receive()
    assert (challenge.flags, len(challenge.data)) == ("A", 0)
    peer.send("A", acknowledgment=first.seq + MSS)
    assert (await peer.receive()).seq == first.seq + MSS


@cocotb.test()
async def a_lost_first_half_is_found_by_the_fourth_ack(dut: Any) -> None:
    """The pair's own ACK is no duplicate; the third that is one sends it again."""
    core, peer, flow = await opened(dut, startup="ssipp", initial_window=9, ssthresh=64 * MSS)
    core.write(flow, bytes(30 * MSS))
    sent = [await peer.receive() for _ in range(9)]
    assert [(segment.seq - sent[0].seq) // MSS for segment in sent] == [0, 2, 1, 4, 3, 6, 5, 8, 7]
    hole = sent[0].seq + MSS
    peer.send("A", acknowledgment=hole)
    drained = [(segment.seq - sent[0].seq) // MSS for segment in [await peer.receive() for _ in range(2)]]
    assert drained == [10, 9]
    for number in range(4):  # of 2, 4, 3, 6: 1 is lost
        assert await quiet(core) or number < 3
        while not core.wire_out.stream.beats.empty():
            assert (await peer.receive()).seq != hole
        peer.send("A", acknowledgment=hole)
    found = [await peer.receive()]
    while found[-1].seq != hole:
        found.append(await peer.receive())


# ---- pairs by command


@cocotb.test()
@cocotb.parametrize(gap=[1234.56, 25_000.3, 3e6])
async def a_pairs_gap_is_what_was_asked(dut: Any, gap: float) -> None:
    """To 2^-16 ns, and so is the pause to the next pair."""
    pause = 100_000
    core, peer, flow = await opened(
        dut, startup="pairs", startup_argument=pairs.argument(gap, pause), initial_window=20
    )
    core.write(flow, bytes(8 * MSS))
    for _ in range(8):
        await something_leaves(core)
        await peer.receive()
    launches = peer.launches[1:]  # behind the SYN
    steps = [after - before for before, after in itertools.pairwise(launches)]
    wanted = [gap if number % 2 == 0 else pause for number in range(7)]
    assert all(abs(step - want) < 2**-15 for step, want in zip(steps, wanted, strict=True)), steps


@cocotb.test()
async def a_pair_without_a_gap_leaves_back_to_back(dut: Any) -> None:
    core, peer, flow = await opened(
        dut, startup="pairs", startup_argument=pairs.argument(0, 100_000), initial_window=20
    )
    station = Station(core, peer)
    core.write(flow, bytes(6 * MSS))
    for _ in range(6):
        await station.data()
    names = {number: name for name, number in layout()["enums"]["LaunchMode"].items()}
    assert [names[mode] for mode in station.modes] == ["at", "afterPrevious"] * 3


@cocotb.test()
async def a_pair_waits_for_room_for_both(dut: Any) -> None:
    """A window of three segments: the third waits until the first pair is acknowledged."""
    core, peer, flow = await opened(dut, startup="pairs", startup_argument=pairs.argument(0, 1000), initial_window=3)
    core.write(flow, bytes(6 * MSS))
    first = await peer.receive()
    await peer.receive()
    assert await quiet(core)
    peer.send("A", acknowledgment=first.seq + MSS)
    assert (await peer.receive()).seq == first.seq + 2 * MSS


@cocotb.test()
@cocotb.parametrize(inverted=[False, True])
async def the_gaps_of_a_pair_are_told_with_its_acks(dut: Any, inverted: bool) -> None:
    """Departures and arrivals as the wire saw them, to the nanosecond, several pairs in flight."""
    gap, argument = 20_000.7, pairs.argument(20_000.7, 50_000, inverted=inverted)
    core, peer, flow = await opened(
        dut, startup="pairs", startup_argument=argument, initial_window=12, ssthresh=100 * MSS
    )
    answers, station = Answers(dut), Station(core, peer)
    core.write(flow, bytes(8 * MSS))
    sent = [await station.data() for _ in range(8)]
    start = min(segment.seq for segment, _ in sent)
    order = [(segment.seq - start) // MSS for segment, _ in sent]
    assert order == ([1, 0, 3, 2, 5, 4, 7, 6] if inverted else list(range(8)))
    expected = []
    arrival = core.now + 1000
    for pair in range(4):
        spread = 7_000 + 1_111 * pair
        below = start + 2 * pair * MSS
        station.acknowledge(below if inverted else below + MSS, arrival)
        station.acknowledge(below + 2 * MSS, arrival + spread)
        departed = [departure for _, departure in sent[2 * pair : 2 * pair + 2]]
        expected.append((departed[1] - departed[0], spread))
        arrival += 100_000
        await answers.counted(2 * pair + 2)
    assert all(abs(departure - gap) <= 1 for departure, _ in expected)
    assert [answer.begins for answer in answers.found] == [True, False] * 4
    second = [answer for answer in answers.found if not answer.begins]
    assert not any(answer.disturbed for answer in answers.found)
    assert [(answer.departure_gap, answer.arrival_gap) for answer in second] == expected


@cocotb.test()
@cocotb.parametrize(disturbance=["one ACK for both", "another ACK between", "left late", "lost"])
async def a_disturbed_pair_is_marked_or_not_told(dut: Any, disturbance: str) -> None:
    """The pair behind it is whole again."""
    core, peer, flow = await opened(
        dut, startup="pairs", startup_argument=pairs.argument(20_000, 50_000), initial_window=12, ssthresh=100 * MSS
    )
    answers, station = Answers(dut), Station(core, peer)
    core.write(flow, bytes(6 * MSS))
    late = 5_000 if disturbance == "left late" else 0
    sent = [await station.data(late_by=late if number == 1 else 0) for number in range(6)]
    start, now = sent[0][0].seq, core.now
    if disturbance == "one ACK for both":
        station.acknowledge(start + 2 * MSS, now)
    elif disturbance == "another ACK between":
        station.acknowledge(start + MSS, now)
        station.acknowledge(start + MSS, now + 500)
        station.acknowledge(start + 2 * MSS, now + 1000)
    elif disturbance == "left late":
        station.acknowledge(start + MSS, now)
        station.acknowledge(start + 2 * MSS, now + 1000)
    else:
        for step in range(4):
            station.acknowledge(start + MSS, now + step)
        assert (await peer.receive()).seq == start + MSS
        station.acknowledge(start + 2 * MSS, now + 1000)
    await taken(core)
    assert all(answer.disturbed or answer.begins for answer in answers.found), answers.found
    whole = len(answers.found)
    if disturbance != "lost":
        for number in range(3, 7):
            station.acknowledge(start + number * MSS, now + number * 10_000)
            await taken(core)
        behind = answers.found[whole:]
        assert [(answer.begins, answer.disturbed) for answer in behind] == [(True, False), (False, False)] * 2
        assert [answer.arrival_gap for answer in behind if not answer.begins] == [10_000, 10_000]
    else:
        for number in range(3, 7):
            station.acknowledge(start + number * MSS, now + number * 10_000)
            await taken(core)
        assert len(answers.found) == whole


# ---- a paced flight


@cocotb.test()
@cocotb.parametrize(count=[2, 7, 30])
async def a_flight_goes_out_over_a_round_trip(dut: Any, count: int) -> None:
    """The i-th of n segments leaves at t0 + i R / n (to a nanosecond); what follows is not paced."""
    round_trip = 1_000_000
    core, peer, flow = await opened(
        dut,
        startup="paced",
        startup_argument=paced.argument(count, round_trip / count),
        initial_window=2,
        ssthresh=100 * MSS,
    )
    core.write(flow, bytes((count + 2) * MSS))
    for _ in range(count):
        await something_leaves(core)
        await peer.receive()
    launches = peer.launches[1:]
    assert all(abs(launch - launches[0] - i * round_trip / count) < 1 for i, launch in enumerate(launches))
    assert await quiet(core)
    peer.send("A", acknowledgment=peer.expected + count * MSS)
    await peer.receive()
    assert len(peer.launches) == count + 2


@pytest.mark.parametrize(("count", "round_trip"), [(4096, 10_000_000_000), (4096, 1_000_000), (187, 120_000_000)])
def test_a_flights_last_departure_is_on_its_tick(count: int, round_trip: int) -> None:
    """t0 + floor(i R / n): 16 fraction bits of the gap suffice for any flight."""
    gap = paced.argument(count, round_trip / count) >> paced.COUNT_BITS
    assert all(abs((i * gap) / 2**16 - i * round_trip / count) < 0.5 for i in range(count))
