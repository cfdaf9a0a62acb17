# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The header tap against the 64-bit tap: a scenario gives the same events, headers of frames and departures by both.

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
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import ARP, Ether

from sim import verilated
from sim.tests import test_device
from sim.tests.conftest import IPS, MACS, Pair, would_block

# ns, for each placement so far. A full frame's way to memory, and its way out of it to the application, cost nothing;
RECEIVING = 3_200
# nor do the three clocks of one without payload: all that a core places that only sends is its peers' FINs.
PLACING = 24
FIELDS = tuple(field[0] for field in Event._fields_ if field[0] not in ("time", "rtt"))
SYN = 2  # a bit of the flags
SEGMENT, PLACED, CONSUMED, TIMER = 0, 1, 4, 11  # kinds of events
TIMESTAMPS = bytes([1, 1, 8, 10])  # RFC 7323 appendix A: how the option stands
FULL = 1448  # bytes of payload, behind timestamps
Order = Callable[[Event], int]


@dataclass
class Run:
    """What one core did: its events, and its frames with their SFDs."""

    events: list[Event] = field(default_factory=list)
    frames: list[tuple[bytes, int]] = field(default_factory=list)


@dataclass(frozen=True)
class Scenario:
    """So many connections, opened in turn, each with so many bytes up and down; a share of frames is lost each way."""

    connections: int = 1
    up: int = 0
    down: int = 0
    loss: float = 0.0
    spacing: int = 0  # ns per byte, 32 fraction bits
    delay: int = 5_000  # ns, one way
    initial_window: int = 10  # segments
    link_rate: int = 0
    urgent: bool = False  # all that goes up
    services: int = 0
    hops: int = 0
    milliseconds: int = 40


def run(tap: ctypes.CDLL, frame_tap: ctypes.CDLL, scenario: Scenario) -> Run:
    """The core at `tap` is the client of one at the 64-bit tap. Everybody acts at fixed times, so that both runs are alike."""
    draw = random.Random(f"{scenario} losses")
    result = Run()
    rate = scenario.link_rate
    with (
        Device(tap, MACS[0], IPS[0], link_rate=rate) as client,
        Device(frame_tap, MACS[1], IPS[1], secret=2, link_rate=rate) as server,
    ):
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
                        sink.put_frame(frame, departure + nanoseconds(scenario.delay))
            if len(out) < scenario.connections:
                out.append(
                    client.connect(
                        IPS[1],
                        80,
                        5000 + len(out),
                        spacing=scenario.spacing,
                        initial_window=scenario.initial_window,
                        differentiated_services=scenario.services,
                        time_to_live=scenario.hops,
                    )
                )
                left[client, out[-1]] = scenario.up
            if (new := would_block(lambda: server.accept(80))) is not None:
                accepted.append(new)
                left[server, new] = scenario.down
            for (device, name), rest in left.items():
                left[device, name] -= act(device, name, rest, device is client and scenario.urgent)
            deadline = min(client.next_deadline, server.next_deadline)
            step = max(step + 1, min(deadline, nanoseconds(60e9)) // tick)
        ends = {(client, name): scenario.down for name in out} | {(server, name): scenario.up for name in accepted}
        assert len(ends) == 2 * scenario.connections
        for (device, name), wanted in ends.items():
            assert device.info(name).received == wanted and device.info(name).peer_finished
    return result


def act(device: Device, name: int, rest: int, urgent: bool) -> int:
    """One turn of an application that has so many bytes to send: how many of them went."""
    sent = 0
    if rest:
        sent = would_block(lambda: device.send(name, bytes(rest), urgent=urgent)) or 0
    elif device.info(name).state in (State.ESTABLISHED, State.CLOSE_WAIT):
        device.shutdown(name)
    would_block(lambda: device.receive(name))
    return sent


def row(event: Event) -> tuple[int, ...]:
    return tuple(getattr(event, name) for name in FIELDS)


def all_together(_: Event) -> int:
    return 0


def timers_apart(event: Event) -> int:
    """A timer and another source's event of the same clock may stand in either order."""
    return int(event.kind == TIMER)


def by_kind(event: Event) -> int:
    return int(event.kind)


def same_events(frame: Run, header: Run, placing: int, order: Order = all_together, waiting: bool = False) -> None:
    """Content, the order of the events to which `order` gives the same number, and times but for `placing` ns a placement.

    With `waiting`, segments come before what they follow has been placed and has reached the application: that need not show when
    they come, nor when it reads.
    """
    assert len(frame.events) == len(header.events)
    placed = [*itertools.accumulate(event.kind == PLACED for event in frame.events)]
    # Stable: of each group in the order in which it happened.
    both = [sorted(enumerate(each.events), key=lambda numbered: order(numbered[1])) for each in (frame, header)]
    for (number, one), (_, other) in zip(*both, strict=True):
        differences = {
            name: values for name, *values in zip(FIELDS, row(one), row(other), strict=True) if len(set(values)) > 1
        }
        if waiting and one.kind == other.kind and one.kind in (SEGMENT, CONSUMED):
            differences = {name: values for name, values in differences.items() if name not in ("state", "received")}
        assert not differences, f"event {number} at {one.time} ns: {differences}"
        assert 0 <= one.time - other.time <= placing * placed[number], f"event {number}: {one.time}, {other.time} ns"
        assert not one.rtt_valid or abs(one.rtt - other.rtt) <= PLACING


def same_frames(frame: Run, header: Run, waiting: bool = False) -> None:
    """All headers to the last option, but for the checksum of a payload; zeros behind them.

    What is sent earlier may be a tick of the timestamps earlier.

    With `waiting`, windows are larger by two segments at most that the application has not read yet by the 64-bit tap.
    """
    scale = dict(Ether(header.frames[0][0])[TCP].options)["WScale"]
    for (one, _), (other, _) in zip(frame.frames, header.frames, strict=True):
        end = 34 + (one[46] >> 4) * 4
        payload = int.from_bytes(one[16:18], "big") - (end - 14)
        more = int.from_bytes(other[48:50], "big") - int.from_bytes(one[48:50], "big")
        assert 0 <= more << scale <= (2 * FULL + (1 << scale) if waiting else 0)
        ticks = int.from_bytes(one[58:62], "big") - int.from_bytes(other[58:62], "big")
        earlier = one[54:58] == TIMESTAMPS and ticks == 1
        if earlier:
            other = other[:58] + one[58:62] + other[62:]
        assert len(one) == len(other) and one[:48] == other[:48] and one[52:end] == other[52:end]
        assert payload or more or earlier or one[50:52] == other[50:52]
        assert not any(other[end:])


def same_departures(frame: Run, header: Run, connections: int) -> None:
    """SFDs to the unit, but of what answers a placement."""
    late = [one - other for (_, one), (_, other) in zip(frame.frames, header.frames, strict=True) if one != other]
    assert len(late) <= connections and all(0 < each <= nanoseconds(PLACING) for each in late), late


@pytest.fixture(scope="session")
def header_tap() -> ctypes.CDLL:
    return load(verilated.library(tap="header") / "libdownbeat_sim.so")


@pytest.fixture
def header_pair(header_tap: ctypes.CDLL) -> Iterator[Pair]:
    with Device(header_tap, MACS[0], IPS[0]) as client, Device(header_tap, MACS[1], IPS[1], secret=2) as server:
        client.add_neighbour(IPS[1], MACS[1])
        server.add_neighbour(IPS[0], MACS[0])
        yield Pair(client, server)


SENDERS = [
    # More frames wait in the core than its queues hold: events wait for them, and the same ones.
    Scenario(up=400_000),
    Scenario(up=300_000, delay=200_000, link_rate=8_000_000_000),
    Scenario(up=300_000, delay=500_000, loss=0.02, milliseconds=20_000),
    Scenario(up=300_000, delay=500_000, loss=0.02, urgent=True, services=46, hops=9, milliseconds=20_000),
    Scenario(up=1_500_000, delay=390_000, milliseconds=60),
    Scenario(connections=8, up=60_000, delay=1_000_000, initial_window=4, milliseconds=200),
    Scenario(connections=8, up=60_000, delay=1_000_000, initial_window=4, loss=0.03, milliseconds=20_000),
]
RECEIVERS = [
    Scenario(down=276 * FULL),
    Scenario(down=138 * FULL, delay=500_000, loss=0.02, milliseconds=30_000),
]
# The last segment is short: it comes while the one before is on its way to the application.
RECEIVERS_OF_SHORT_SEGMENTS = [
    Scenario(down=400_000),
    Scenario(down=200_000, delay=500_000, loss=0.02, milliseconds=30_000),
]


def both_taps(frame_tap: ctypes.CDLL, header_tap: ctypes.CDLL, scenario: Scenario) -> tuple[Run, Run]:
    frame, header = run(frame_tap, frame_tap, scenario), run(header_tap, frame_tap, scenario)
    assert len(frame.events) > 300
    if scenario.loss and scenario.up:
        assert sum(event.retransmission for event in header.events) > 2
    return frame, header


@pytest.mark.parametrize("scenario", [*SENDERS, *RECEIVERS], ids=str)
def test_events_and_frames_are_the_same(library: ctypes.CDLL, header_tap: ctypes.CDLL, scenario: Scenario) -> None:
    frame, header = both_taps(library, header_tap, scenario)
    same_events(frame, header, RECEIVING if scenario.down else PLACING, timers_apart)
    same_frames(frame, header)
    if scenario.up:
        same_departures(frame, header, scenario.connections)


@pytest.mark.parametrize("scenario", RECEIVERS_OF_SHORT_SEGMENTS, ids=str)
def test_what_is_received_while_the_application_waits(
    library: ctypes.CDLL, header_tap: ctypes.CDLL, scenario: Scenario
) -> None:
    """By the header tap placements and reads do not wait: kinds keep their order, and windows tell."""
    frame, header = both_taps(library, header_tap, scenario)
    same_events(frame, header, RECEIVING, by_kind, waiting=True)
    same_frames(frame, header, waiting=True)


def test_paced_segments_leave_at_the_same_byte_times(library: ctypes.CDLL, header_tap: ctypes.CDLL) -> None:
    """Three flows at 40 ns a byte, each alone slower than the link: launches that meet on the wire, too."""
    scenario = Scenario(connections=3, up=100_000, delay=200_000, spacing=40 << 32)
    frame, header = run(library, library, scenario), run(header_tap, library, scenario)
    same_frames(frame, header)
    same_departures(frame, header, scenario.connections)
    assert sum(len(bytes_) > 1_000 for bytes_, _ in frame.frames) > 200


def test_data_both_ways_arrives(library: ctypes.CDLL, header_tap: ctypes.CDLL) -> None:
    run(
        header_tap,
        library,
        Scenario(connections=4, up=60_000, down=60_000, delay=200_000, loss=0.02, milliseconds=60_000),
    )


@pytest.mark.parametrize(
    "check",
    [
        test_device.test_closing_both_ends_leaves_nobody,
        test_device.test_nobody_listening_is_refused,
        test_device.test_abort_resets_the_peer,
        test_device.test_a_close_with_data_that_was_not_read_resets,
        test_device.test_silence_times_out,
    ],
)
def test_connections_begin_and_end_as_by_the_frame_tap(header_pair: Pair, check: Callable[[Pair], None]) -> None:
    check(header_pair)


def test_flows_come_back(header_pair: Pair) -> None:
    """More connections in turn than the core has flows."""
    for _ in range(20):
        out, accepted = header_pair.connected()
        header_pair.client.abort(out)
        header_pair.run(lambda: header_pair.server.info(accepted).error != 0)  # noqa: B023
        header_pair.server.close(accepted)


def test_an_idle_device_needs_no_time(header_tap: ctypes.CDLL) -> None:
    with Device(header_tap, MACS[0], IPS[0]) as device:
        test_device.test_an_idle_device_needs_no_time(device)


def test_what_is_received_is_zeros_of_the_right_number(header_pair: Pair) -> None:
    out, accepted = header_pair.connected()
    header_pair.run(lambda: header_pair.client.info(out).state == State.ESTABLISHED)
    header_pair.client.send(out, b"something")
    header_pair.client.shutdown(out)
    header_pair.run(lambda: bool(header_pair.server.info(accepted).peer_finished))
    header_pair.run(lambda: would_block(lambda: header_pair.server.receive(accepted)) == bytes(len(b"something")))
    assert header_pair.server.receive(accepted) == b""


def test_who_is_no_neighbour_is_unreachable(header_tap: ctypes.CDLL) -> None:
    with Device(header_tap, MACS[0], IPS[0], netmask=0xFFFFFF00, gateway=IPS[1]) as device:
        with pytest.raises(DeviceError) as caught:
            device.connect(0xC0000207, 80)
        assert caught.value.code is Error.UNREACHABLE
        device.add_neighbour(IPS[1], MACS[1])
        device.connect(0xC0000207, 80)
        device.advance(nanoseconds(100_000))
        [(frame, _)] = device.frames()
        assert frame[:6] == MACS[1]


def segment(**changed: object) -> bytes:
    """A SYN to the device, with fields changed as scapy names them."""
    ip = {name[3:]: changed.pop(name) for name in list(changed) if name.startswith("ip_")}
    fields = {"sport": 4000, "dport": 80, "flags": "S", **changed}
    return bytes(Ether(src=MACS[1], dst=MACS[0]) / IP(src="10.0.0.2", dst="10.0.0.1", **ip) / TCP(**fields))


@pytest.mark.parametrize(
    "frame",
    [
        segment(ip_version=5),
        segment(ip_len=39),
        segment(ip_len=1400),
        segment(ip_frag=1),
        segment(dataofs=4),
        segment(dataofs=15),
        segment(flags="SF"),
        segment(flags="SR"),
        segment(sport=0),
        segment(options=[(2, b"")]).replace(b"\x02\x02", b"\x02\x01"),
    ],
)
def test_segments_of_a_wrong_form_are_counted_and_go_no_further(header_tap: ctypes.CDLL, frame: bytes) -> None:
    with Device(header_tap, MACS[0], IPS[0]) as device:
        events = device.record_events()
        device.listen(80)
        for number, arriving in enumerate((frame, segment())):
            device.put_frame(arriving, nanoseconds(10_000 * (number + 1)))
            device.advance(nanoseconds(10_000 * (number + 2)))
            assert device.counters().frames_refused == 1
        assert len({event.flow for event in events}) == 1 and [bytes_[47] for bytes_, _ in device.frames()] == [0x12]


def test_frames_of_others_do_not_enter(header_tap: ctypes.CDLL) -> None:
    with Device(header_tap, MACS[0], IPS[0]) as device:
        device.put_frame(bytes(Ether(src=MACS[1], dst=MACS[0]) / IP(dst="10.0.0.1") / UDP()), nanoseconds(1_000))
        device.put_frame(bytes(Ether(src=MACS[1]) / ARP()), nanoseconds(9_000))
        assert (device.counters().bypass_in, device.counters().frames_refused) == (2, 0)


def test_the_library_says_which_tap_it_is(library: ctypes.CDLL, header_tap: ctypes.CDLL) -> None:
    assert (library.downbeat_tap(), header_tap.downbeat_tap()) == (b"frame", b"header")
    assert library.downbeat_highest_link_rate() < header_tap.downbeat_highest_link_rate()
