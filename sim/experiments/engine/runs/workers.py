# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Workers that carry out runs: processes of this machine, or the workers of a Dask cluster.

A run is one process of the program, which takes a plan and gives its result as text. A process that is killed is begun
again; a worker that goes leaves its runs to the others.
"""

from __future__ import annotations

import importlib
import re
import subprocess
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from downbeat_toe.refused import Refused

TRIES = 2  # tries of a run whose process was killed
LOST_WORKERS = 5  # lost workers after which a run is given up
CONNECT = "10 s"
ADDRESS = re.compile(r"tcp://(\[[0-9a-fA-F:.]+\]|[^\s:/\[\]]+):\d{1,5}")


class Outcome(NamedTuple):
    """End of a run; status 0 is success."""

    status: int
    result: str
    messages: str  # cost of the run, or its errors
    seconds: float


Ended = tuple[int, str, str, float]  # an Outcome between processes


class Workers(Protocol):
    def submit(self, program: Path, plan: str) -> Future[Ended]: ...

    def end(self, futures: Sequence[Future[Ended]]) -> None:
        """Cancels these runs."""

    def close(self) -> None: ...


class _Ended(Exception):
    """The run was cancelled."""


class Processes:
    """`jobs` at once, on this machine."""

    def __init__(self, jobs: int) -> None:
        self._pool = ThreadPoolExecutor(jobs)
        self._processes: set[subprocess.Popen[str]] = set()
        self._lock = threading.Lock()
        self._ended = False

    def submit(self, program: Path, plan: str) -> Future[Ended]:
        return self._pool.submit(self._run, program, plan)

    def end(self, futures: Sequence[Future[Ended]]) -> None:
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
            out, messages = process.communicate(plan)
            with self._lock:
                self._processes.discard(process)
            if process.returncode >= 0 or not left or self._ended:
                break
        return Outcome(process.returncode, out, messages, time.monotonic() - begin)


def require_address(text: str) -> None:
    """Refuses text that is no address of a scheduler; distributed would try to connect to it."""
    if not ADDRESS.fullmatch(text):
        raise Refused(
            f"--scheduler '{text}': no address of a Dask scheduler: write tcp://host:port, as tcp://host:8786"
        )


class Cluster:
    """A Dask cluster: its workers reach the program at the same path, as by a shared file system."""

    def __init__(self, address: str) -> None:
        """`address` as tcp://host:port. Raises Refused where it is none, or no scheduler answers."""
        require_address(address)
        distributed: Any = importlib.import_module("distributed")  # without types
        try:
            self._client = distributed.Client(address, timeout=CONNECT, set_as_default=False)
        except (OSError, ValueError):
            raise Refused(
                f"{address}: no Dask scheduler answers: start one by 'dask scheduler', or leave --scheduler out"
            ) from None
        self._pool = self._client.get_executor(pure=False, retries=LOST_WORKERS)

    def submit(self, program: Path, plan: str) -> Future[Ended]:
        def carry_out(path: str) -> Ended:
            """Runs on a worker, which needs no Python of this tree: an inner function travels as code."""
            begin = time.monotonic()
            for _ in range(TRIES):
                done = subprocess.run([path], input=plan, capture_output=True, text=True, check=False)
                if done.returncode >= 0:
                    break
            return done.returncode, done.stdout, done.stderr, time.monotonic() - begin

        future: Future[Ended] = self._pool.submit(carry_out, str(program))
        return future

    def end(self, futures: Sequence[Future[Ended]]) -> None:
        for future in futures:
            future.cancel()

    def close(self) -> None:
        self._pool.shutdown(wait=False)
        self._client.close()


def _begin(program: Path) -> subprocess.Popen[str]:
    return subprocess.Popen([str(program)], stdin=-1, stdout=-1, stderr=-1, text=True, start_new_session=True)
