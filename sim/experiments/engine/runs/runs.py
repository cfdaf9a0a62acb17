# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Runs by workers. Each finished run is kept by what it is made of, so the same command goes on where it was
interrupted; the results are in the order of the plans, however many workers there were."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from downbeat_toe.refused import Refused

from sim.experiments.engine.runs.warm_up import shared
from sim.experiments.engine.runs.workers import Outcome, Workers

POLL = 0.2  # s

Result = dict[str, Any]
Shown = Callable[[int, int, float], None]  # runs done, runs wanted, seconds left


class Interrupted(Exception):
    """Raised after Ctrl-C; the message says which runs are kept."""


class Work(NamedTuple):
    """One run: its program and its plan."""

    program: Path
    plan: str

    @property
    def key(self) -> str:
        """Hash of the plan and of the program's content."""
        return hashlib.sha256(f"{self.program.resolve().parent.name}\n{self.plan}".encode()).hexdigest()[:24]

    @property
    def beginning(self) -> tuple[Path, str]:
        """Key of the runs that share its warm-up."""
        return self.program, shared(self.plan)


class Runs:
    """`kept`: the directory of finished runs; `workers`: makes the workers for the others."""

    def __init__(self, kept: Path, workers: Callable[[], Workers]) -> None:
        self.kept, self.workers = kept, workers
        self.cost = {"runs": 0, "seconds": 0.0, "core_seconds": 0.0, "core_segments": 0, "core_clocks": 0}

    def place(self, work: Work) -> Path:
        return self.kept / f"{work.key}.json"

    def done(self, work: Work) -> bool:
        return self.place(work).exists()

    def all(self, program: Path, plans: Sequence[str], show: Shown) -> list[Result]:
        """Results in the order of the plans. Raises as `groups` does."""
        (results,) = self.groups([[Work(program, plan) for plan in plans]], show)
        return results

    def groups(self, groups: Sequence[Sequence[Work]], show: Shown) -> Generator[list[Result], None, None]:
        """Results of each group, group after group, as they end; the workers go on with later groups meanwhile.

        Raises Interrupted, and Refused where a run ends in an error or nothing can be kept.
        """
        waiting = [work for work in dict.fromkeys(chain.from_iterable(groups)) if not self.done(work)]
        try:
            self.kept.mkdir(parents=True, exist_ok=True)
            if not waiting:
                yield from map(self._results, groups)
                return
            with self._begun(waiting, show) as wait_for:
                for group in groups:
                    wait_for(group)
                    yield self._results(group)
        except KeyboardInterrupt:
            finished = sum(map(self.done, waiting))
            raise Interrupted(
                f"Interrupted: {finished} of {len(waiting)} runs are done and kept in {self.kept}; "
                "the same command goes on from there"
            ) from None
        except OSError as error:
            instead = "free some space and" if error.errno == errno.ENOSPC else "make it a directory to write in and"
            raise Refused(
                f"{self.kept}: {error.strerror}: {instead} give the same command again; "
                f"{sum(map(self.done, waiting))} of {len(waiting)} runs are kept"
            ) from None

    def _results(self, group: Sequence[Work]) -> list[Result]:
        return [json.loads(self.place(work).read_text()) for work in group]

    @contextmanager
    def _begun(self, waiting: Sequence[Work], show: Shown) -> Iterator[Callable[[Sequence[Work]], None]]:
        """Submits all waiting runs; gives a function that waits until a group's runs are kept."""
        workers, begin = self.workers(), time.monotonic()
        together: dict[tuple[Path, str], list[Work]] = {}
        for work in waiting:
            together.setdefault(work.beginning, []).append(work)
        futures = {
            workers.submit(works[0].program, "next\n".join(work.plan for work in works)): works
            for works in sorted(together.values(), key=len, reverse=True)  # the longest last would leave cores idle
        }
        pending = set(futures)

        def wait_for(group: Sequence[Work]) -> None:
            nonlocal pending
            while not {work for future in pending for work in futures[future]}.isdisjoint(group):
                done, pending = wait(pending, timeout=POLL, return_when=FIRST_COMPLETED)
                for future in [each for each in futures if each in done]:
                    self._keep(futures[future], Outcome(*future.result()))
                left = sum(len(futures[future]) for future in pending)
                count = len(waiting) - left
                spent = time.monotonic() - begin
                show(count, len(waiting), spent / count * left if count else -1.0)

        try:
            yield wait_for
        except BaseException:
            workers.end(list(futures))
            raise
        finally:
            workers.close()

    def _keep(self, works: Sequence[Work], outcome: Outcome) -> None:
        """Keeps the runs: each line of the result is one run."""
        if outcome.status:
            raise Refused(
                f"{works[0].program.name} ended with status {outcome.status}: {outcome.messages.strip()[-300:]}"
            )
        results = outcome.result.splitlines(keepends=True)
        self._count(len(works), outcome.messages, outcome.seconds)
        for work, result in zip(works, results, strict=True):
            json.loads(result)
            place = self.place(work)
            fresh = place.with_suffix(f".{os.getpid()}")
            try:
                fresh.write_text(result)
                fresh.replace(place)
            except OSError:
                fresh.unlink(missing_ok=True)
                raise

    def _count(self, runs: int, messages: str, seconds: float) -> None:
        self.cost["runs"] += runs
        self.cost["seconds"] += seconds
        for name, value in (word.split("=") for word in messages.split() if word.startswith("core_")):
            self.cost[name] += float(value) if name == "core_seconds" else int(value)
