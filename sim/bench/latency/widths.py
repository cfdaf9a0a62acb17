# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Clocks of the core alone at each width of its beats: from stream to stream, 64 bytes of payload, nothing beside it.

Receive: from a frame's FCS to the application's bytes. Send: from a write to the frame's last beat. Turn: from an ACK's
FCS to the last beat of the segment that it releases.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from downbeat_toe.device import Device, nanoseconds
from downbeat_toe.library import load

from sim.device.pair import IPS, MACS, Pair, would_block
from sim.lib import verilated

Value = TypeVar("Value")
WIDTHS = (8, 16, 32, 64)
PAYLOAD = bytes(64)
CLOCK = nanoseconds(8)
GATE = 25  # clocks from a frame's last beat to its SFD (sim/device/core/launch_gate.h)
SMALLEST, FCS = 60, 4  # bytes
LIMIT = 1_000  # clocks
QUIET = nanoseconds(1e9)  # longer than an ACK may wait


def measure(beat_bytes: int) -> dict[str, int]:
    """`receive`, `send` and `turn`, on a link of a beat a clock."""
    library = load(verilated.library(preset=verilated.wide(beat_bytes)) / "libdownbeat_sim.so")
    rate = library.downbeat_sim_highest_link_rate()
    with (
        Device(library, MACS[0], IPS[0], link_rate=rate) as client,
        Device(library, MACS[1], IPS[1], link_rate=rate, secret=2) as server,
    ):
        ours, theirs = Pair(client, server).connected()
        for device in (client, server):
            device.advance(max(client.now, server.now) + QUIET)
            device.frames()

        def arrives(device: Device, frame: bytes) -> int:
            """When the core has the first beat: a clock behind the FCS at the latest."""
            whole = nanoseconds(8e9 * (max(len(frame), SMALLEST) + FCS + 1) / rate)
            device.put_frame(frame, device.now + CLOCK)
            return device.now + CLOCK + whole

        begin = client.now
        client.send(ours, PAYLOAD)
        data, departure = _waited(client, client.frames)[0]
        send = departure - begin
        client.send(ours, PAYLOAD)  # Nagle's algorithm holds it until the ACK
        begin = arrives(server, data)
        _waited(server, lambda: would_block(lambda: server.receive(theirs)))
        receive = server.now - begin
        server.advance(server.now + QUIET)
        acknowledgment, _ = server.frames()[0]
        begin = arrives(client, acknowledgment)
        turn = _waited(client, client.frames)[0][1] - begin
    gate = {"receive": 0, "send": GATE, "turn": GATE}
    times = {"receive": receive, "send": send, "turn": turn}
    return {name: round(time / CLOCK) - gate[name] for name, time in times.items()}


def _waited(device: Device, call: Callable[[], Value | None]) -> Value:
    """Its first result, a clock at a time."""
    for _ in range(LIMIT):
        device.advance(device.now + CLOCK)
        if result := call():
            return result
    raise AssertionError(f"nothing within {LIMIT} clocks")
