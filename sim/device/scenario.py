# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A scenario between two cores, and what two runs of it have in common, one by the 64-bit tap and one by the header
tap.

What is stated here about times is what docs/reference/c-interface.md promises.
"""

from __future__ import annotations

import ctypes
import itertools
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from downbeat_toe.device import Device, nanoseconds
from downbeat_toe.structures import Event, State
from scapy.layers.inet import TCP
from scapy.layers.l2 import Ether

from sim.device.pair import IPS, MACS, would_block

# ns, for each placement so far. A full frame's way to memory, and its way out of it to the application, cost nothing;
RECEIVING = 3_200
# nor do the four clocks of one without payload: all that a core places that only sends is its peers' FINs.
PLACING = 32
TIMES = ("time", "rtt", "arrival", "delivery_interval")
FIELDS = tuple(field[0] for field in Event._fields_ if field[0] not in TIMES)
FIN, SYN = 1, 2  # bits of the flags
SEGMENT, PLACED, CONSUMED, DEPARTED, ESTIMATED = 0, 1, 4, 11, 17  # kinds of events
# ns. Stamps of ACKs differ by a clock, and with them how many of 16 turns of some 65 clocks the rate estimator takes.
ESTIMATING = 16 * 65 * 8
TIMESTAMPS = bytes([1, 1, 8, 10])  # RFC 7323 appendix A: how the option stands
FULL = 1448  # bytes of payload, behind timestamps
Order = Callable[[Event], int]


@dataclass
class Run:
    """A run of one core: its events, and its frames with their SFDs."""

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


class Losses:
    """A share of all segments but SYNs: which ones depends on what they say and how often, not on when they come."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._times: Counter[bytes] = Counter()

    def take(self, frame: bytes) -> bool:
        """Says whether this one is lost."""
        payload = int.from_bytes(frame[16:18], "big") - 20 - (frame[46] >> 4) * 4
        says = frame[
            26 : 42 if payload or frame[47] & FIN else 46
        ]  # from the addresses to the sequence number, or the ACK's
        self._times[says] += 1
        draw = random.Random(f"{self._scenario} {says.hex()} {self._times[says]}").random()
        return draw < self._scenario.loss and not frame[47] & SYN


def run(tap: ctypes.CDLL, frame_tap: ctypes.CDLL, scenario: Scenario) -> Run:
    """The core at `tap` is the client of one at the 64-bit tap. Everybody acts at fixed times, so that both runs are
    alike."""
    result = Run()
    rate = scenario.link_rate
    with (
        Device(tap, MACS[0], IPS[0], link_rate=rate) as client,
        Device(frame_tap, MACS[1], IPS[1], secret=2, link_rate=rate) as server,
    ):
        losses = Losses(scenario)
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
                    if not losses.take(frame):
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
                        # Their timers count from the time of an event, which differs between the taps.
                        no_tail_loss_probe=1,
                        no_rack=1,
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


def departures_apart(event: Event) -> int:
    """Departures and other events of one clock may stand in either order; an estimate comes when it is made."""
    return (DEPARTED, ESTIMATED).index(event.kind) + 1 if event.kind in (DEPARTED, ESTIMATED) else 0


def by_kind(event: Event) -> int:
    return int(event.kind)


def same_events(frame: Run, header: Run, placing: int, order: Order = all_together, waiting: bool = False) -> None:
    """Content, the order of the events to which `order` gives the same number, and times but for `placing` ns a
    placement.

    With `waiting`, segments come before what they follow has been placed and has reached the application: that need not
    show when they come, nor when it reads.
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
        if one.kind == ESTIMATED:
            assert abs(one.time - other.time) <= ESTIMATING + placing * placed[number]
            continue
        assert 0 <= one.time - other.time <= placing * placed[number], f"event {number}: {one.time}, {other.time} ns"
        assert not one.rtt_valid or abs(one.rtt - other.rtt) <= PLACING
        apart = abs(one.delivery_interval - other.delivery_interval)
        assert not one.delivery_valid or apart <= PLACING + placing * placed[number]


BEHIND_A_HOLE = 32 * FULL  # bytes; as many segments are in flight when one is lost


def same_frames(frame: Run, header: Run, waiting: bool = False) -> None:
    """All headers to the last option, but for the checksum of a payload; zeros behind them.

    What is sent earlier may be a tick of the timestamps earlier.

    With `waiting`, windows are larger by what the application has not read yet by the 64-bit tap: two segments at most,
    or all that stood behind a hole, when it has just been filled.
    """
    scale = dict(Ether(header.frames[0][0])[TCP].options)["WScale"]
    for (one, _), (other, _) in zip(frame.frames, header.frames, strict=True):
        end = 34 + (one[46] >> 4) * 4
        payload = int.from_bytes(one[16:18], "big") - (end - 14)
        more = int.from_bytes(other[48:50], "big") - int.from_bytes(one[48:50], "big")
        assert 0 <= more << scale <= (BEHIND_A_HOLE + (1 << scale) if waiting else 0)
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
