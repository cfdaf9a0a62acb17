# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A random script against a core of its own: what the peer's window does, and who writes when."""

from __future__ import annotations

import ctypes
import random
from dataclasses import dataclass
from ipaddress import IPv4Address

from downbeat_toe.device import Device, DeviceError

from sim.adversarial.packetdrill.packets import CORE_IP, CORE_MAC, CORE_PORT, OURS, PEER_IP, PEER_MAC, stream
from sim.adversarial.packetdrill.wire import LINK_RATE, Wire
from sim.adversarial.windows.peer import Peer

PORT = 4000
STEPS = 40
END = 200_000_000_000  # ns: a persist timer of 60 s and what follows it
WAITS = (1_000_000, 10_000_000, 100_000_000, 1_500_000_000, 5_000_000_000)  # ns


@dataclass
class Outcome:
    """How a script went; `faults` is empty if all is well."""

    faults: list[str]
    judged: int  # replies whose number was judged
    both: tuple[int, int]  # bytes of the core's and of the peer's


def play(library: ctypes.CDLL, seed: int) -> Outcome:
    """Plays the script that the seed draws. An even one shrinks the window, an odd one rounds it to a scale."""
    draw = random.Random(f"windows {seed}")
    mac, ip = bytes.fromhex(CORE_MAC.replace(":", "")), int(IPv4Address(CORE_IP))
    with Device(library, mac, ip, link_rate=LINK_RATE, secret=seed) as device:
        device.add_neighbour(int(IPv4Address(PEER_IP)), bytes.fromhex(PEER_MAC.replace(":", "")))
        device.listen(CORE_PORT)
        wire = Wire(device, draw, None)
        peer = Peer(wire, wire.conversation(PORT), draw.randint(0, 10) if seed % 2 else None)
        return Script(device, peer, draw).run()


class Script:
    """The actions of one script, in virtual time."""

    def __init__(self, device: Device, peer: Peer, draw: random.Random) -> None:
        self._device, self._peer, self._draw = device, peer, draw
        self._written = self._read = 0

    def run(self) -> Outcome:
        peer = self._peer
        peer.open()
        self._pass(1_000_000)
        self._name = self._device.accept(CORE_PORT)
        for _ in range(STEPS):
            self._draw.choice((self._move, self._move, self._core_writes, self._core_writes, self._peer_writes))()
            self._pass(self._draw.randint(0, self._draw.choice(WAITS)))
        if self._draw.random() < 0.25:
            return self._abort()
        peer.window = max(peer.window, 65535)
        peer.tell()
        end = peer.wire.now + END
        while peer.wire.now < end and (peer.expected <= self._written or peer.acknowledged < peer.next):
            self._pass(500_000_000)
            if peer.window < 65535:
                peer.window = 65535
                peer.tell()
        if peer.expected != 1 + self._written:
            peer.faults.append(f"of {self._written} bytes of the core's {peer.expected - 1} came")
        if peer.acknowledged != peer.next:
            peer.faults.append(f"of {peer.next - 1} bytes of the peer's {peer.acknowledged - 1} are acknowledged")
        return self._outcome()

    def _abort(self) -> Outcome:
        """A window that is shut takes the RST at once."""
        self._peer.window = 0 if self._peer.scale is None else self._peer.window
        self._peer.tell()
        self._pass(1_000_000)
        self._device.abort(self._name)
        self._pass(1_000_000)
        if not self._peer.reset:
            self._peer.faults.append("the peer does not hear of the abort")
        return self._outcome()

    def _outcome(self) -> Outcome:
        return Outcome(self._peer.faults, self._peer.judged, (self._written, self._peer.next - 1))

    def _move(self) -> None:
        """The window: open, shut, or anything between. With a scale its edge goes only to the right."""
        peer = self._peer
        wanted = self._draw.choice((0, 0, self._draw.randint(1, 3000), self._draw.randint(1, 65535), 65535))
        peer.window = wanted if peer.scale is None else max(peer.window, wanted)
        peer.tell()

    def _core_writes(self) -> None:
        data = stream(1 + self._written, self._draw.choice((1, 100, 1460, 5000, 20000)), OURS)
        try:
            self._written += self._device.send(self._name, data)
        except DeviceError:
            return  # no space

    def _peer_writes(self) -> None:
        self._peer.write(self._draw.choice((1, 100, 1460, 4000)))

    def _pass(self, duration: int) -> None:
        """Time passes; the peer answers what comes as it comes, and the application reads."""
        wire, end = self._peer.wire, self._peer.wire.now + duration
        while wire.now < end:
            self._peer.again()
            wire.run_until_arrival(end)
            while wire.arrived:
                self._peer.hear(wire.arrived.popleft().packet)
            self._take()

    def _take(self) -> None:
        if not hasattr(self, "_name"):
            return
        try:
            data = self._device.receive(self._name, 1 << 16)
        except DeviceError:
            return
        if data != stream(1 + self._read, len(data), 0):
            self._peer.faults.append(f"{len(data)} bytes behind {self._read} are not what the peer sent")
        self._read += len(data)
