# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A schedule: which frame is to leave when. docs/how-to/measure-gaps.md has the format.

A CSV with `launch_ns` and `length`, and where there is more to say `flow`, `sequence` and `retransmission`; or the record of
events that `make sim` writes, in which every segment with data is an entry at the time at which it was granted.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from downbeat.refused import Refused

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Kind = Literal["probe", "tcp"]

COLUMNS = ("launch_ns", "length", "flow", "sequence", "retransmission")
RECORD = ("time_ns", "flow", "sent_sequence", "sent_length", "retransmission", "live")
HEADERS = 14 + 20 + 20  # bytes: Ethernet, IPv4, TCP without options
SHORTEST = 60  # bytes of a frame without FCS; shorter ones are padded
BESIDE = 4 + 8 + 12  # bytes of FCS, preamble with SFD, smallest gap
LONGEST = 65_535
NANOSECONDS = 10**9


@dataclass(frozen=True)
class Schedule:
    """Entries in the order of their launches; all arrays are of one length."""

    source: str  # for messages
    kind: Kind  # probe: `downbeat replay`'s own frames; tcp: segments with data
    launch: Integers  # ns, of the schedule's clock
    length: Integers  # bytes of the frame without FCS (tcp: without options)
    flow: tuple[str, ...]  # names, by entry
    sequence: Integers  # tcp: of the segment's first byte; probe: number of the frame in its flow
    retransmission: Flags

    def __len__(self) -> int:
        return len(self.launch)

    def flows(self) -> list[str]:
        return list(dict.fromkeys(self.flow))

    def only(self, flow: str) -> Schedule:
        """The entries of one flow."""
        if flow not in self.flow:
            known = self.flows()
            more = ", ..." if len(known) > 8 else ""
            raise Refused(f"{self.source}: no flow {flow}; it has {', '.join(known[:8])}{more}")
        return self.where(np.array([name == flow for name in self.flow]))

    def where(self, wanted: Flags) -> Schedule:
        flow = tuple(name for name, take in zip(self.flow, wanted, strict=True) if take)
        return replace(
            self,
            launch=self.launch[wanted],
            length=self.length[wanted],
            flow=flow,
            sequence=self.sequence[wanted],
            retransmission=self.retransmission[wanted],
        )


def wire_time(length: Integers, rate: int) -> npt.NDArray[np.float64]:
    """Nanoseconds from one frame's SFD to that of a frame right behind it, at `rate` bits a second."""
    return (np.maximum(length, SHORTEST) + BESIDE) * (8 * NANOSECONDS / rate)


def require_module(schedule: Schedule, rate: int) -> None:
    """Refuses a schedule in which a frame is to leave while the one ahead of it is still on the wire."""
    needed = wire_time(schedule.length[:-1], rate)
    tight = np.flatnonzero(np.diff(schedule.launch) < np.floor(needed))
    if len(tight):
        at = int(tight[0])
        gap = int(schedule.launch[at + 1] - schedule.launch[at])
        raise Refused(
            f"{schedule.source}: entry {at + 2} is to leave {gap} ns after the one ahead of it, whose {schedule.length[at]} "
            f"bytes hold a wire of {rate / 1e6:g} Mb/s for {needed[at]:.0f} ns; {len(tight)} such pairs. "
            "Space them, or name a faster link (--rate)"
        )


def read(path: Path) -> Schedule:
    """A schedule, or the record of `make sim`, from a CSV file."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = csv.DictReader(file)
            names = rows.fieldnames or []
            if set(RECORD) <= set(names):
                return _from_record(path, rows)
            missing = [name for name in COLUMNS[:2] if name not in names]
            if missing:
                raise Refused(
                    f"{path}: no column {' and no '.join(missing)}: neither a schedule ({','.join(COLUMNS)}; the first two are "
                    "needed) nor a record of make sim"
                )
            return _from_schedule(path, rows, "sequence" in names)
    except FileNotFoundError:
        raise Refused(f"{path}: no such file; make sim writes build/reports/sim.csv") from None
    except (UnicodeDecodeError, csv.Error, IsADirectoryError, PermissionError) as error:
        raise Refused(f"{path}: not a CSV text file: {error}") from None


def _from_schedule(path: Path, rows: Iterator[Mapping[str, str]], numbered: bool) -> Schedule:
    entries, counts = [], dict[str, int]()
    for line, row in enumerate(rows, 2):
        flow = row.get("flow") or "0"
        sequence = _integer(path, line, row, "sequence") if numbered else counts.get(flow, 0)
        counts[flow] = counts.get(flow, 0) + 1
        again = row.get("retransmission") not in (None, "", "0")
        launch, length = _integer(path, line, row, "launch_ns"), _integer(path, line, row, "length")
        if not 0 < length <= LONGEST:
            raise Refused(f"{path}, line {line}: a frame has 1 to {LONGEST} bytes, not {length}")
        entries.append((launch, length, flow, sequence, again))
    return _schedule(path, "tcp" if numbered else "probe", entries)


def _from_record(path: Path, rows: Iterator[Mapping[str, str]]) -> Schedule:
    entries = []
    for line, row in enumerate(rows, 2):
        length = _integer(path, line, row, "sent_length")
        if length and row["live"] == "1":
            launch, sequence = _integer(path, line, row, "time_ns"), _integer(path, line, row, "sent_sequence")
            entries.append((launch, HEADERS + length, row["flow"], sequence, row["retransmission"] == "1"))
    return _schedule(path, "tcp", entries)


def _schedule(path: Path, kind: Kind, entries: list[tuple[int, int, str, int, bool]]) -> Schedule:
    if not entries:
        raise Refused(f"{path}: no frame in it")
    launch, length, flow, sequence, again = zip(*entries, strict=True)
    times = np.array(launch, dtype=np.int64)
    back = np.flatnonzero(np.diff(times) < 0)
    if len(back):
        at = int(back[0])
        raise Refused(
            f"{path}: entry {at + 2} is {times[at] - times[at + 1]} ns before the one ahead of it: its clock was set back, "
            "or the schedule is not in order; sort it by launch_ns"
        )
    return Schedule(
        str(path), kind, times, np.array(length, np.int64), flow, np.array(sequence, np.int64), np.array(again)
    )


def _integer(path: Path, line: int, row: Mapping[str, str], name: str) -> int:
    text = row[name]
    try:
        value = int(text)
    except (TypeError, ValueError):
        whole = "; times are whole nanoseconds" if name.endswith("_ns") else ""
        cut = " (cut off?)" if text is None else ""
        raise Refused(f"{path}, line {line}: {name} is '{text or ''}'{cut}, not a whole number{whole}") from None
    if not 0 <= value < 2**63:
        raise Refused(f"{path}, line {line}: {name} is {value}, outside 0 to 2^63 - 1")
    return value
