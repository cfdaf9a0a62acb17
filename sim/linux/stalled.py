# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A reader of Linux that stalls past the core's first probe, while its application writes.

The core runs in this process, with its time bound to the wall clock: no program of the tap has an application that
writes and reads on one connection.
"""

from __future__ import annotations

import array
import fcntl
import os
import socket
import struct
import termios
import time
from ipaddress import IPv4Address

from downbeat_toe.device import Device, DeviceError, nanoseconds
from downbeat_toe.library import load

from sim.lib import verilated
from sim.linux import namespace
from sim.linux.visit import Setting, Visit

PORT = 5010
TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 2, 0x1000  # <linux/if_tun.h>
STALL_SECONDS = 2.5  # past the first probe, which comes after a second
SOON_SECONDS = 0.5
RECEIVE_BUFFER = 32768
CHUNK = 1 << 16


class Pair:
    """A core on the interface and a socket of the kernel, connected; the caller lets both go on by `turn`."""

    def __init__(self, setting: Setting, interface: str) -> None:
        self._tap = os.open(namespace.TUN, os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(self._tap, TUNSETIFF, struct.pack("16sH22x", interface.encode(), IFF_TAP | IFF_NO_PI))
        library = load(verilated.library() / "libdownbeat_sim.so")
        mac, ip = bytes.fromhex(namespace.CORE_MAC.replace(":", "")), int(IPv4Address(namespace.CORE_IP))
        self.device = Device(library, mac, ip, secret=setting.seed)
        self._start = time.monotonic_ns() - (self.device.now >> 16)
        self.device.listen(PORT)
        self._end = time.monotonic() + setting.wall_limit
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
        self.socket.setblocking(False)
        self.socket.connect_ex((namespace.CORE_IP, PORT))
        self.name = 0
        while not self.name:
            self.turn()
            try:
                self.name = self.device.accept(PORT)
            except DeviceError:
                continue
        self.to_core, self.from_core = b"", b""  # arrived

    def close(self) -> None:
        self.socket.close()
        os.close(self._tap)
        self.device.__exit__(None, None, None)

    def turn(self) -> None:
        """Frames pass both ways, and the core's time follows the clock."""
        if time.monotonic() > self._end:
            raise TimeoutError("the time is over")
        now = max(time.monotonic_ns() - self._start, self.device.now >> 16)
        for _ in range(64):
            try:
                frame = os.read(self._tap, 2048)
            except BlockingIOError:
                break
            self.device.put_frame(frame, nanoseconds(now))
            now += len(frame) + 24
        self.device.advance(nanoseconds(now))
        for frame, _ in self.device.frames():
            os.write(self._tap, frame)

    def wait(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.turn()
            self.take_at_core()

    def give_core(self, data: memoryview) -> int:
        try:
            return self.device.send(self.name, bytes(data[:CHUNK])) if data else 0
        except DeviceError:
            return 0

    def give_linux(self, data: memoryview) -> int:
        try:
            return self.socket.send(data[:CHUNK]) if data else 0
        except BlockingIOError:
            return 0

    def take_at_core(self) -> None:
        try:
            self.to_core += self.device.receive(self.name)
        except DeviceError:
            return

    def take_at_linux(self) -> None:
        try:
            self.from_core += self.socket.recv(CHUNK)
        except BlockingIOError:
            return

    @property
    def unacknowledged(self) -> int:
        """Bytes that the kernel has sent or will send and whose ACK it lacks."""
        bytes_ = array.array("i", [0])
        fcntl.ioctl(self.socket, termios.TIOCOUTQ, bytes_)
        return bytes_[0]


def _shut(pair: Pair, data: memoryview) -> int:
    """Linux does not read, until its window is shut and a probe has been refused; the bytes that the core took."""
    given, end = 0, time.monotonic() + STALL_SECONDS
    while time.monotonic() < end:
        given += pair.give_core(data[given:])
        pair.turn()
    return given


def both_ways(setting: Setting) -> Visit:
    """All bytes arrive, and what Linux writes at its shut window is acknowledged at once."""
    data, failures = memoryview(setting.contents), []
    with namespace.interface() as interface:
        pair = Pair(setting, interface)
        try:
            given = _shut(pair, data)
            written, part = 0, min(len(data), 20_000)
            while written < part:
                written += pair.give_linux(data[written:part])
                pair.turn()
            pair.wait(SOON_SECONDS)
            if left := pair.unacknowledged:
                failures.append(f"at its shut window {left} of {written} bytes of Linux's are not acknowledged")
            while len(pair.to_core) < len(data) or len(pair.from_core) < len(data):
                given += pair.give_core(data[given:])
                written += pair.give_linux(data[written:])
                pair.turn()
                pair.take_at_core()
                pair.take_at_linux()
        except (TimeoutError, OSError) as error:
            failures.append(f"{len(pair.to_core)} bytes to the core, {len(pair.from_core)} from it: {error}")
        finally:
            pair.close()
    if not failures and not (pair.to_core == pair.from_core == data):
        failures.append("other bytes came")
    figures = {"client": "stalled reader", "to_core": len(pair.to_core), "from_core": len(pair.from_core)}
    return Visit("a reader that stalls", figures, failures, {}, f"{len(data)} bytes each way")


def aborted(setting: Setting) -> Visit:
    """The core's RST at the shut window closes the kernel's connection at once."""
    failures = []
    with namespace.interface() as interface:
        pair = Pair(setting, interface)
        try:
            _shut(pair, memoryview(bytes(1 << 20)))
            pair.device.abort(pair.name)
            end = time.monotonic() + SOON_SECONDS
            while time.monotonic() < end:
                pair.turn()
            if pair.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0:
                failures.append("Linux does not take the RST")
        except (TimeoutError, OSError) as error:
            failures.append(str(error))
        finally:
            pair.close()
    return Visit("an abort at a shut window", {"client": "stalled reader"}, failures, {}, "reset")


VISITS = (both_ways, aborted)
