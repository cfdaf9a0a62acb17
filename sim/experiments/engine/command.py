# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`python -m sim.experiments run FILE...`: experiments from their files; what `downbeat experiment` and make call."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from downbeat_toe import pages, policies
from downbeat_toe.refused import Refused

from sim.experiments.engine import judge, records, report
from sim.experiments.engine.judge import Results
from sim.experiments.engine.lines import plan
from sim.experiments.engine.load import File, Policies, load
from sim.experiments.engine.runs import Interrupted, Runs
from sim.experiments.engine.workers import Cluster, Processes
from sim.lib import build
from sim.lib.verilated import LARGEST, RTL

HERE = build.ROOT / "sim" / "experiments"
KEPT = build.ROOT / "build" / "experiments"
STATUS_INTERRUPTED = 130


def files() -> list[Path]:
    return sorted(HERE.glob("*.toml"))


def built_policies(preset: str = LARGEST) -> Policies:
    layout = RTL[preset] / "downbeat_layout.json"
    if not layout.exists():
        raise Refused(f"{layout.relative_to(build.ROOT)} is missing: make {RTL[preset].relative_to(build.ROOT)}.stamp")
    return policies.read(layout)


def engine(file: File, jobs: int = 0, scheduler: str = "") -> Runs:
    """What runs the file's cells: `jobs` processes, 0 for as many as there are cores, or a Dask cluster."""
    program = build.experiment(file.experiment.run.preset) / "downbeat_experiment"
    if scheduler:
        return Runs(program, KEPT, lambda: Cluster(scheduler))
    return Runs(program, KEPT, lambda: Processes(jobs or os.cpu_count() or 1))


def run(
    paths: Sequence[Path],
    seed: int = 1,
    jobs: int = 0,
    full: bool = False,
    runs: int = 0,
    duration: str = "",
    scheduler: str = "",
    vary: bool = False,
) -> int:
    """The exit status. Every file is checked before anything is built or run. `runs`: of a cell; 0: as the file says;
    `vary`: with each other value of what the paper leaves out too."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: the runs under way end too
    try:
        known = built_policies()
        loaded = [load(path, known, full, duration) for path in paths]
        engines = [engine(file, jobs, scheduler) for file in loaded]
        reports = []
        for file, each in zip(loaded, engines, strict=True):
            results = carry_out(file, known, each, seed, runs)
            varied = []
            for change in file.vary if vary else ():
                other = load(file.path, known, full, duration, change)
                varied.append((f"{change[0]} = {change[1]}", other, carry_out(other, known, each, seed, runs)))
            told = report.make(file, results, seed, full, varied)
            line = command_line(paths, seed, full)
            report.write(told, line)
            records.write(file.experiment.name, results, seed, line, pages.version(), report.FOLDER)
            report.show(told)
            reports.append(told)
    except Interrupted as error:
        print(error, file=sys.stderr)
        return STATUS_INTERRUPTED
    except (Refused, build.BuildFailed) as error:
        print(error, file=sys.stderr)
        return 2
    cost = {name: sum(each.cost[name] for each in engines) for name in engines[0].cost}
    if cost["runs"]:
        speed = cost["core_segments"] / cost["core_seconds"] if cost["core_seconds"] else 0
        clocks = cost["core_clocks"] / max(cost["core_segments"], 1)
        print(
            f"{cost['runs']} runs in {cost['seconds']:.0f} s; the cores sent {cost['core_segments']:,} segments, "
            f"{clocks:.0f} clocks each, {speed:,.0f} in a second of their own"
        )
    print(f"Report: {report.PAGE.relative_to(build.ROOT)}, {report.COUNTS.name}, experiments/")
    for failure in report.failed(reports):
        print(f"Failed: {failure}", file=sys.stderr)
    return 1 if report.failed(reports) else 0


def carry_out(file: File, known: Policies, runner: Runs, seed: int, runs: int = 0) -> Results:
    """All cells with all seeds."""
    count = runs or file.experiment.run.seeds
    wanted = [(cell, plan(cell.experiment, known, seed + each)) for cell in file.cells for each in range(count)]
    done = runner.all([text for _, text in wanted], _progress(file.experiment.name))
    results: dict[tuple[tuple[str, str], ...], list[dict[str, object]]] = {}
    for (cell, _), one in zip(wanted, done, strict=True):
        results.setdefault(judge.name(cell), []).append(one)
    return results


def command_line(paths: Sequence[Path], seed: int, full: bool) -> str:
    more = " ".join([f"SEED={seed}", *(["FULL=1"] if full else [])])
    if len(paths) == 1:
        return f"make experiment NAME={paths[0].stem} {more}"
    return f"make experiments {more}"


def _progress(name: str) -> Callable[[int, int, float], None]:
    def show(done: int, wanted: int, left: float) -> None:
        if sys.stderr.isatty():
            rest = f", about {left:.0f} s left" if left >= 0 else ""
            end = "\n" if done == wanted else ""
            print(f"\r{name}: {done} of {wanted} runs{rest}   ", end=end, file=sys.stderr, flush=True)

    return show
