# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Runs by as many processes as there are jobs. Each finished run is kept by what it is made of, so the same command goes
on where it was interrupted; the results are in the order of the plans, however many processes there were."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

from downbeat_toe.refused import Refused

TRIES = 2  # of a run whose process was killed
POLL = 0.2  # s

Result = dict[str, Any]
Shown = Callable[[int, int, float], None]  # runs done, runs wanted, seconds left


class Interrupted(Exception):
    """Ctrl-C: the message says what is kept."""


class _Ended(Exception):
    """This run is not wanted any more."""


class Runs:
    """`kept`: the directory of finished runs."""

    def __init__(self, program: Path, kept: Path, jobs: int) -> None:
        self.program, self.kept, self.jobs = program, kept, jobs
        self._processes: set[subprocess.Popen[str]] = set()
        self._lock = threading.Lock()
        self._ended = False
        self.cost = {"runs": 0, "seconds": 0.0, "core_seconds": 0.0, "core_segments": 0, "core_clocks": 0}

    def key(self, plan: str) -> str:
        """Of the plan and of the program's content."""
        return hashlib.sha256(f"{self.program.resolve().parent.name}\n{plan}".encode()).hexdigest()[:24]

    def done(self, plan: str) -> bool:
        return (self.kept / f"{self.key(plan)}.json").exists()

    def all(self, plans: Sequence[str], show: Shown) -> list[Result]:
        """What each plan gave, in their order. Raises Interrupted, and Refused where nothing can be kept."""
        begin, waiting = time.monotonic(), [plan for plan in dict.fromkeys(plans) if not self.done(plan)]
        self._ended = False
        try:
            self.kept.mkdir(parents=True, exist_ok=True)
            with ThreadPoolExecutor(self.jobs) as pool:
                futures = [pool.submit(self._keep, plan) for plan in waiting]
                try:
                    self._watch(futures, begin, show)
                except BaseException:
                    self._end(futures)
                    raise
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

    def _watch(self, futures: Sequence[Future[None]], begin: float, show: Shown) -> None:
        pending = set(futures)
        while pending:
            done, pending = wait(pending, timeout=POLL)
            for future in done:
                future.result()
            count = len(futures) - len(pending)
            spent = time.monotonic() - begin
            show(count, len(futures), spent / count * len(pending) if count else -1.0)

    def _end(self, futures: Sequence[Future[None]]) -> None:
        for future in futures:
            future.cancel()
        with self._lock:
            self._ended = True
            for process in self._processes:
                process.kill()

    def _keep(self, plan: str) -> None:
        text = self._run(plan)
        place = self.kept / f"{self.key(plan)}.json"
        fresh = place.with_suffix(f".{os.getpid()}.{threading.get_ident()}")
        try:
            fresh.write_text(text)
            fresh.replace(place)
        except OSError:
            fresh.unlink(missing_ok=True)
            raise

    def _run(self, plan: str) -> str:
        for left in reversed(range(TRIES)):
            begin = time.monotonic()
            with self._lock:
                if self._ended:
                    raise _Ended
                process = subprocess.Popen(
                    [str(self.program)], stdin=-1, stdout=-1, stderr=-1, text=True, start_new_session=True
                )
                self._processes.add(process)
            out, err = process.communicate(plan)
            with self._lock:
                self._processes.discard(process)
                self._count(err, time.monotonic() - begin)
            if process.returncode == 0:
                json.loads(out)
                return out
            if process.returncode > 0 or not left or self._ended:
                break
        raise Refused(f"{self.program.name} ended with status {process.returncode}: {err.strip()[-300:]}")

    def _count(self, told: str, seconds: float) -> None:
        self.cost["runs"] += 1
        self.cost["seconds"] += seconds
        for name, value in (word.split("=") for word in told.split() if word.startswith("core_")):
            self.cost[name] += float(value) if name == "core_seconds" else int(value)
