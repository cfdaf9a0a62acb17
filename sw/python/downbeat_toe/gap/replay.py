# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`downbeat replay SCHEDULE.csv`: numbered frames at given launch times, without TCP."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Annotated

import typer

from downbeat_toe import output, quantities, schedule_file
from downbeat_toe import schedule as schedules
from downbeat_toe.gap import interfaces, methods, probe, sending, stamping, statistics
from downbeat_toe.gap.report import console
from downbeat_toe.refused import Refused, explained
from downbeat_toe.schedule import Schedule

LOG = ("launch_ns", "length", "flow", "departed_ns")
SpeedOption = Annotated[str, typer.Option("--rate", help="of the link, as 1Gb/s; empty: what the interface says")]
ToOption = Annotated[str, typer.Option("--to", help="MAC address to send to", metavar="MAC")]


def command(
    schedule: Annotated[Path, typer.Argument(help="CSV: launch_ns,length[,flow]")],
    interface: Annotated[str, typer.Option(help="to send on")],
    to: ToOption,
    speed: SpeedOption = "",
    method: Annotated[str, typer.Option(help="txtime, wait, or auto: the first that works")] = "auto",
    absolute: Annotated[bool, typer.Option(help="launch_ns is of CLOCK_TAI, not from the start")] = False,
    log: Annotated[Path | None, typer.Option(help="CSV to write: launches and departures, CLOCK_REALTIME")] = None,
) -> None:
    """Sends the frames of a schedule at their launch times, and reports how late they left by which clock."""
    with explained():
        if log is not None:
            output.require_file(log, "--log")
        planned = schedule_file.read(schedule)
        sent = run(planned, interface, to, speed, method, absolute)
        if log is not None:
            write(log, planned, sent)
            output.give_back(log)
    console.print(f"{len(planned)} frames by {sent.method}; {sent.refused} not taken by the kernel", markup=False)
    late = lateness(sent)
    if late is None:
        console.print(
            f"Departures: {sent.clock}; its time is not the launches', so how late they are is not known", markup=False
        )
    else:
        shown = ", ".join(f"{name} {late[name]:,.0f}" for name in ("minimum", "p50", "p99", "p99.9", "maximum"))
        console.print(f"Departures: {sent.clock}. Late by (ns): {shown}", markup=False)


def run(planned: Schedule, interface: str, to: str, speed: str, method: str, absolute: bool) -> sending.Sent:
    if method not in ("auto", "txtime", "wait"):
        raise Refused(f"--method {method}: there are auto, txtime and wait")
    destination = address(to)
    probe.flow_numbers(planned)
    interfaces.require(interface)
    interfaces.require_mtu(planned, interface)
    schedules.require_space(planned, _link_rate(interface, speed))
    way = methods.choose(interface, method)  # type: ignore[arg-type]
    return sending.send(planned, interface, destination, way, stamping.clock(interface), absolute)


def lateness(sent: sending.Sent) -> dict[str, float] | None:
    """Departure less launch, where both are of the system's time."""
    stamped = sent.departed != 0
    if sent.clock.phc is not None or not stamped.any():
        return None
    return statistics.percentiles((sent.departed - sent.launch)[stamped].astype(float))


def write(path: Path, planned: Schedule, sent: sending.Sent) -> None:
    """A schedule of what was sent, for `downbeat gap`, with the departures beside it (0: not known)."""
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(LOG)
        for launch, length, flow, departed in zip(
            sent.launch.tolist(), planned.length.tolist(), planned.flow, sent.departed.tolist(), strict=True
        ):
            rows.writerow((launch, length, flow, departed))


def address(text: str) -> bytes:
    if not re.fullmatch(r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}", text):
        raise Refused(f"'{text}' is not a MAC address: write it as 02:00:00:00:00:01")
    return bytes.fromhex(text.replace(":", ""))


def rate(text: str) -> int:
    """Bits a second."""
    try:
        return quantities.rate(text)
    except ValueError as error:
        raise Refused(str(error)) from None


def _link_rate(interface: str, given: str) -> int:
    if given:
        return rate(given)
    speed = interfaces.speed(interface)
    if speed is None:
        raise Refused(f"{interface} does not say how fast it is (is it up?): give its rate (--rate 1Gb/s)")
    return speed
