# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`downbeat trace`: a line for each event of the flow engine, at the time at which waves show it."""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated

import typer

from downbeat_toe.refused import Refused, explained

COLUMNS = (
    "time_ns",
    "flow",
    "event",
    "state",
    "cwnd",
    "ssthresh",
    "reason",
    "acked",
    "live",
    "sent_sequence",
    "sent_length",
)
WHOLE, ANY = "[0-9]{1,19}", r"[0-9]{1,19}(\.[0-9]*)?(e[+-]?[0-9]{1,2})?"
NUMBERS = {"time_ns": WHOLE, "flow": WHOLE, "cwnd": ANY, "ssthresh": ANY}


def read(path: Path) -> Iterator[dict[str, str]]:
    """The rows of a record as `make sim` writes it."""
    if path.is_dir():
        raise Refused(f"{path}: a directory; give a file in it")
    if not path.is_file():
        raise Refused(f"{path}: no such file; make sim writes build/reports/sim.csv")
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = csv.DictReader(file)
            missing = [name for name in COLUMNS if name not in (rows.fieldnames or [])]
            if missing:
                raise Refused(f"{path}: no column {', '.join(missing)}: not a record of events")
            for line, row in enumerate(rows, 2):
                _require_numbers(path, line, row)
                yield row
    except (UnicodeDecodeError, csv.Error) as error:
        raise Refused(f"{path}: not a record of events: {error}") from None
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}") from None


def _require_numbers(path: Path, line: int, row: Mapping[str, str]) -> None:
    for name in COLUMNS:
        if row[name] is None:
            raise Refused(f"{path}, line {line}: no {name}: the record was cut off; run make sim again")
        if name in NUMBERS and not re.fullmatch(NUMBERS[name], row[name]):
            raise Refused(f"{path}, line {line}: {name} is '{row[name]}', not a number: not a record of events")


def lines(rows: Iterable[Mapping[str, str]], flow: int | None, since: int, until: int | None) -> Iterator[str]:
    """Each event with the windows before and after it, those of rows that are left out included. Times in ns."""
    windows: dict[str, tuple[str, str]] = {}
    for row in rows:
        before = windows.get(row["flow"], ("-", "-"))
        after = (_bytes(row["cwnd"]), _bytes(row["ssthresh"])) if row["live"] == "1" else before
        windows[row["flow"]] = after
        time = int(row["time_ns"])
        if (flow is None or int(row["flow"]) == flow) and since <= time and (until is None or time < until):
            yield _line(row, before, after)


def _bytes(window: str) -> str:
    return str(int(float(window)))


def _line(row: Mapping[str, str], before: tuple[str, str], after: tuple[str, str]) -> str:
    def change(old: str, new: str) -> str:
        return new if old == new else f"{old} -> {new}"

    what = [row["reason"]] if row["reason"] else []
    if row["acked"] != "0":
        what.append(f"{row['acked']} bytes acknowledged")
    if row["sent_length"] != "0":
        what.append(f"sent {row['sent_sequence']}+{row['sent_length']}")
    if row["live"] != "1":
        what = ["stale: nothing changed"]
    return (
        f"{int(row['time_ns']):>15,} ns  flow {row['flow']:<4} {row['event']:<11} {row['state']:<11} "
        f"cwnd {change(before[0], after[0]):<18} ssthresh {change(before[1], after[1]):<22} {'; '.join(what)}"
    ).rstrip()


def command(
    record: Annotated[Path, typer.Argument(help="CSV of events")] = Path("build/reports/sim.csv"),
    flow: Annotated[int | None, typer.Option(envvar="FLOW", min=0, help="this flow only")] = None,
    since: Annotated[int, typer.Option(envvar="SINCE", min=0, help="ns")] = 0,
    until: Annotated[int | None, typer.Option(envvar="UNTIL", min=0, help="ns")] = None,
) -> None:
    """One line for each event: time, flow, event, state, windows before and after it, reason.

    The time is when the event enters the engine, as in waves (WAVES=1); `trace_valid` follows 27 clocks later.
    """
    with explained():
        try:
            for line in lines(read(record), flow, since, until):
                print(line)
        except BrokenPipeError:
            sys.stderr.close()
