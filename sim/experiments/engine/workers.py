# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Who carries out runs: processes of this machine, or the workers of a Dask cluster.

A run is one process of the program, which takes a plan and gives its result as text. A process that is killed is begun
again; a worker that goes leaves its runs to the others.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from downbeat_toe.refused import Refused

TRIES = 2  # of a run whose process was killed
LOST_WORKERS = 5  # under one run, until it is given up
CONNECT = "10 s"


@dataclass(frozen=True)
class Outcome:
    result: str
    told: str  # what the run cost
    seconds: float


class Workers(Protocol):
    def submit(self, program: Path, plan: str) -> Future[Outcome]: ...

    def end(self, futures: Sequence[Future[Outcome]]) -> None:
        """Nothing more is wanted of these."""

    def close(self) -> None: ...


class _Ended(Exception):
    """This run is not wanted any more."""


class Processes:
    """`jobs` at once, on this machine."""

    def __init__(self, jobs: int) -> None:
        self._pool = ThreadPoolExecutor(jobs)
        self._processes: set[subprocess.Popen[str]] = set()
        self._lock = threading.Lock()
        self._ended = False

    def submit(self, program: Path, plan: str) -> Future[Outcome]:
        return self._pool.submit(self._run, program, plan)

    def end(self, futures: Sequence[Future[Outcome]]) -> None:
        for future in futures:
            future.cancel()
        with self._lock:
            self._ended = True
            for process in self._processes:
                process.kill()

    def close(self) -> None:
        self._pool.shutdown()

    def _run(self, program: Path, plan: str) -> Outcome:
        for left in reversed(range(TRIES)):
            begin = time.monotonic()
            with self._lock:
                if self._ended:
                    raise _Ended
                process = _begin(program)
                self._processes.add(process)
            out, told = process.communicate(plan)
            with self._lock:
                self._processes.discard(process)
            if process.returncode == 0:
                return Outcome(out, told, time.monotonic() - begin)
            if process.returncode > 0 or not left or self._ended:
                break
        raise _refused(program, process.returncode, told)


class Cluster:
    """A Dask cluster: its workers reach the program at the same path, as by a shared file system."""

    def __init__(self, address: str) -> None:
        """`address` as tcp://host:port. Raises Refused where no scheduler answers."""
        # Both without types.
        distributed: Any = importlib.import_module("distributed")
        cloudpickle: Any = importlib.import_module("cloudpickle")

        # Workers need none of this tree: they get what they run by its code.
        cloudpickle.register_pickle_by_value(sys.modules[__name__])
        try:
            self._client = distributed.Client(address, timeout=CONNECT, set_as_default=False)
        except (OSError, ValueError) as error:
            raise Refused(
                f"{address}: no Dask scheduler answers ({type(error).__name__}): start one by 'dask scheduler', "
                "or leave the scheduler out"
            ) from None
        self._pool = self._client.get_executor(pure=False, retries=LOST_WORKERS)

    def submit(self, program: Path, plan: str) -> Future[Outcome]:
        future: Future[Outcome] = self._pool.submit(_carry_out, str(program), plan)
        return future

    def end(self, futures: Sequence[Future[Outcome]]) -> None:
        for future in futures:
            future.cancel()

    def close(self) -> None:
        self._pool.shutdown(wait=False)
        self._client.close()


def _begin(program: Path) -> subprocess.Popen[str]:
    return subprocess.Popen([str(program)], stdin=-1, stdout=-1, stderr=-1, text=True, start_new_session=True)


def _carry_out(program: str, plan: str) -> Outcome:
    """On a worker."""
    begin = time.monotonic()
    for _ in range(TRIES):
        done = subprocess.run([program], input=plan, capture_output=True, text=True, check=False)
        if done.returncode >= 0:
            break
    if done.returncode:
        raise _refused(Path(program), done.returncode, done.stderr)
    return Outcome(done.stdout, done.stderr, time.monotonic() - begin)


def _refused(program: Path, status: int, told: str) -> Refused:
    return Refused(f"{program.name} ended with status {status}: {told.strip()[-300:]}")
