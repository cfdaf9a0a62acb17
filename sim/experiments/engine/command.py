# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`python -m sim.experiments run FILE...`: experiments from files, for `downbeat experiment` and make."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from downbeat_toe import pages, quantities
from downbeat_toe.refused import Refused

from sim.experiments.engine.measures import judge
from sim.experiments.engine.measures.judge import Results
from sim.experiments.engine.plan.lines import plan
from sim.experiments.engine.report import records, report
from sim.experiments.engine.runs.program import built_policies, program, runner
from sim.experiments.engine.runs.runs import Interrupted, Result, Work
from sim.experiments.engine.schema import checks
from sim.experiments.engine.schema.load import Cell, File, load
from sim.experiments.names import FILES
from sim.lib import build

STATUS_INTERRUPTED = 130


NULL = "null model"


class Policies(NamedTuple):
    """Every core's flow has these in the place of the file's; empty: as the file says."""

    startup: str = ""
    steady: str = ""


NONE = Policies()


class Request(NamedTuple):
    """A file's experiment: all its cells, each with all seeds."""

    file: File
    changed: str  # a key of the file's `vary` with its value; NULL; empty: as the file says
    cells: list[Cell]
    works: list[Work]

    @staticmethod
    def of(file: File, changed: str, known: checks.Policies, seed: int, runs: int) -> Request:
        seeds = [seed + number for number in range(runs or file.experiment.run.seeds)]
        carries_out = program(file)
        each = [(cell, Work(carries_out, plan(cell.experiment, known, one))) for cell in file.cells for one in seeds]
        return Request(file, changed, [cell for cell, _ in each], [work for _, work in each])

    def results(self, done: Sequence[Result]) -> Results:
        results: dict[tuple[tuple[str, str], ...], list[Result]] = {}
        for cell, one in zip(self.cells, done, strict=True):
            results.setdefault(judge.name(cell), []).append(one)
        return results


def forms(
    path: Path, known: checks.Policies, full: bool, duration: str, vary: bool, null: Policies = NONE
) -> list[tuple[str, File]]:
    """The experiment as its file says; with `vary` also with each other value of what the paper leaves out; and with
    the policies of the null model. Raises Refused."""
    file = load(path, known, full, duration)
    changes = file.vary if vary else ()
    others = [(f"{key} = {_said(value)}", load(path, known, full, duration, (key, value))) for key, value in changes]
    model = [(NULL, load(path, known, full, duration, startup=null.startup, steady=null.steady))] if any(null) else []
    return [("", file), *others, *model]


def _said(value: Any) -> Any:
    """Text for a value of `vary`; for an axis, the different words of each value."""
    if not isinstance(value, list):
        return value
    words = [each.values() if isinstance(each, dict) else [each] for each in value]
    return ", ".join(" ".join(dict.fromkeys(str(word) for word in each if word != "")) for each in words)


def run(
    paths: Sequence[Path],
    seed: int = 1,
    jobs: int = 0,
    full: bool = False,
    runs: int = 0,
    duration: str = "",
    scheduler: str = "",
    vary: bool = False,
    null: Policies = NONE,
) -> int:
    """The exit status. Every file is checked before anything is built or run. `runs`: of a cell; 0: as the file says;
    `vary`: with each other value of what the paper leaves out too; `null`: also with these policies in the place of
    each flow's, to see which rows cannot fail."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: running processes end too
    reports = []
    try:
        engine = runner(jobs, scheduler)
        known = built_policies()
        loaded = [forms(path, known, full, duration, vary, null) for path in paths]
        requests = [[Request.of(file, changed, known, seed, runs) for changed, file in one] for one in loaded]
        line = command_line(paths, seed, full, runs, duration, vary, null)
        with closing(engine.groups([each.works for one in requests for each in one], show)) as done:
            for one in requests:
                results = [each.results(next(done)) for each in one]
                clear()
                reports.append(finish(one, results, seed, full, line))
    except (Interrupted, KeyboardInterrupt) as error:
        print(error if str(error) else "Interrupted: the same command goes on from there", file=sys.stderr)
        return STATUS_INTERRUPTED
    except (Refused, build.BuildFailed) as error:
        print(error, file=sys.stderr)
        return 2
    if engine.cost["runs"]:
        print(spent(engine.cost))
    print(f"Report: {report.PAGE.relative_to(build.ROOT)}, {report.COUNTS.name}, experiments/")
    for failure in report.failed(reports):
        print(f"Failed: {failure}", file=sys.stderr)
    return 1 if report.failed(reports) else 0


def finish(one: Sequence[Request], results: Sequence[Results], seed: int, full: bool, line: str) -> dict[str, Any]:
    """Writes and shows an experiment's report, and returns it."""
    others = [(each.changed, each.file, of_it) for each, of_it in zip(one[1:], results[1:], strict=True)]
    varied = [other for other in others if other[0] != NULL]
    null = next(
        (null_of(one[0], each, of_it) for each, of_it in zip(one, results, strict=True) if each.changed == NULL), None
    )
    data = report.make(one[0].file, results[0], seed, full, varied, null)
    report.write(data, line)
    records.write(one[0].file.experiment.name, results[0], seed, line, pages.version(), report.FOLDER)
    report.show(data)
    return data


def null_of(own: Request, null: Request, results: Results) -> judge.Null:
    """The null model with the cells that it changes; the others, such as Reno's own, say nothing of a row."""
    each = zip(own.cells, own.works, null.works, strict=True)
    return judge.Null(null.file, results, {judge.name(cell) for cell, mine, other in each if mine.plan != other.plan})


def spent(cost: Mapping[str, float]) -> str:
    speed = cost["core_segments"] / cost["core_seconds"] if cost["core_seconds"] else 0
    clocks = cost["core_clocks"] / max(cost["core_segments"], 1)
    return (
        f"{cost['runs']:,} runs in {cost['seconds']:.0f} s; the cores sent {cost['core_segments']:,} segments, "
        f"{clocks:.0f} clocks each, {speed:,.0f} in a second of their own"
    )


def command_line(
    paths: Sequence[Path],
    seed: int,
    full: bool = False,
    runs: int = 0,
    duration: str = "",
    vary: bool = False,
    null: Policies = NONE,
) -> str:
    """The command that repeats the reports: a target of make for the tree's files, else `downbeat experiment run`."""
    quick = os.environ.get("NAME") == "quick"
    named = [(key, value) for key, value in null._asdict().items() if value]
    if (len(paths) > 1 and not quick) or any(path.resolve() not in FILES.values() for path in paths):
        options = [f"--seed {seed}", *(["--full"] if full else []), *([f"--runs {runs}"] if runs else [])]
        options += [f"--duration '{duration}'"] if duration else []
        options += [*(["--vary"] if vary else []), *(f"--{key} {value}" for key, value in named)]
        return " ".join(["downbeat experiment run", *map(str, paths), *options])
    variables = [f"SEED={seed}", *(["FULL=1"] if full else []), *([f"RUNS={runs}"] if runs else [])]
    variables += [f"DURATION={quantities.duration(duration) / 1e9:g}"] if duration else []
    variables += [*(["VARY=1"] if vary else []), *(f"{key.upper()}={value}" for key, value in named)]
    return " ".join(["make experiments" if quick else f"make experiment NAME={paths[0].stem}", *variables])


def clear() -> None:
    """Erases the progress line before a table is printed."""
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)


def show(done: int, wanted: int, left: float) -> None:
    if sys.stderr.isatty():
        rest = f", about {left:.0f} s left" if left >= 0 else ""
        end = "\n" if done == wanted else ""
        print(f"\r{done} of {wanted} runs{rest}   ", end=end, file=sys.stderr, flush=True)
