# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The header tap against the 64-bit tap: a scenario gives the same events, headers of frames and departures by both."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator

import pytest
from downbeat_toe.device import Device, DeviceError, nanoseconds
from downbeat_toe.library import load
from downbeat_toe.structures import Error, State
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import ARP, Ether

from sim.device import test_device
from sim.device.pair import IPS, MACS, Pair, would_block
from sim.device.scenario import (
    FULL,
    PLACING,
    RECEIVING,
    Run,
    Scenario,
    by_kind,
    departures_apart,
    run,
    same_departures,
    same_events,
    same_frames,
)
from sim.lib import verilated


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
    Scenario(up=300_000, delay=500_000, loss=0.03, urgent=True, services=46, hops=9, milliseconds=20_000),
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
    same_events(frame, header, RECEIVING if scenario.down else PLACING, departures_apart)
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
    assert (library.downbeat_sim_tap(), header_tap.downbeat_sim_tap()) == (b"frame", b"header")
    assert library.downbeat_sim_highest_link_rate() < header_tap.downbeat_sim_highest_link_rate()
