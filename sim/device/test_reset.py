# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Whatever registers and memories held before it, a reset makes a core like any other: the same events, the same
bytes."""

from __future__ import annotations

import ctypes
import os
import random
from collections.abc import Sequence

import pytest
from downbeat_toe.device import Device, DeviceError, nanoseconds
from downbeat_toe.library import load
from downbeat_toe.structures import Error, Event, State

from sim.adversarial.fuzz.__main__ import fuzz, story
from sim.device.pair import IPS, MACS, Pair, would_block
from sim.lib import verilated
from sim.ns3.golden import INLINE, compare

SEED = int(os.environ.get("SEED", "1"))
# Start of a transfer, behind a reset at any time before. Initial sequence numbers grow by one in 4,096 ns, and bytes stand in
# the buffers (1 MiB) at their numbers, which decides how many bursts they take: multiples of this time are alike.
START = nanoseconds(4096 << 20)
SIZE = 60_000
# Fields that depend neither on the time of the start nor on the initial sequence numbers that follow from it; and those that the
# connection only has when its handshake is complete: before that the record shows what stood there.
ALWAYS = (
    *("flow", "generation", "kind", "live", "state", "reason", "congestion_kind", "rtt_valid", "startup", "steady"),
    *("sent", "retransmission", "sent_length", "acked", "flight"),
)
ESTABLISHED = ("segment_size", "initial_window", "initial_ssthresh", "cwnd", "ssthresh", "send_window")
ACKS = ("estimates", "arrival", "repeated", "bwe", "ere")
PROBES = ("sent_probe", "sent_ahead", "departure_gap", "arrival_gap", "probe_round_trip")


Rows = list[tuple[int, ...]]
Frames = list[tuple[int, bytes]]


@pytest.fixture(scope="session")
def any_values() -> ctypes.CDLL:
    """Registers and memories begin with drawn values; in `make soak` also what the Verilog leaves open."""
    return load(verilated.library(waves=bool(os.environ.get("SOAK"))) / "libdownbeat_sim.so")


def two(library: ctypes.CDLL, initial_values: int = 0) -> Pair:
    seeds = (2 * initial_values, 2 * initial_values + 1) if initial_values else (0, 0)
    client = Device(library, MACS[0], IPS[0], initial_values=seeds[0])
    return Pair(client, Device(library, MACS[1], IPS[1], secret=2, initial_values=seeds[1]))


def transfer(pair: Pair, start: int) -> Rows:
    """A connection from `start` on with bytes both ways and its orderly end; the clients' events, times from the
    start."""
    pair.client.advance(start)
    pair.server.advance(start)
    events = [pair.client.record_events(), pair.server.record_events()]
    out, accepted = pair.connected(port=4000)
    ends = [(pair.client, out), (pair.server, accepted)]
    contents = [random.Random(f"reset {index}").randbytes(SIZE) for index in range(2)]
    sent, received = [0, 0], [bytearray(), bytearray()]

    def move() -> bool:
        for index, (device, name) in enumerate(ends):
            if sent[index] < SIZE:
                data = contents[index][sent[index] :]
                sent[index] += would_block(lambda: device.send(name, data)) or 0  # noqa: B023
            received[index] += would_block(lambda: device.receive(name)) or b""  # noqa: B023
        return all(len(part) == SIZE for part in received)

    pair.run(move)
    assert received[0] == contents[1] and received[1] == contents[0]
    for device, name in ends:
        device.close(name)
    pair.run(lambda: pair.client.next_deadline == pair.server.next_deadline == (1 << 64) - 1, limit_ns=200e9)
    matches_golden_models(events[0], pair.client)
    return timeless(events[0], start, pair.client) + timeless(events[1], start, pair.server)


def timeless(events: Sequence[Event], start: int, device: Device) -> Rows:
    established = False
    rows = []
    for event in events:
        established = established or device.text("congestion", event.congestion_kind) == "established"
        row = [event.time - start // 65536, *(getattr(event, name) for name in ALWAYS)]
        row += [event.rtt] if event.rtt_valid else []
        row += [getattr(event, name) for name in ESTABLISHED] if established else []
        rows.append(tuple(row))
    return rows


def matches_golden_models(events: Sequence[Event], device: Device) -> None:
    """cwnd and ssthresh of each event, bit for bit."""
    rows = [
        {
            name: str(getattr(event, name))
            for name in ("live", "acked", "flight", "segment_size", "requested", *ACKS, *INLINE)
        }
        | {"uninflated": str(int(event.uninflated)), "growth_limited": str(event.growth_limited)}
        | {"rtt_full": str(event.rtt_full), "rtt_first": str(event.rtt_first)}
        | {"initial_window": str(event.initial_window), "initial_ssthresh": str(event.initial_ssthresh)}
        | {"cwnd_fixed": str(event.cwnd), "ssthresh_fixed": str(event.ssthresh), "time_ns": str(event.time)}
        | {"event": device.text("event", event.kind), "congestion": device.text("congestion", event.congestion_kind)}
        | {"startup": device.text("startup", event.startup), "steady": device.text("steady", event.steady)}
        | {name: str(getattr(event, name)) for name in PROBES}
        | {"probe": "", "rtt_ns": str(event.rtt) if event.rtt_valid else ""}
        for event in events
    ]
    compared = compare(rows)
    assert not compared.mismatch and compared.events > 50


@pytest.fixture(scope="session")
def ordinary(library: ctypes.CDLL) -> tuple[Rows, Frames]:
    """The events of the transfer between two fresh cores, and every frame."""
    pair = two(library)
    return transfer(pair, START), pair.carried


@pytest.mark.parametrize("initial_values", [SEED, SEED + 1, SEED + 2])
def test_what_registers_held_before_the_reset_changes_nothing(
    any_values: ctypes.CDLL, ordinary: tuple[Rows, Frames], initial_values: int
) -> None:
    pair = two(any_values, initial_values)
    assert transfer(pair, START) == ordinary[0]
    assert pair.carried == ordinary[1]


@pytest.mark.parametrize("seed", [SEED, SEED + 1])
def test_mutants_hurt_nobody_whatever_registers_held(seed: int) -> None:
    result = fuzz(seed, 1_000)
    assert not result["failure"], story(result)


@pytest.mark.parametrize("seed", range(SEED, SEED + 8))
def test_a_core_reset_in_mid_traffic_is_a_new_core(
    library: ctypes.CDLL, ordinary: tuple[Rows, Frames], seed: int
) -> None:
    """Both cores are reset for a few clocks, each at an instant of its own; frames, commands and data are cut
    anywhere."""
    draw = random.Random(f"pulse {seed}")
    pair = two(library)
    out, accepted = pair.connected()
    data = draw.randbytes(40_000)
    moved = [0, 0]

    def traffic() -> bool:
        for index, (device, name) in enumerate(((pair.client, out), (pair.server, accepted))):
            moved[index] += would_block(lambda: device.send(name, data)) or 0  # noqa: B023
            would_block(lambda: device.receive(name))  # noqa: B023
        return pair.client.now > nanoseconds(400_000)

    pair.run(traffic)
    for device, name in ((pair.client, out), (pair.server, accepted)):
        device.advance(device.now + 65536 * draw.randrange(20_000))
        device.reset(draw.randrange(1, 6))
        assert device.info(name).error == Error.ABORTED
        with pytest.raises(DeviceError) as caught:
            device.accept(5001)
        assert caught.value.code is Error.NOT_LISTENING
        device.close(name)
        device.frames()
    assert transfer(pair, 7 * START) == ordinary[0]


@pytest.mark.parametrize("seed", range(SEED, SEED + 4))
def test_the_peer_of_a_core_that_was_reset_hears_a_rst_to_its_next_segment(library: ctypes.CDLL, seed: int) -> None:
    draw = random.Random(f"peer {seed}")
    pair = two(library)
    out, accepted = pair.connected()
    pair.run(lambda: pair.client.info(out).state == State.ESTABLISHED)
    pair.client.send(out, draw.randbytes(draw.randrange(1, 40_000)))
    pair.run(lambda: pair.server.info(accepted).received > 0)
    pair.client.advance(pair.client.now + 65536 * draw.randrange(20_000))
    pair.client.reset(draw.randrange(1, 6))
    pair.server.send(accepted, b"are you there?")
    pair.run(lambda: pair.server.info(accepted).error != 0)
    assert pair.server.info(accepted).error == Error.RESET
    # The other side goes on, and both talk again.
    pair.server.close(accepted)
    out, accepted = pair.connected()
    pair.client.send(out, b"a new beginning")
    pair.run(lambda: pair.server.info(accepted).received == len(b"a new beginning"))
    assert pair.server.receive(accepted) == b"a new beginning"
