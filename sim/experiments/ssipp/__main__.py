# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make experiment NAME=ssipp`: SSIPP against receivers that delay ACKs, ns-3's and Linux's;
build/reports/ssipp.json, .html and captures."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from downbeat_toe.console import report_console
from rich.table import Table

from sim.experiments.ssipp import page
from sim.experiments.ssipp.capture import Figures, failures
from sim.experiments.ssipp.transfers import LINUX_ROUNDS, ROUNDS, Disturbed, linux, ns3
from sim.lib import build
from sim.linux import namespace

REPORT = build.ROOT / "build" / "reports" / "ssipp.json"
PAGE = REPORT.with_suffix(".html")
DELAYED = 0.75  # ACKs for a segment: half, and some by the timer

Transfer = Callable[[Path, str, Path, Path], Figures]


def measure(receiver: str, transfer: Transfer, program: Path, work: Path, rounds: int) -> dict[str, Any]:
    directory = work / receiver
    directory.mkdir()
    capture = REPORT.with_name(f"ssipp-{receiver}.pcapng")
    found = transfer(program, "ssipp", directory, capture)
    said = failures(found, rounds)
    # In order it shows that it does delay ACKs.
    in_order = transfer(program, "standard", directory, directory / "in-order.pcapng")
    share = in_order.acks / in_order.segments
    if share > DELAYED:
        said.append(f"{share:.2f} ACKs for a segment in order: this receiver does not delay them")
    more = {"receiver": receiver, "capture": capture.name, "failures": said, "acks_per_segment_in_order": share}
    return more | found.as_json()


def main() -> int:
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    runs, skipped = [], []
    try:
        with tempfile.TemporaryDirectory() as work:
            runs.append(measure("ns-3", ns3, build.ns3() / "downbeat_sim", Path(work), ROUNDS))
            try:
                namespace.require()
                runs.append(measure("linux", linux, build.linux() / "downbeat_tap", Path(work), LINUX_ROUNDS))
            except (namespace.Missing, Disturbed) as reason:
                skipped.append(f"Linux: {reason}")
    except (build.BuildFailed, RuntimeError) as error:
        print(error, file=sys.stderr)
        return 1
    said = [f"{run['receiver']}: {failure}" for run in runs for failure in run["failures"]]
    report = {"passed": not said, "failures": said, "skipped": skipped, "runs": runs}
    wall = {"seconds": round(time.monotonic() - begin, 1)}
    REPORT.write_text(json.dumps({**report, "wall_clock": wall}, indent=2) + "\n")
    PAGE.write_text(page.render(report))
    _print(report)
    return 0 if report["passed"] else 1


def _print(report: dict[str, Any]) -> None:
    table = Table(title="Segments of each round from a window of one", title_justify="left")
    for title in ("receiver", "rounds", "inverted", "for an ACK", "again", "repeated ACKs", "ACKs in order"):
        table.add_column(title)
    for run in report["runs"]:
        rounds = " ".join(map(str, run["per_round"][:-1]))  # the last is what is left of the file
        inverted = f"{100 * run['inverted_share']:.1f} %"
        counts = (run["most_per_ack"] or "-", run["retransmissions"], run["duplicate_acks"])
        table.add_row(run["receiver"], rounds, inverted, *map(str, counts), f"{run['acks_per_segment_in_order']:.2f}")
    report_console().print(table)
    for line in (*report["skipped"], *(f"WRONG: {failure}" for failure in report["failures"])):
        print(line)
    print(
        f"{'all right' if report['passed'] else 'WRONG'}; {REPORT.relative_to(build.ROOT)}, {PAGE.name}, captures beside it"
    )


if __name__ == "__main__":
    sys.exit(main())
