# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Gathering the frames that arrive on an interface, with their stamps."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from downbeat_toe.gap import frames, stamping
from downbeat_toe.gap.frames import Frames
from downbeat_toe.gap.headers import ETHERNET
from downbeat_toe.gap.report import console
from downbeat_toe.gap.stamping import Clock
from downbeat_toe.refused import Refused
from downbeat_toe.schedule import Kind

KEPT = 128  # bytes of a frame: all headers and numbers
POLL = 0.05  # s


@dataclass(frozen=True)
class Received:
    frames: Frames
    clock: Clock
    notes: list[str]


def listen(interface: str, by: Clock, kind: Kind, done: Callable[[int, float], bool]) -> Received:
    """Gathers frames of this kind until `done`, which is asked with their number and the seconds since the last one."""
    packets: list[tuple[int, int, int, memoryview]] = []
    unstamped = 0
    with stamping.receiver(interface, by) as raw:
        raw.settimeout(POLL)
        console.print(f"Listening on {interface}; its stamps are {by}", markup=False, soft_wrap=True)
        last = asked = before = time.monotonic()
        while True:
            now = time.monotonic()
            if now - before > 2 * POLL:  # this process was held up: what came meanwhile waits in the socket
                last = now
            before = now
            if now - asked >= POLL:  # whatever else is on the wire
                asked = now
                if done(len(packets), now - last):
                    break
            try:
                data, stamp = stamping.arrival(raw, by)
            except TimeoutError:
                continue
            except OSError as error:
                raise Refused(f"{interface}: {error.strerror}: did it go down?") from None
            packet = (stamp or 0, ETHERNET, len(data), memoryview(data[:KEPT]))
            if frames.find(kind, *packet[1:]) is None:
                continue
            last = now
            unstamped += stamp is None
            if stamp is not None:
                packets.append(packet)
        lost = stamping.dropped(raw)
    notes = []
    if lost:
        notes.append(f"{lost} frames did not fit into the socket's buffer: fewer frames, or more pause between them")
    if unstamped:
        notes.append(f"{unstamped} frames came without a stamp of {by}")
    packets.sort(key=lambda packet: packet[0])  # the stamps of several queues
    return Received(frames.select(kind, packets), by, notes)
