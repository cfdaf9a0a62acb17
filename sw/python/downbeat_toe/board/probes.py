# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The gap bench: probes by a schedule, and the stamps of what comes (rtl/downbeat/board/ProbeBoard.scala)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from downbeat_toe.board.bone import Line
from downbeat_toe.board.device import Board, described
from downbeat_toe.refused import Refused
from downbeat_toe.schedule import SHORTEST, Schedule

CAUSES = ("linkDown", "rxError", "runt", "oversize", "badFcs", "pause")
HEAD_BYTES = 64
LARGEST = 1514  # bytes without FCS
LONGEST_GAP = 2**36


@dataclass(frozen=True)
class Captured:
    """A received frame."""

    number: int  # of those that came, lost ones counted
    stamp: int  # of its SFD, 2^-16 ns
    length: int  # without FCS
    head: bytes  # its first bytes
    wrong: tuple[str, ...]  # why the MAC would not take it; empty: a good frame


class ProbeBoard(Board):
    @classmethod
    def of_build(cls, line: Line, build: Path) -> Self:
        return cls(line, described(build, "probe_registers"))

    def counters(self) -> dict[str, int]:
        names = [name for name in self.names if name.startswith("counter_")]
        words = self.bone.read(self.at(names[0]), len(names))
        return {name.removeprefix("counter_"): word for name, word in zip(names, words, strict=True)}

    # ---- probes

    def load(self, schedule: Schedule) -> None:
        """The schedule's launches, relative to its first one."""
        most = self.read("probeEntries")
        if len(schedule) > most:
            raise Refused(f"{schedule.source}: {len(schedule)} frames, the board holds {most}: repeat fewer (--frames)")
        if len(schedule.flows()) > 1:
            raise Refused(f"{schedule.source}: {len(schedule.flows())} flows; a run of the board is one flow")
        before = int(schedule.launch[0])
        for index, (launch, length) in enumerate(zip(schedule.launch.tolist(), schedule.length.tolist(), strict=True)):
            gap, before = launch - before, launch
            if gap >= LONGEST_GAP or length > LARGEST:
                raise Refused(
                    f"{schedule.source}, entry {index + 1}: a gap is below 2^36 ns, a frame has {LARGEST} bytes at most"
                )
            self.entry(index, gap, length)
        self.write("probeUsed", len(schedule))

    def entry(self, index: int, gap: int, length: int, *, adjacent: bool = False) -> None:
        """`gap` ns behind the launch before; `adjacent`: right behind it on the wire."""
        word = max(length, SHORTEST) | int(adjacent) << 14 | gap >> 32 << 15
        self.write("probeIndex", index, gap & 0xFFFFFFFF, word)

    def start(self, frames: int, destination: str, source: str, flow: int = 0) -> None:
        for name, mac in (("probeDestination", destination), ("probeSource", source)):
            try:
                number = int.from_bytes(bytes.fromhex(mac.replace(":", "")))
            except ValueError:
                number = -1
            if not 0 <= number < 2**48 or len(mac.split(":")) != 6:
                raise Refused(f"'{mac}' is not a MAC address: write it as 02:00:00:00:00:01")
            self.write(f"{name}High", number >> 32, number & 0xFFFFFFFF)
        self.write("probeFlow", flow)
        self.write("probeFrames", frames)
        self.write("probeControl", start=1)

    def stop(self) -> None:
        self.write("probeControl", stop=1)

    def running(self) -> bool:
        return bool(self.field("probeStatus", "running"))

    # ---- capture

    def capture(self, enable: bool) -> None:
        self.write("captureControl", enable=int(enable))

    def captured(self) -> Iterator[Captured]:
        """The records that wait."""
        words = self.read("captureRecordWords")
        for _ in range(self.read("captureLevel") // words):
            yield parse(self.bone.read(self.at("captureData"), 2 * words, fixed=True))

    def captured_for(self, seconds: float) -> Iterator[Captured]:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            yield from self.captured()
        yield from self.captured()


def parse(halves: list[int]) -> Captured:
    """A record: the frame's head, stamp, verdict; lower halves first."""
    head = b"".join(half.to_bytes(4, "little") for half in halves[:-4])
    stamp = halves[-4] | halves[-3] << 32
    length = halves[-2] & 0x3FFF
    wrong = tuple(cause for bit, cause in enumerate(CAUSES) if halves[-2] >> 16 + bit & 1)
    return Captured(halves[-1], stamp, length, head[: min(length, HEAD_BYTES)], wrong)
