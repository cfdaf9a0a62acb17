# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`downbeat gap CAPTURE`, `downbeat gap live`, `downbeat gap selftest`."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from downbeat import replay
from downbeat import schedule as schedules
from downbeat.gap import capture as captures
from downbeat.gap import frames, live, report, selftest
from downbeat.gap.analysis import analyse
from downbeat.refused import Refused, explained
from downbeat.replay import SpeedOption
from downbeat.schedule import Kind

REPORTS = Path("build/reports")
ReportsOption = Annotated[Path, typer.Option("--reports", help="directory for the .json and .html")]


class CaptureFirst(TyperGroup):
    """What is no other command's name is a capture: `downbeat gap x.pcapng` is `downbeat gap capture x.pcapng`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] != "--help":
            args = ["capture", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=CaptureFirst,
    no_args_is_help=True,
    help="Compares gaps between frames with their schedule. `gap x.pcapng` is `gap capture x.pcapng`.",
)


@app.command()
def capture(
    file: Annotated[Path, typer.Argument(metavar="CAPTURE", help="pcap or pcapng with nanoseconds")],
    schedule: Annotated[
        Path, typer.Option(help="CSV of launches, make sim's record, or a capture of what left")
    ] = REPORTS / "sim.csv",
    interface: Annotated[str | None, typer.Option(help="of the capture, if it has several")] = None,
    schedule_interface: Annotated[
        str | None, typer.Option(help="of the schedule, if it is a capture with several")
    ] = None,
    flow: Annotated[str | None, typer.Option(envvar="FLOW", help="this flow of the schedule only")] = None,
    paced: Annotated[str, typer.Option(help="instead of a schedule: the flow's payload has this rate, as 20Mb/s")] = "",
    common_time: Annotated[
        bool, typer.Option(help="schedule and capture have one clock: delay is known, no drift is removed")
    ] = False,
    reports: ReportsOption = REPORTS,
) -> None:
    """Compares a capture with its schedule and reports the gap errors."""
    with explained():
        if paced:
            planned = _captured("tcp", file, interface).paced(str(file), flow, replay.rate(paced))
        elif captures.is_capture(schedule):
            planned = _captured("tcp", schedule, schedule_interface).as_schedule(str(schedule))
        else:
            planned = schedules.read(schedule)
        if flow is not None:
            planned = planned.only(flow)
        found = _captured(planned.kind, file, interface)
        analysis = analyse(planned, found, str(file), "the capture's", common_time)
        report.show(f"Gaps in {file.name}", "gap-capture", reports, {f"Gaps in {file.name}": analysis})


def _captured(kind: Kind, file: Path, interface: str | None) -> frames.Frames:
    return frames.select(kind, captures.read(file).on(interface).frames()).in_order(str(file))


@app.command("live")
def live_command(
    interface: Annotated[str, typer.Argument(metavar="IFACE", help="where frames arrive")],
    schedule: Annotated[Path, typer.Option(help="CSV of launches")],
    sender: Annotated[
        str, typer.Option("--from", help="interface of this host that sends them; empty: another host")
    ] = "",
    to: Annotated[str, typer.Option(help="MAC address to send to, with --from", metavar="MAC")] = "",
    rate: SpeedOption = "",
    method: Annotated[str, typer.Option(help="of sending: txtime, wait, auto")] = "auto",
    time_limit: Annotated[
        float, typer.Option(help="seconds without a frame after which another host is given up")
    ] = 10.0,
    one_way: Annotated[bool, typer.Option(help="one-way delay is wanted: refuse if it cannot be known")] = False,
    common_time: Annotated[
        bool, typer.Option(help="clocks of sender and receiver are kept together (PTP, PPS)")
    ] = False,
    reports: ReportsOption = REPORTS,
) -> None:
    """Stamps frames as they arrive, by the NIC's clock if it can, and compares them with a schedule."""
    with explained():
        if sender:
            if not to:
                raise Refused(f"whom to send to? give the MAC address of {interface} (--to; ip link show {interface})")
            options = ["--to", to, "--method", method, *(["--rate", rate] if rate else [])]
            analyses = live.both(schedule, interface, sender, options, one_way, common_time)
        else:
            analyses = live.heard(schedules.read(schedule), interface, time_limit, one_way, common_time)
        report.show(f"Gaps at {interface}", "gap-live", reports, analyses)


@app.command("selftest")
def selftest_command(
    count: Annotated[int, typer.Option("--frames", min=100)] = 5000,
    gap: Annotated[int, typer.Option(min=1000, help="ns from frame to frame")] = 200_000,
    reports: ReportsOption = REPORTS,
) -> None:
    """Measures this machine's own error: sends equally spaced frames over a virtual cable and stamps them. Needs root."""
    with explained(), tempfile.TemporaryDirectory() as directory:
        analyses = selftest.run(count, gap, Path(directory))
        step = selftest.clock_step()
        report.console.print(f"Smallest step between two readings of the system's clock: {step} ns", markup=False)
        report.show("This machine's own error", "gap-selftest", reports, analyses, clock_step_ns=step)
