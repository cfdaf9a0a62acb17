# SPDX-License-Identifier: BSD-2-Clause-Patent
"""One connection whose window is 16 MiB: window scale 9, more than 8 MiB really in flight, with losses."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

from downbeat_toe.device import Device, DeviceError
from downbeat_toe.structures import Error, State

from sim.bench.scale.wire import IPS, Failed, Wire, would_block

DELAY_NS = 50_000_000  # one way
STEP_NS = 200_000
WINDOW = 16 << 20
TOTAL = 96 << 20  # bytes
HOLES = 4  # that both ends keep: what lies beyond more of them is sent again too
SCALE = 9  # 65,535 << 8 is less than 16 MiB
MAX_STEPS = 100_000
MODULUS = 2**32


@dataclass(frozen=True)
class Segment:
    """The fields of a frame that are read."""

    flags: int
    sequence: int
    acknowledgment: int
    length: int
    window: int

    @classmethod
    def of(cls, frame: bytes) -> Segment:
        sequence, acknowledgment = (int.from_bytes(frame[at : at + 4], "big") for at in (38, 42))
        length = int.from_bytes(frame[16:18], "big") - 20 - (frame[46] >> 4) * 4
        return cls(frame[47], sequence, acknowledgment, length, int.from_bytes(frame[48:50], "big"))


class Losses:
    """The first transmission of a few segments is lost once more than half a window is in flight."""

    def __init__(self, count: int) -> None:
        self.left = count
        self.highest = 0
        self.acknowledged = 0
        self._next = 0

    def __call__(self, frame: bytes) -> bool:
        segment = Segment.of(frame)
        if segment.flags & 2:
            self.highest = self.acknowledged = segment.sequence + 1
            return False
        end = (segment.sequence + segment.length) % MODULUS
        if (end - self.highest) % MODULUS >= MODULUS // 2 or not segment.length:
            return False
        self.highest = end
        self._next += 1
        if self.left and (end - self.acknowledged) % MODULUS > WINDOW // 2 and self._next % 997 == 0:
            self.left -= 1
            return True
        return False


def window(library: ctypes.CDLL, seed: int, losses: int) -> dict[str, Any]:
    """TOTAL bytes from the client to the server; figures for the report."""
    watch = Losses(losses)
    wire = Wire(library, seed, DELAY_NS, watch)
    client, server = wire.devices
    server.listen(80)
    events = client.record_events()
    name, peer = client.connect(IPS[1], 80), None
    left, received, offered, scale, resting = TOTAL, 0, 0, 0, 0
    for _ in range(MAX_STEPS):
        resting = resting + 1 if wire.at_rest() else 0
        if resting > 2:  # the application has had its turn
            raise Failed(f"nothing moves any more: {left} bytes unsent, {received} received")
        for source, frame in wire.step(STEP_NS):
            segment = Segment.of(frame)
            if source is server:
                if segment.flags & 2:
                    scale = window_scale(frame)
                else:
                    offered = max(offered, segment.window << scale)
        watch.acknowledged = events[-1].acknowledged if events else 0
        if peer is None:
            peer = would_block(lambda: server.accept(80))
            continue
        if left and client.info(name).state == State.ESTABLISHED:
            left -= send(client, name, left)
            if not left:
                client.shutdown(name)
        while data := receive(server, peer):
            received += len(data)
        if server.info(peer).peer_finished and received == TOTAL:
            break
    else:
        raise Failed(f"{received} of {TOTAL} bytes arrive")
    flight = max((event.highest_sent - event.acknowledged) % MODULUS for event in events if event.live)
    resent = sum(event.retransmission for event in events)
    checks = {
        "window scale 9 is not offered": scale == SCALE,
        "the window is not 16 MiB": offered == WINDOW,
        "less than 8 MiB in flight": flight > WINDOW // 2,
        "more in flight than the window": flight <= WINDOW,
        "not all that was to be lost was": watch.left == 0,
        "more is sent again than was lost": resent == losses or losses > HOLES and resent > losses,
        "bytes": received == TOTAL == server.info(peer).received,
    }
    if wrong := [what for what, right in checks.items() if not right]:
        raise Failed(f"{', '.join(wrong)} ({flight} in flight, window {offered}, {resent} resent, {received} received)")
    return {
        "bytes": received,
        "window": offered,
        "most_in_flight": flight,
        "lost": losses,
        "retransmissions": resent,
        "virtual_seconds": client.now / 65536e9,
    }


def send(client: Device, name: int, left: int) -> int:
    """As much as the device takes; the number of bytes."""
    total = 0
    while left > total and (taken := would_block(lambda: client.send(name, bytes(min(left - total, 1 << 20))))):  # noqa: B023
        total += taken
    return total


def receive(server: Device, peer: int) -> bytes:
    """The bytes received; none if it would block, or at the end."""
    try:
        data = server.receive(peer)
    except DeviceError as error:
        if error.code is not Error.WOULD_BLOCK:
            raise
        return b""
    if any(data):
        raise Failed("other bytes than were sent")
    return data


def window_scale(frame: bytes) -> int:
    """The window scale of a SYN."""
    at = 54
    while frame[at] != 3:
        at += 1 if frame[at] == 1 else frame[at + 1]
    return frame[at + 2]
