# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`python -m sim.litex`: what `make litex` runs. Options may come from the environment, as make gives them."""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from downbeat_toe import quantities
from rich.console import Console

from sim.lib.cache import ROOT, BuildFailed
from sim.lib.contents import generated
from sim.linux import namespace
from sim.litex.firmware import LARGEST_FILE
from sim.litex.run import Failed, transfers

VERILOG = ROOT / "build" / "sim" / "rtl-litex" / "DownbeatHostGmii.v"

console = Console(highlight=False)


def main(
    size: Annotated[str, typer.Option(envvar="SIZE", help="bytes of the file")] = "64KiB",
    seed: Annotated[int, typer.Option(envvar="SEED", min=1, max=2**32 - 1)] = 1,
    wall_limit: Annotated[int, typer.Option(envvar="WALL_LIMIT", help="seconds for both transfers")] = 600,
    reports: Annotated[Path, typer.Option("--reports", help="where litex.json goes")] = ROOT / "build" / "reports",
) -> None:
    """A computer of LiteX in simulation: VexRiscv with firmware, and the core on a TAP interface with Linux. The
    firmware gets a file from a server of the kernel, then serves it to a client of the kernel."""
    reports.mkdir(parents=True, exist_ok=True)
    report = reports / "litex.json"
    try:
        length = quantities.size(size)
        if not 1 <= length <= LARGEST_FILE:
            raise ValueError(f"SIZE={size}: the firmware has space for {LARGEST_FILE} bytes, and wants one at least")
        namespace.require("litex")
    except namespace.Missing as missing:
        report.write_text(json.dumps({"skipped": [str(missing)]}, indent=2) + "\n")
        console.print(f"skipped: {missing}", markup=False, soft_wrap=True)
        raise typer.Exit(0) from None
    except ValueError as error:
        console.print(str(error), style="red", markup=False)
        raise typer.Exit(2) from None

    from sim.litex import computer  # with LiteX in it

    data: dict[str, Any] = {"bytes": length, "seed": seed, "client_equal": False, "server_equal": False}
    started = time.monotonic()
    try:
        with console.status("Building the computer (minutes, once for each content)"):
            program = computer.program(VERILOG)
        data["build_seconds"] = round(time.monotonic() - started, 1)
        with console.status("The firmware gets a file from Linux, and serves it"):
            data |= asdict(transfers(program, generated(f"downbeat {seed}", length), wall_limit))
    except (BuildFailed, Failed) as failed:
        data["failure"] = str(failed)
    report.write_text(json.dumps(data, indent=2) + "\n")
    _tell(data)
    raise typer.Exit(0 if data["client_equal"] and data["server_equal"] else 1)


def _tell(data: dict[str, Any]) -> None:
    if "failure" in data:
        console.print(data["failure"], style="red", markup=False, soft_wrap=True)
        return
    console.print(f"VexRiscv, Downbeat and Linux: {data['bytes']} bytes each way; built in {data['build_seconds']:g} s")
    for role, doing in (("client", "gets the file"), ("server", "serves it")):
        equal = data[f"{role}_equal"]
        text = f"  the firmware {doing}: {'equal' if equal else 'NOT EQUAL'}, {data[f'{role}_seconds']:g} s"
        console.print(text, style=None if equal else "red", markup=False)
    console.print("Report: build/reports/litex.json")


if __name__ == "__main__":
    typer.run(main)
