# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Reads a schedule: a CSV of launches, or the record of events that `make sim` writes.

A CSV has `launch_ns` and `length`, and where there is more to say `flow`, `sequence` and `retransmission`. In a record,
every segment with data is an entry at the time at which it was granted.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from downbeat_toe import unpacking
from downbeat_toe.refused import Refused
from downbeat_toe.schedule import HEADERS, WRAP, Kind, Schedule, unwrapped

COLUMNS = ("launch_ns", "length", "flow", "sequence", "retransmission")
RECORD = ("time_ns", "flow", "sent_sequence", "sent_length", "retransmission", "live")
LONGEST = 65_535


def read(path: Path) -> Schedule:
    """A schedule, or the record of `make sim`, from a CSV file, compressed or not."""
    try:
        text = unpacking.content(path, "; downbeat schedule writes one").decode("utf-8-sig")
        rows = csv.DictReader(io.StringIO(text, newline=""), skipinitialspace=True)
        rows.fieldnames = names = [name.strip() for name in rows.fieldnames or []]
        if set(RECORD) <= set(names):
            return _from_record(path, rows)
        missing = [name for name in COLUMNS[:2] if name not in names]
        if missing:
            raise Refused(
                f"{path}: no column {' and no '.join(missing)}: neither a schedule ({','.join(COLUMNS)}; the first two are "
                "needed) nor a record of make sim"
            )
        if twice := [name for name in COLUMNS if names.count(name) > 1]:
            raise Refused(f"{path}: several columns are called {twice[0]}: keep one")
        return _from_schedule(path, rows, "sequence" in names)
    except (UnicodeDecodeError, csv.Error) as error:
        raise Refused(f"{path}: not a CSV text file: {error}") from None


def _from_schedule(path: Path, rows: Iterator[Mapping[str, str]], numbered: bool) -> Schedule:
    entries, counts = [], dict[str, int]()
    for line, row in enumerate(rows, 2):
        flow = (row.get("flow") or "").strip() or "0"
        flow = flow.lstrip("0") or "0" if re.fullmatch("[0-9]+", flow) else flow  # 07 is 7, as frames carry it
        sequence = _integer(path, line, row, "sequence") % WRAP if numbered else counts.get(flow, 0)
        counts[flow] = counts.get(flow, 0) + 1
        again = _flag(path, line, row, "retransmission")
        launch, length = _integer(path, line, row, "launch_ns"), _integer(path, line, row, "length")
        if not 0 < length <= LONGEST:
            raise Refused(f"{path}, line {line}: a frame has 1 to {LONGEST} bytes, not {length}")
        if None in row:
            raise Refused(f"{path}, line {line}: more values than columns: separate columns, not digits, by commas")
        entries.append((launch, length, flow, sequence, again))
    return _schedule(path, "tcp" if numbered else "probe", entries)


def _from_record(path: Path, rows: Iterator[Mapping[str, str]]) -> Schedule:
    entries = []
    for line, row in enumerate(rows, 2):
        length = _integer(path, line, row, "sent_length")
        if length and _flag(path, line, row, "live"):
            launch, sequence = _integer(path, line, row, "time_ns"), _integer(path, line, row, "sent_sequence")
            again = _flag(path, line, row, "retransmission")
            entries.append((launch, HEADERS + length, row["flow"].strip(), sequence % WRAP, again))
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
    if kind == "tcp":
        sequence = tuple(unwrapped(flow, sequence))
    return Schedule(
        str(path), kind, times, np.array(length, np.int64), flow, np.array(sequence, np.int64), np.array(again)
    )


def _integer(path: Path, line: int, row: Mapping[str, str], name: str) -> int:
    text = row[name]
    if text is None or not re.fullmatch(r"\s*[+-]?[0-9]{1,40}\s*", text):
        whole = "; times are whole nanoseconds" if name.endswith("_ns") else ""
        cut = " (cut off?)" if text is None else ""
        raise Refused(f"{path}, line {line}: {name} is '{text or ''}'{cut}, not a whole number{whole}")
    value = int(text)
    if not 0 <= value < 2**63:
        raise Refused(f"{path}, line {line}: {name} is {value}, outside 0 to 2^63 - 1")
    return value


def _flag(path: Path, line: int, row: Mapping[str, str], name: str) -> bool:
    """0 and 1 alone: `false` is no 1, and no 0 either. A column that is not there, or empty, is 0."""
    text = (row.get(name) or "").strip()
    if text not in ("", "0", "1"):
        raise Refused(f"{path}, line {line}: {name} is '{text}': write 0 or 1")
    return text == "1"
