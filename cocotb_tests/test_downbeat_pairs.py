# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Packet pairs and paced flights at the core's edge: how they leave, and what their ACKs tell."""

from __future__ import annotations

import itertools
from typing import Any

import cocotb
import pytest

from cocotb_tests.bench.layout import layout
from cocotb_tests.bench.widths import end_widths_in_soak, run_width
from cocotb_tests.core.core import Core
from cocotb_tests.core.station import MSS, ProbeResults, Station, opened, quiet, something_leaves
from sim.golden.congestion.startup import paced, pairs


@end_widths_in_soak
def test_downbeat_pairs(width: int) -> None:
    run_width("Downbeat", __name__, width)


async def taken(core: Core) -> None:
    """All that was put on the wire has had its effect."""
    await core.wire_in.drained()
    await core.idle()


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
async def a_pair_waits_for_space_for_both(dut: Any) -> None:
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
async def the_gaps_of_a_pair_are_reported_with_its_acks(dut: Any, inverted: bool) -> None:
    """Departures and arrivals as the wire saw them, to the nanosecond, several pairs in flight."""
    gap, argument = 20_000.7, pairs.argument(20_000.7, 50_000, inverted=inverted)
    core, peer, flow = await opened(
        dut, startup="pairs", startup_argument=argument, initial_window=12, ssthresh=100 * MSS
    )
    results, station = ProbeResults(dut), Station(core, peer)
    core.write(flow, bytes(8 * MSS))
    sent = [await station.data() for _ in range(8)]
    start = min(segment.seq for segment, _ in sent)
    order = [(segment.seq - start) // MSS for segment, _ in sent]
    assert order == ([1, 0, 3, 2, 5, 4, 7, 6] if inverted else list(range(8)))
    expected, round_trips = [], []
    arrival = core.now + 1000
    for pair in range(4):
        spread = 7_000 + 1_111 * pair
        below = start + 2 * pair * MSS
        station.acknowledge(below if inverted else below + MSS, arrival)
        station.acknowledge(below + 2 * MSS, arrival + spread)
        departed = [departure for _, departure in sent[2 * pair : 2 * pair + 2]]
        expected.append((departed[1] - departed[0], spread))
        round_trips += [arrival - departed[0], arrival + spread - departed[1]]
        arrival += 100_000
        await results.counted(2 * pair + 2)
    assert all(abs(departure - gap) <= 1 for departure, _ in expected)
    assert [result.begins for result in results.found] == [True, False] * 4
    second = [result for result in results.found if not result.begins]
    assert not any(result.disturbed for result in results.found)
    assert [(result.departure_gap, result.arrival_gap) for result in second] == expected
    assert [result.round_trip for result in results.found] == round_trips


@cocotb.test()
@cocotb.parametrize(disturbance=["one ACK for both", "another ACK between", "left late", "lost"])
async def a_disturbed_pair_is_marked_or_not_reported(dut: Any, disturbance: str) -> None:
    """The pair behind it is whole again."""
    core, peer, flow = await opened(
        dut, startup="pairs", startup_argument=pairs.argument(20_000, 50_000), initial_window=12, ssthresh=100 * MSS
    )
    results, station = ProbeResults(dut), Station(core, peer)
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
    assert all(result.disturbed or result.begins for result in results.found), results.found
    whole = len(results.found)
    if disturbance != "lost":
        for number in range(3, 7):
            station.acknowledge(start + number * MSS, now + number * 10_000)
            await taken(core)
        behind = results.found[whole:]
        assert [(result.begins, result.disturbed) for result in behind] == [(True, False), (False, False)] * 2
        assert [result.arrival_gap for result in behind if not result.begins] == [10_000, 10_000]
    else:
        for number in range(3, 7):
            station.acknowledge(start + number * MSS, now + number * 10_000)
            await taken(core)
        assert len(results.found) == whole


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
    gap = paced.PacedState.unpacked(paced.argument(count, round_trip / count)).gap
    assert all(abs((i * gap) / 2**16 - i * round_trip / count) < 0.5 for i in range(count))
