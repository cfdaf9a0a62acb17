# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Runs a script against a core of its own, line by line, in virtual time."""

from __future__ import annotations

import ctypes
import os
import random
from collections.abc import Callable
from ipaddress import IPv4Address
from pathlib import Path

from downbeat_toe.device import Device
from scapy.layers.inet import TCP
from scapy.utils import PcapWriter

from sim.adversarial.packetdrill.application import Application, CheckFailedError
from sim.adversarial.packetdrill.packets import CORE_IP, CORE_MAC, OURS, PEER_IP, PEER_MAC, BadFrameError, stream
from sim.adversarial.packetdrill.script import MODULUS, Call, Line, NetworkError, Script, Segment
from sim.adversarial.packetdrill.wire import LINK_RATE, Wire

TOLERANCE = "50"  # us
TIMER_UNIT = 65_536  # ns: the ends of the core's timers are rounded up to it, so that they are late and never early
POLL = 1_000  # ns: how often a call that waits looks


class ScriptFailedError(AssertionError):
    """The core did something else than the script says."""


def run(
    script: Script, library: ctypes.CDLL, seed: int = 1, pcap: Path | None = None, waves: Path | None = None
) -> None:
    """Raises ScriptFailedError with the line, what was expected, what came, and the last packets."""
    staging = int(script.options.get("staging_bytes", 0))
    mac, ip = bytes.fromhex(CORE_MAC.replace(":", "")), int(IPv4Address(CORE_IP))
    with Device(library, mac, ip, link_rate=LINK_RATE, secret=seed, staging_bytes=staging) as device:
        device.add_neighbour(int(IPv4Address(PEER_IP)), bytes.fromhex(PEER_MAC.replace(":", "")))
        if waves:
            device.waves(str(waves))
        capture = PcapWriter(str(pcap), nano=True) if pcap else None
        try:
            Run(script, device, seed, capture).run()
        finally:
            if capture:
                capture.close()


class Run:
    """One run of a script."""

    def __init__(self, script: Script, device: Device, seed: int, capture: PcapWriter | None) -> None:
        self._script = script
        self._tolerance = 1000 * int(script.options.get("tolerance_usecs", TOLERANCE))
        isn = script.options.get("remote_isn")
        draw = random.Random(f"{seed} {script.path.stem}")
        self._wire = Wire(device, draw, int(isn, 0) if isn else None, capture)
        self._application = Application(device, device.record_events(), self._wait)
        self._line = script.lines[0]
        self._last = 0  # ns: when the line before happened
        self._acks_ignored = False

    def run(self) -> None:
        try:
            for line in self._script.lines:
                self._line = line
                if line.direction == ">":
                    self._expect(line)
                else:
                    self._do(line)
            self._wire.run(self._wire.now + self._tolerance)
            if "open_end" not in self._script.options:
                self._none_unexpected(self._wire.now + 2 * self._tolerance)
        except (BadFrameError, CheckFailedError) as error:
            raise self._failure(str(error)) from None

    def _do(self, line: Line) -> None:
        """A step of the peer, the network or the application."""
        time = max(line.when.earliest + (self._last if line.when.relative else 0), self._wire.now)
        self._wire.run(time)
        self._none_unexpected(time)
        self._last = time
        conversation = self._wire.conversation(line.port)
        if isinstance(line.what, Call):
            self._call(line.what, line)
            return
        if isinstance(line.what, NetworkError):
            frame = conversation.complaint(line.what)
        else:
            if "S" in line.what.flags:
                conversation.first = (line.what.sequence + 1) % MODULUS
            frame = conversation.built(line.what)
        tag = f":{line.port} " if len(self._wire.conversations) > 1 else ""
        self._last = self._wire.put(frame, time, tag + str(line.what))

    def _call(self, call: Call, line: Line) -> None:
        conversation = self._wire.conversation(line.port)
        if call.name == "renumber":  # the connection that follows has new zeros
            conversation.local_zero = conversation.clock_zero = None
        elif call.name == "acks":
            self._acks_ignored = call.arguments == ("ignored",)
        else:
            self._application.do(call, conversation)

    def _expect(self, line: Line) -> None:
        """A segment of the core's: the next one, within its time."""
        assert isinstance(line.what, Segment)
        start = self._last if line.when.relative else 0
        earliest = start + line.when.earliest - self._tolerance
        latest = None if line.when.latest is None else start + line.when.latest + self._tolerance + TIMER_UNIT
        limit = self._wire.now + 3_600_000_000_000 if latest is None else latest
        self._skip_ignored(limit)
        if not self._wire.arrived:
            raise self._failure("it did not come")
        arrived = self._wire.arrived.popleft()
        conversation = self._wire.conversation(arrived.packet[TCP].dport)
        if line.port != conversation.port:
            raise self._failure(f"one to port {conversation.port} came: {self._wire.read(arrived.packet)}")
        tcp = arrived.packet[TCP]
        if conversation.local_zero is None and "S" in line.what.flags and "S" in str(tcp.flags):
            conversation.core_port = tcp.sport
            conversation.local_zero = (tcp.seq - line.what.sequence) % MODULUS
            self._set_clock(line.what, arrived.packet[TCP].options, conversation.port)
        came = conversation.read(arrived.packet)
        if differences := line.what.differences(came):
            raise self._failure(f"came:     {came}\n          ({'; '.join(differences)})")
        if arrived.time < earliest or latest is not None and arrived.time > latest:
            raise self._failure(
                f"it came {(arrived.time - self._last) / 1e9:+.9f} s after the line before, at {arrived.time / 1e9:.9f}"
            )
        self._wire.judge_payload(arrived.packet, stream(came.sequence, came.length, OURS))
        self._last = arrived.time

    def _set_clock(self, expected: Segment, options: list[tuple[str, tuple[int, int]]], port: int) -> None:
        """The TSval of a SYN is what the script says."""
        said = next((option.values[0] for option in expected.options or () if option.name == "TS"), None)
        came = next((value[0] for name, value in options if name == "Timestamp"), None)
        if said is not None and came is not None:
            self._wire.conversation(port).clock_zero = (came - said) % MODULUS

    def _skip_ignored(self, limit: int) -> None:
        """Time passes until a segment that counts has come, or up to the limit."""
        while True:
            self._wire.run_until_arrival(limit)
            if not (self._wire.arrived and self._ignores_next()):
                return
            self._wire.arrived.popleft()

    def _ignores_next(self) -> bool:
        segment = self._wire.read(self._wire.arrived[0].packet)
        return self._acks_ignored and segment.flags == "." and segment.length == 0

    def _none_unexpected(self, time: int) -> None:
        """A frame that came longer ago than the tolerance, and that no line expects, is a failure."""
        while self._wire.arrived:
            ignored = self._ignores_next()
            if not ignored and self._wire.arrived[0].time >= time - self._tolerance:
                return
            arrived = self._wire.arrived.popleft()
            if not ignored:
                said = self._wire.notation(arrived.packet)
                raise self._failure(f"before it, at {arrived.time / 1e9:.9f}, nobody expected {said}")

    def _wait(self, condition: Callable[[], bool]) -> bool:
        limit = self._wire.now + self._tolerance + TIMER_UNIT
        while not condition():
            if self._wire.now >= limit:
                return False
            self._wire.run(self._wire.now + POLL)
        return True

    def _failure(self, what: str) -> ScriptFailedError:
        place = os.path.relpath(self._script.path)
        lines = [f"{place}:{self._line.number}: {self._line.text}", f"expected: {self._line.what}", what]
        if isinstance(self._line.what, Call):
            lines[1:2] = []
        lines += ["the last packets:", *(f"  {shown}" for shown in self._wire.last_packets())]
        return ScriptFailedError("\n".join(lines))
