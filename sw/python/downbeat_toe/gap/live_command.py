# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`downbeat gap live` and `downbeat gap selftest`."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from downbeat_toe import output, quantities, schedule_file
from downbeat_toe.gap import interfaces, report, verdict
from downbeat_toe.gap import live as lives
from downbeat_toe.gap import selftest as selftests
from downbeat_toe.gap.analysis import Analysis
from downbeat_toe.gap.capture_command import KeepDriftOption, ReportsOption, SelftestOption
from downbeat_toe.gap.replay import SpeedOption
from downbeat_toe.output import REPORTS
from downbeat_toe.refused import Refused, explained

LEAST_GAP, MOST_GAP = 1_000, 10**10  # ns


def live(
    interface: Annotated[str, typer.Argument(metavar="IFACE", help="where frames arrive")],
    schedule: Annotated[Path, typer.Option(help="CSV of launches")],
    sender: Annotated[
        str, typer.Option("--from", help="interface of this host that sends them; empty: another host")
    ] = "",
    to: Annotated[str, typer.Option(help="MAC address to send to, with --from", metavar="MAC")] = "",
    rate: SpeedOption = "",
    method: Annotated[str, typer.Option(help="of sending: txtime, wait, auto")] = "auto",
    time_limit: Annotated[
        float, typer.Option(min=0, help="seconds without a frame after which another host is given up")
    ] = 10.0,
    one_way: Annotated[bool, typer.Option(help="one-way delay is wanted: refuse if it cannot be known")] = False,
    common_time: Annotated[
        bool, typer.Option(help="clocks of sender and receiver are kept together (PTP, PPS)")
    ] = False,
    keep_drift: KeepDriftOption = False,
    selftest: SelftestOption = None,
    reports: ReportsOption = REPORTS,
) -> None:
    """Stamps frames as they arrive, by the NIC's clock if it can, and compares them with a schedule."""
    with explained():
        output.require_directory(reports)
        usual = (place / f"{selftests.NAME}.json" for place in (reports, REPORTS))
        known = selftest or next((path for path in usual if path.exists()), None)
        floor = selftests.load(known) if known else verdict.Stamping(True)
        for name in (interface, sender):
            if name:
                interfaces.require(name)
        if sender:
            if not to:
                raise Refused(f"whom to send to? give the MAC address of {interface} (--to; ip link show {interface})")
            options = ["--to", to, "--method", method, *(["--rate", rate] if rate else [])]
            analyses = lives.both(schedule, interface, sender, options, one_way, common_time, keep_drift)
        else:
            analyses = lives.heard(
                schedule_file.read(schedule), interface, time_limit, one_way, common_time, keep_drift
            )
        _judge(analyses, floor)
        report.show(f"Gaps at {interface}", "gap-live", reports, analyses)


def selftest(
    count: Annotated[int, typer.Option("--frames", min=100, max=10_000_000)] = 5000,
    gap: Annotated[str, typer.Option(help="from frame to frame, as 200us")] = "200us",
    reports: ReportsOption = REPORTS,
) -> None:
    """Measures this machine's own error: sends equally spaced frames over a virtual cable and stamps them. Needs
    root."""
    with explained(), tempfile.TemporaryDirectory() as directory:
        output.require_directory(reports)
        analyses = selftests.run(count, _gap(gap), Path(directory))
        found = selftests.floor(analyses[selftests.STAMPS])
        _judge(analyses, verdict.Stamping(True, np.array(found["quantiles_ns"]), "of this run"))
        step = selftests.clock_step()
        report.show("The instrument's own floor", selftests.NAME, reports, analyses, clock_step_ns=step, floor=found)
        report.console.print(f"Smallest step between two readings of the system's clock: {step} ns", markup=False)


def _gap(text: str) -> int:
    """Nanoseconds."""
    try:
        gap = quantities.duration(text)
    except ValueError as error:
        raise Refused(f"--gap: {error}") from None
    if not LEAST_GAP <= gap <= MOST_GAP:
        raise Refused(f"--gap {text}: use 1us to 10s")
    return gap


def _judge(analyses: dict[str, Analysis], kernel: verdict.Stamping) -> None:
    """The verdict of the first one: others are its parts."""
    main = next(iter(analyses.values()))
    hardware = main.data["capture"]["stamps"].startswith("hardware")
    main.data["verdict"] = verdict.judge(main, verdict.Stamping(False) if hardware else kernel)
