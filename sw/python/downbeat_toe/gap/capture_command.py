# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`downbeat gap capture`: a capture against its schedule."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from downbeat_toe import output, schedule_file
from downbeat_toe.gap import capture as captures
from downbeat_toe.gap import frames, planning, replay, report, selftest, verdict
from downbeat_toe.gap.analysis import analyse
from downbeat_toe.output import REPORTS
from downbeat_toe.refused import Refused, explained
from downbeat_toe.schedule import Kind, Schedule

ReportsOption = Annotated[Path, typer.Option("--reports", help="directory for the .json and .html")]
SelftestOption = Annotated[
    Path | None, typer.Option("--selftest", help="report of gap selftest (.json), if a kernel stamped")
]
KeepDriftOption = Annotated[bool, typer.Option("--keep-drift", help="leave the drift in the gap errors")]
RECORD = REPORTS / "sim.csv"


def capture(
    file: Annotated[Path, typer.Argument(metavar="CAPTURE", help="pcap or pcapng, best with nanoseconds")],
    schedule: Annotated[
        Path | None,
        typer.Option(help=f"CSV of launches, make sim's record ({RECORD} if there is one), or a capture of what left"),
    ] = None,
    interface: Annotated[str | None, typer.Option(help="of the capture, if it has several: name, or #number")] = None,
    schedule_interface: Annotated[
        str | None, typer.Option(help="of the schedule, if it is a capture with several")
    ] = None,
    flow: Annotated[str | None, typer.Option(envvar="FLOW", help="this flow of the schedule only")] = None,
    paced: Annotated[str, typer.Option(help="instead of a schedule: the flow's payload has this rate, as 20Mb/s")] = "",
    common_time: Annotated[
        bool, typer.Option(help="schedule and capture have one clock: delay is known, no drift is removed")
    ] = False,
    keep_drift: KeepDriftOption = False,
    mtu: Annotated[
        int | None, typer.Option(min=68, help="of the path, bytes; else by the handshake's MSS, or 1500")
    ] = None,
    strict: Annotated[bool, typer.Option(help="refuse captures with microseconds")] = False,
    selftest_report: SelftestOption = None,
    reports: ReportsOption = REPORTS,
) -> None:
    """Pairs the frames of a capture with their schedule; says how far the gaps are from it, and how precise one gap
    is."""
    with explained():
        output.require_directory(reports)
        stamping = verdict.Stamping(None) if selftest_report is None else selftest.load(selftest_report)

        def captured(kind: Kind, path: Path, name: str | None, option: str = "--interface") -> frames.Frames:
            seen = captures.read(path).on(name, strict, option)
            return frames.select(kind, seen.frames(), seen.interface.step, mtu).in_order(str(path))

        notes: list[str] = []
        if paced and common_time:
            raise Refused(
                "--paced --common-time: a paced flow's launches count from its first segment, by no clock; leave --common-time "
                "out (--keep-drift leaves the drift in the gap errors)"
            )
        if paced:
            rate = replay.rate(paced)
            found = captured("tcp", file, interface)
            planned, notes = planning.paced(found, str(file), flow, rate)
        else:
            planned = _planned(schedule, lambda path: captured("tcp", path, schedule_interface, "--schedule-interface"))
            if flow is not None:
                planned = planned.only(flow)
            found = captured(planned.kind, file, interface)
        if common_time:
            planning.require_one_time(
                planned, int(found.stamp[0]), "give times of the capture's clock, or leave it out"
            )
        analysis = analyse(planned, found, str(file), "the capture's", common_time, keep_drift)
        analysis.data["notes"] = notes + analysis.data["notes"]
        analysis.data["verdict"] = verdict.judge(analysis, stamping)
        report.show(f"Gaps in {file.name}", "gap-capture", reports, {f"Gaps in {file.name}": analysis})


def _planned(schedule: Path | None, captured: Callable[[Path], frames.Frames]) -> Schedule:
    if schedule is None:
        if not RECORD.exists():
            raise Refused(
                "no schedule to compare with: give one (--schedule FILE: a CSV of launches, a capture of what left, a record "
                f"of make sim), or the rate of a paced flow (--paced 20Mb/s); there is no {RECORD}"
            )
        schedule = RECORD
    if captures.is_capture(schedule):
        return planning.left(captured(schedule), str(schedule))
    return schedule_file.read(schedule)
