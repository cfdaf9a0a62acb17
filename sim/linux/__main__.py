# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`python -m sim.linux`: what `make interop` runs. Options may come from the environment, as make gives them."""

from __future__ import annotations

import json
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from downbeat_toe import quantities
from rich.console import Console

from sim.lib import build
from sim.lib.contents import generated
from sim.linux import iperf3, namespace, nmap, stalled, web
from sim.linux import report as reports
from sim.linux.transfer import FROM_CORE, TO_CORE, Impairment, Plan, run
from sim.linux.visit import Setting, Visit

ROOT = Path(__file__).resolve().parents[2]
WAVES = ROOT / "build" / "waves"

VISITS: dict[str, Sequence[Callable[[Setting], Visit]]] = {
    "web": web.VISITS,
    "iperf3": iperf3.VISITS,
    "nmap": nmap.VISITS,
    "stalled": stalled.VISITS,
}

console = Console(highlight=False)


class App(StrEnum):
    """The core on a TAP interface and Linux, with real applications."""

    ALL = "all"
    TRANSFERS = "transfers"
    WEB = "web"
    IPERF3 = "iperf3"
    NMAP = "nmap"
    STALLED = "stalled"


def main(
    size: Annotated[str, typer.Option(envvar="SIZE", help="bytes each way")] = "1MB",
    drop: Annotated[
        str, typer.Option(envvar="DROP", help="share of frames lost in the second pair of transfers")
    ] = "1%",
    app: Annotated[App, typer.Option(envvar="APP", help="one of the parts alone")] = App.ALL,
    seed: Annotated[int, typer.Option(envvar="SEED", min=1, max=2**32 - 1)] = 1,
    congestion: Annotated[
        str, typer.Option(envvar="CONGESTION", help="the kernel's congestion control; empty: its own")
    ] = "",
    waves: Annotated[bool, typer.Option(envvar="WAVES", help="write build/waves/interop-N.fst")] = False,
    pcap: Annotated[
        str, typer.Option(envvar="PCAP", help="x.pcapng: capture each transfer, to x-N.pcapng; empty: none")
    ] = "",
    wall_limit: Annotated[
        int, typer.Option(envvar="WALL_LIMIT", help="seconds after which a transfer is given up")
    ] = 120,
    reports_directory: Annotated[
        Path, typer.Option("--reports", envvar="REPORTS", help="where interop.json goes")
    ] = ROOT / "build" / "reports",
) -> None:
    """The Verilated core on a TAP interface and Linux: files each way, the web, iperf3, nmap, a stalled reader."""
    signal.signal(signal.SIGTERM, _interrupt)
    reports_directory.mkdir(parents=True, exist_ok=True)
    json_path = reports_directory / "interop.json"
    try:
        length, share = quantities.size(size), quantities.probability(drop)
        capture = Path(pcap).resolve() if pcap else None
        if capture is not None and not capture.parent.is_dir():
            raise ValueError(f"PCAP={pcap}: no such directory")
        namespace.require()
        if congestion and congestion not in namespace.congestion_controls():
            raise ValueError(f"CONGESTION={congestion}: this kernel has {', '.join(namespace.congestion_controls())}")
        with console.status("Building the simulation (the core takes minutes, once for each content)"):
            program = build.linux(waves=waves) / "downbeat_tap"
    except namespace.Missing as missing:
        json_path.write_text(json.dumps({"skipped": [str(missing)], "transfers": []}, indent=2) + "\n")
        console.print(f"skipped: {missing}", markup=False, soft_wrap=True)
        raise typer.Exit(0) from None
    except (ValueError, build.BuildFailed) as error:
        console.print(str(error), style="red", markup=False)
        raise typer.Exit(2) from None

    contents = generated(f"downbeat {seed}", length)
    report = reports.Report(seed)
    with tempfile.TemporaryDirectory(prefix="interop-", dir=ROOT / "build") as name:
        setting = Setting(program, Path(name), contents, seed, wall_limit)
        if app in (App.ALL, App.TRANSFERS):
            for plan in _plans(setting, share, congestion, waves, capture):
                with console.status(f"{plan.direction}, {100 * plan.impairment.drop:g} % of frames dropped"):
                    report.transfers.append(run(plan, program, Path(name)))
        for part in (part for part in VISITS if app in (App.ALL, part)):
            with console.status(part):
                _visit(part, setting, report)
    data = report.as_json()
    json_path.write_text(json.dumps(data, indent=2) + "\n")
    chosen = f" CONGESTION={congestion}" if congestion else ""
    _tell(report, data, f"make interop SIZE={length}B DROP={share} SEED={seed}{chosen}")
    raise typer.Exit(0 if data["passed"] else 1)


def _plans(setting: Setting, drop: float, congestion: str, waves: bool, capture: Path | None) -> Iterator[Plan]:
    """Each way without losses, then each way with `drop` of all frames lost."""
    WAVES.mkdir(parents=True, exist_ok=True)
    ways = [(loss, direction) for loss in (0.0, drop) for direction in (TO_CORE, FROM_CORE)]
    for number, (loss, direction) in enumerate(ways):
        yield Plan(
            direction,
            setting.contents,
            Impairment(drop=loss),
            setting.seed,
            congestion,
            setting.wall_limit,
            WAVES / f"interop-{number}.fst" if waves else None,
            capture.with_stem(f"{capture.stem}-{number}") if capture else None,
        )


def _visit(part: str, setting: Setting, report: reports.Report) -> None:
    """All visits of that part whose programs are there."""
    for visit in VISITS[part]:
        try:
            report.visits[part].append(visit(setting))
        except namespace.Missing as missing:
            if str(missing) not in report.skipped:
                report.skipped.append(str(missing))


def _tell(report: reports.Report, data: dict[str, Any], again: str) -> None:
    """Prints the results; `again` is the command that repeats a failure."""
    if report.transfers:
        console.print(reports.table(data))
    for visit in report.all_visits():
        console.print(visit.line(), style="red" if visit.failures else None, markup=False, soft_wrap=True)
    for skipped in report.skipped:
        console.print(f"skipped: {skipped}", markup=False, soft_wrap=True)
    for part, visits in report.visits.items():
        if any(visit.failures for visit in visits):
            console.print(f"again: {again} APP={part}", style="red", markup=False, soft_wrap=True)
    for number, transfer in enumerate(data["transfers"]):
        if transfer["failures"]:
            show = f"{again} APP=transfers WAVES=1; make waves FST=build/waves/interop-{number}.fst"
            console.print(reports.story(transfer, report.seed, show), style="red", markup=False, soft_wrap=True)


def _interrupt(*_: object) -> NoReturn:
    sys.exit(128 + signal.SIGTERM)


if __name__ == "__main__":
    typer.run(main)
