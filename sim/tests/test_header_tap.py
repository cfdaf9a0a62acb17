# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The header tap against the 64-bit tap: the same scenario gives the same events, the same frames but for their payload, the same departures.

What is stated here about times is what docs/device.md promises.
"""

from __future__ import annotations

import ctypes
import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest
from downbeat.device import Device, DeviceError, Error, Event, State, load, nanoseconds

from sim import build
from sim.tests import test_device
from sim.tests.conftest import DELAY, IPS, MACS, Pair, would_block

# An open is resolved at once and not by the neighbours' rooms: from there on the header tap is ahead, ns.
AHEAD = 0
# Both taps' times, apart from that: streams that are modelled in whole frames, memory that is always free. ns
SENDING = 150
# A placement is confirmed at once, without a full frame's way to memory, and a receive command without its way out of it. ns
RECEIVING = 3_000
FIELDS = tuple(name for name, _ in Event._fields_ if name not in ("time", "rtt"))
SYN, FIRST_OPTION = 2, 54


@dataclass
class Run:
    """What one core did: its events, and its frames with their SFDs."""

    events: list[Event] = field(default_factory=list)
    frames: list[tuple[bytes, int]] = field(default_factory=list)


@dataclass(frozen=True)
class Scenario:
    """So many connections, opened one after the other, each with so many bytes up and down; a share of frames is lost each way."""

    connections: int = 1
    up: int = 0
    down: int = 0
    loss: float = 0.0
    spacing: int = 0  # ns per byte, 32 fraction bits
    link_rate: int = 0
    milliseconds: int = 40


def run(tap: ctypes.CDLL, frame_tap: ctypes.CDLL, scenario: Scenario) -> Run:
    """The core at `tap` is the client of one at the 64-bit tap. Everybody acts at fixed times, so that both runs are alike."""
    draw = random.Random(f"{scenario} losses")
    result = Run()
    options = {"link_rate": scenario.link_rate}
    with Device(tap, MACS[0], IPS[0], **options) as client, Device(frame_tap, MACS[1], IPS[1], secret=2, **options) as server:
        result.events = client.record_events()
        client.add_neighbour(IPS[1], MACS[1])
        server.add_neighbour(IPS[0], MACS[0])
        server.listen(80)
        out: list[int] = []
        accepted: list[int] = []
        left: dict[tuple[Device, int], int] = {}
        # Initial sequence numbers count 4,096 ns: all opens lie well within such a tick.
        tick = nanoseconds(4096)
        step = 1
        while (now := step * tick) < nanoseconds(scenario.milliseconds * 1e6):
            for device in (client, server):
                device.advance(now)
            for source, sink in ((client, server), (server, client)):
                for frame, departure in source.frames():
                    if source is client:
                        result.frames.append((frame, departure))
                    if draw.random() >= scenario.loss or frame[47] & SYN:
                        sink.put_frame(frame, departure + DELAY)
            if len(out) < scenario.connections:
                out.append(client.connect(IPS[1], 80, 5000 + len(out), spacing=scenario.spacing))
                left[client, out[-1]] = scenario.up
            if (name := would_block(lambda: server.accept(80))) is not None:
                accepted.append(name)
                left[server, name] = scenario.down
            for (device, name), bytes_left in left.items():
                if bytes_left:
                    left[device, name] -= would_block(lambda: device.send(name, bytes(bytes_left))) or 0  # noqa: B023
                elif device.info(name).state in (State.ESTABLISHED, State.CLOSE_WAIT):
                    would_block(lambda: device.shutdown(name))  # noqa: B023
                would_block(lambda: device.receive(name))  # noqa: B023
            deadline = min(client.next_deadline, server.next_deadline)
            step = max(step + 1, min(deadline, nanoseconds(60e9)) // tick)
        ends = {(client, name): scenario.down for name in out} | {(server, name): scenario.up for name in accepted}
        assert len(ends) == 2 * scenario.connections
        for (device, name), wanted in ends.items():
            assert device.info(name).received == wanted and device.info(name).peer_finished
    return result


def row(event: Event) -> tuple[int, ...]:
    return tuple(getattr(event, name) for name in FIELDS)


def same_events(frame: Run, header: Run, bound: int) -> None:
    """Content, order, and times."""
    for number, (one, other) in enumerate(itertools.zip_longest(frame.events, header.events)):
        assert one is not None and other is not None, f"{len(frame.events)} and {len(header.events)} events"
        assert row(one) == row(other), f"event {number} at {one.time} ns, {dict(zip(FIELDS, zip(row(one), row(other))))}"
        assert abs(one.time - other.time - AHEAD) <= bound, f"event {number}: {one.time} and {other.time} ns"
        if one.rtt_valid:
            assert abs(one.rtt - other.rtt) <= bound


def same_frames(frame: Run, header: Run) -> None:
    """All headers to the last option, but for the checksum of a payload; zeros behind them."""
    assert len(frame.frames) == len(header.frames)
    for (one, _), (other, _) in zip(frame.frames, header.frames):
        end = 34 + (one[46] >> 4) * 4
        payload = int.from_bytes(one[16:18], "big") - (end - 14)
        assert len(one) == len(other) and one[:50] == other[:50] and one[52:end] == other[52:end]
        assert payload or one[50:52] == other[50:52]
        assert not any(other[end:])


@pytest.fixture(scope="session")
def header_tap() -> ctypes.CDLL:
    return load(build.library(tap="header") / "libdownbeat_sim.so")


@pytest.fixture
def header_pair(header_tap: ctypes.CDLL) -> Iterator[Pair]:
    with Device(header_tap, MACS[0], IPS[0]) as client, Device(header_tap, MACS[1], IPS[1], secret=2) as server:
        client.add_neighbour(IPS[1], MACS[1])
        server.add_neighbour(IPS[0], MACS[0])
        yield Pair(client, server)


@pytest.mark.parametrize(
    "scenario",
    [
        Scenario(up=400_000),
        Scenario(up=400_000, link_rate=8_000_000_000),
        Scenario(up=300_000, loss=0.02, milliseconds=8_000),
        Scenario(connections=8, up=200_000),
        Scenario(connections=8, up=100_000, loss=0.02, milliseconds=12_000),
        Scenario(connections=3, up=100_000, spacing=20 << 32),
    ],
    ids=str,
)
def test_sending_gives_the_same_events_and_frames(
    library: ctypes.CDLL, header_tap: ctypes.CDLL, scenario: Scenario
) -> None:
    frame, header = run(library, library, scenario), run(header_tap, library, scenario)
    same_events(frame, header, SENDING)
    same_frames(frame, header)


@pytest.mark.parametrize(
    "scenario",
    [
        Scenario(down=400_000),
        Scenario(down=300_000, loss=0.02, milliseconds=8_000),
        Scenario(connections=4, down=100_000, up=100_000),
        Scenario(connections=4, down=50_000, up=50_000, loss=0.02, milliseconds=12_000),
    ],
    ids=str,
)
def test_receiving(
    library: ctypes.CDLL, header_tap: ctypes.CDLL, scenario: Scenario
) -> None:
    frame, header = run(library, library, scenario), run(header_tap, library, scenario)
    same_events(frame, header, RECEIVING)
    same_frames(frame, header)
