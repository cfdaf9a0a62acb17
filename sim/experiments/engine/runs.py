# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Runs by workers. Each finished run is kept by what it is made of, so the same command goes on where it was interrupted;
the results are in the order of the plans, however many workers there were."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import wait
from pathlib import Path
from typing import Any

from downbeat_toe.refused import Refused

from sim.experiments.engine.workers import Outcome, Workers

POLL = 0.2  # s

Result = dict[str, Any]
Shown = Callable[[int, int, float], None]  # runs done, runs wanted, seconds left


class Interrupted(Exception):
    """Ctrl-C: the message says what is kept."""


class Runs:
    """`kept`: the directory of finished runs; `workers`: makes who carries out the others."""

    def __init__(self, program: Path, kept: Path, workers: Callable[[], Workers]) -> None:
        self.program, self.kept, self.workers = program, kept, workers
        self.cost = {"runs": 0, "seconds": 0.0, "core_seconds": 0.0, "core_segments": 0, "core_clocks": 0}

    def key(self, plan: str) -> str:
        """Of the plan and of the program's content."""
        return hashlib.sha256(f"{self.program.resolve().parent.name}\n{plan}".encode()).hexdigest()[:24]

    def done(self, plan: str) -> bool:
        return (self.kept / f"{self.key(plan)}.json").exists()

    def all(self, plans: Sequence[str], show: Shown) -> list[Result]:
        """What each plan gave, in their order. Raises Interrupted, and Refused where nothing can be kept."""
        begin, waiting = time.monotonic(), [plan for plan in dict.fromkeys(plans) if not self.done(plan)]
        try:
            self.kept.mkdir(parents=True, exist_ok=True)
            if waiting:
                self._carry_out(waiting, begin, show)
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
        return [json.loads((self.kept / f"{self.key(plan)}.json").read_text()) for plan in plans]

    def _carry_out(self, waiting: Sequence[str], begin: float, show: Shown) -> None:
        workers = self.workers()
        plans = {workers.submit(self.program, plan): plan for plan in waiting}
        pending = set(plans)
        try:
            while pending:
                done, pending = wait(pending, timeout=POLL)
                for future in [each for each in plans if each in done]:
                    self._keep(plans[future], Outcome(*future.result()))
                count = len(plans) - len(pending)
                spent = time.monotonic() - begin
                show(count, len(plans), spent / count * len(pending) if count else -1.0)
        except BaseException:
            workers.end(list(plans))
            raise
        finally:
            workers.close()

    def _keep(self, plan: str, outcome: Outcome) -> None:
        if outcome.status:
            raise Refused(f"{self.program.name} ended with status {outcome.status}: {outcome.told.strip()[-300:]}")
        json.loads(outcome.result)
        self._count(outcome.told, outcome.seconds)
        place = self.kept / f"{self.key(plan)}.json"
        fresh = place.with_suffix(f".{os.getpid()}")
        try:
            fresh.write_text(outcome.result)
            fresh.replace(place)
        except OSError:
            fresh.unlink(missing_ok=True)
            raise

    def _count(self, told: str, seconds: float) -> None:
        self.cost["runs"] += 1
        self.cost["seconds"] += seconds
        for name, value in (word.split("=") for word in told.split() if word.startswith("core_")):
            self.cost[name] += float(value) if name == "core_seconds" else int(value)
