# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A file over one connection, with a bar while it lasts."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from pathlib import Path
from typing import BinaryIO

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from downbeat_toe.driver.binding import Connection, Device, DriverError
from downbeat_toe.driver.structures import Options, SegmentStamp
from downbeat_toe.refused import Refused
from downbeat_toe.structures import Error, State

PAUSE = 0.2  # seconds between two looks while nothing is ready
LINGER = 10.0  # seconds for the peer to take the last bytes


@contextmanager
def _bar(what: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Nothing where nobody looks."""
    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn()
    with Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task(what, total=total)
        yield lambda count: progress.update(task, completed=count)


def _check(connection: Connection) -> None:
    info = connection.info
    if info.error:
        text = connection.device.library.downbeat_error_text
        raise DriverError(info.error, text(info.error).decode())


def _start(connection: Connection) -> str:
    """The estimate that it started from, in words; empty where the device has no performance gateway."""
    try:
        estimate = connection.estimate
    except DriverError:
        return ""
    if not estimate.source:
        return ", started without an estimate"
    return f", started with {estimate.initial_window} segments: {estimate.reason.decode(errors='replace')}"


@dataclass
class StampFile:
    """A CSV file with a row for each segment of a connection; nothing without a path."""

    path: Path | None
    stamps: list[SegmentStamp] = field(default_factory=list)
    lost: int = 0

    def keep(self, connection: Connection) -> None:
        if self.path:
            connection.keep_stamps()

    def take(self, connection: Connection) -> None:
        if self.path:
            new, self.lost = connection.stamps()
            self.stamps += new

    def write(self) -> str:
        """Words on what it has."""
        if not self.path:
            return ""
        rows = ("direction,bytes,sfd_ns", *map(_row, sorted(self.stamps, key=lambda stamp: stamp.time)))
        self.path.write_text("\n".join(rows) + "\n")
        return f", {len(self.stamps)} stamps in {self.path}" + (f", {self.lost} lost" if self.lost else "")


def _row(stamp: SegmentStamp) -> str:
    fraction = (stamp.time & 0xFFFF) * 100_000 >> 16  # a double has no space for it beside 48 bits of ns
    return f"{'received' if stamp.received else 'sent'},{stamp.bytes},{stamp.time >> 16}.{fraction:05}"


def send_file(
    device: Device, address: int, port: int, content: bytes, options: Options, stamps: Path | None = None
) -> str:
    """Returns what was done, in a line."""
    place = f"{IPv4Address(address)}:{port}"
    connection = device.connect(address, port, options=options)
    stamp_file = StampFile(stamps)
    stamp_file.keep(connection)
    while not connection.info.established:
        device.wait(PAUSE)
        _check(connection)
    begin, at = time.monotonic(), 0
    with _bar(f"to {place}", len(content)) as show:
        while at < len(content):
            taken = connection.send(content[at : at + (1 << 16)])
            at += taken
            if not taken:
                device.wait(PAUSE)
            stamp_file.take(connection)
            show(connection.info.acknowledged)
        connection.shutdown()
        while connection.info.acknowledged < len(content):
            device.wait(PAUSE)
            _check(connection)
            stamp_file.take(connection)
            show(connection.info.acknowledged)
    span = time.monotonic() - begin
    end = time.monotonic() + LINGER
    while connection.info.state not in (State.CLOSED, State.TIME_WAIT) and time.monotonic() < end:
        device.wait(PAUSE)
    start = _start(connection)
    stamp_file.take(connection)
    connection.close()
    written = stamp_file.write()
    return f"{len(content)} bytes to {place} in {span:.3f} s: {8 * len(content) / span / 1e6:.1f} Mb/s{start}{written}"


def receive_file(device: Device, port: int, output: BinaryIO, options: Options) -> str:
    """Returns what came, in a line."""
    listener = device.listen(port, 1, options)
    while not listener.ready:
        device.wait(PAUSE)
    print(f"port {port}: listening", file=sys.stderr)
    while not (connection := listener.accept()):
        device.wait(PAUSE)
    listener.close()
    count = 0
    with _bar(f"port {port}", None) as show:
        while (data := connection.receive()) != b"":
            if data is None:
                device.wait(PAUSE)
                continue
            output.write(data)
            count += len(data)
            show(count)
    info = connection.info
    connection.close()
    if info.error:
        raise Refused(f"{count} bytes, then: {Error(info.error).name.lower().replace('_', ' ')}")
    return f"{count} bytes from {IPv4Address(info.remote_ip)}:{info.remote_port}"
