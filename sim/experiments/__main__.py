# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make experiment NAME=name` and `make experiments`: what the papers simulated, with the RTL as the sender.

Most are files, papers/*/NAME.toml; those that need more than their engine are programs.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from sim.experiments.names import FILES, PROGRAMS
from sim.lib.named import choose

app = typer.Typer(add_completion=False)


@app.callback()
def experiments() -> None:
    """The papers' experiments."""


@app.command("run")
def run(
    files: Annotated[list[Path], typer.Argument(help="sim/experiments/papers/*/NAME.toml, or your own")],
    seed: Annotated[int, typer.Option(help="of the first run of each cell", min=0)] = 1,
    jobs: Annotated[int, typer.Option(help="runs at once; 0: as many as there are cores", min=0)] = 0,
    runs: Annotated[int, typer.Option(help="of each cell; 0: as the file says", min=0)] = 0,
    duration: Annotated[str, typer.Option(help="simulated, as '60 s'; empty: as the file says")] = "",
    full: Annotated[bool, typer.Option(help="the paper's lengths and points instead of the quick form")] = False,
    scheduler: Annotated[str, typer.Option(help="a Dask cluster's, as tcp://host:8786, instead of this machine")] = "",
    vary: Annotated[bool, typer.Option(help="also with other values of what the paper leaves out")] = False,
    startup: Annotated[str, typer.Option(help="also with this in the place of each start: the null model")] = "",
    steady: Annotated[str, typer.Option(help="its steady policy")] = "",
) -> None:
    """Runs experiments from their files and writes build/reports/experiments."""
    from sim.experiments.engine import command

    null = command.Policies(startup, steady)
    raise typer.Exit(command.run(files, seed, jobs, full, runs, duration, scheduler, vary, null))


def by_name() -> int:
    """Runs the experiment that make's variables name."""
    name = os.environ.get("NAME", "")
    if name not in FILES and name != "quick":
        listed = {each: ("", _title(path)) for each, path in FILES.items()}
        return choose("experiment", {**PROGRAMS, **listed})
    from sim.experiments.engine import command
    from sim.experiments.engine.schema.load import load

    paths = [FILES[name]] if name in FILES else [p for p in FILES.values() if load(p, None).experiment.quick]
    number = {key: int(os.environ.get(key) or 0) for key in ("SEED", "JOBS", "RUNS")}
    full, seconds = os.environ.get("FULL") == "1", os.environ.get("DURATION") or ""
    duration = f"{seconds} s" if seconds else ""
    vary = os.environ.get("VARY") == "1"
    null = command.Policies(os.environ.get("STARTUP") or "", os.environ.get("STEADY") or "")
    return command.run(paths, number["SEED"] or 1, number["JOBS"], full, number["RUNS"], duration, vary=vary, null=null)


def _title(path: Path) -> str:
    return next(
        line.partition('"')[2].rstrip('"') for line in path.read_text().splitlines() if line.startswith("title")
    )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        app(prog_name="downbeat experiment")
    sys.exit(by_name())
