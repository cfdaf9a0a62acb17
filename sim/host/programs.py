# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Programs as they are over `downbeat run`, against Linux behind a TAP: each as client, and as server where it is one.

A job is a server and a client that are both programs of the system. One side runs over the core (10.0.0.1), the other
over the kernel (10.0.0.2), and then the other way round. What came must be what was sent, and the client must end as
with the kernel.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from downbeat_toe.driver.library import program
from downbeat_toe.driver.nic_status import device

from sim.host import services
from sim.host.job import Job
from sim.linux import namespace, tools
from sw.tests.driver.process import Nic

LIMIT = 120.0  # seconds for a client
SEEN = 120.0  # for a server to listen, and Go to compile it


@dataclass(frozen=True)
class Result:
    """One side of a job over the core; `problem` is empty if all was as with the kernel."""

    program: str
    role: str  # of the core's side
    equal: bool
    seconds: float
    problem: str = ""


def over_core(nic: Nic, command: list[str]) -> list[str]:
    return [str(program("downbeat-run")), "--device", nic.uri, "--", *command]


@contextmanager
def _serving(nic: Nic, job: Job, work: Path, on_core: bool) -> Iterator[None]:
    """The server, which listens."""
    address = namespace.CORE_IP if on_core else namespace.LINUX_IP
    command = job.serve(work, address, job.port)
    with (work / "server.log").open("wb") as said:
        server = subprocess.Popen(
            [*tools.BOUND_TO_US, *(over_core(nic, command) if on_core else command)],
            stdout=said, stderr=subprocess.STDOUT, stdin=subprocess.PIPE, cwd=work,
        )  # fmt: skip
        try:
            end = time.monotonic() + SEEN
            while not (job.port in device(nic.socket)["listening"] if on_core else _listens(job.port)):
                if server.poll() is not None or time.monotonic() > end:
                    raise tools.NotStarted((work / "server.log").read_text(errors="replace")[-300:].strip())
                time.sleep(0.05)
            yield
        finally:
            server.terminate()
            try:
                server.wait(5)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def _listens(port: int) -> bool:
    rows = [row.split() for row in Path("/proc/self/net/tcp").read_text().splitlines()[1:]]
    return any(row[3] == tools.LISTEN and int(row[1].rpartition(":")[2], 16) == port for row in rows)


def run_job(nic: Nic, job: Job, work: Path, core_serves: bool) -> Result:
    name, role = (job.server, "server") if core_serves else (job.client, "client")
    address = namespace.CORE_IP if core_serves else namespace.LINUX_IP
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    services.prepare(work)
    begin = time.monotonic()
    try:
        with _serving(nic, job, work, core_serves):
            command = job.ask(work, address, job.port)
            done = subprocess.run(
                command if core_serves else over_core(nic, command),
                capture_output=True, timeout=LIMIT, check=False, cwd=work, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        said = done.stdout.decode(errors="replace")
        problem = (
            "" if done.returncode == 0 else f"exit {done.returncode}: {(done.stderr.decode() or said)[-300:].strip()}"
        )
        equal = job.equal(work, said)
    except subprocess.TimeoutExpired:
        equal, said, problem = False, "", f"not done in {LIMIT:.0f} s"
    except tools.NotStarted as error:
        equal, said, problem = False, "", f"does not start: {error}"
    return Result(
        name,
        role,
        equal and not problem,
        round(time.monotonic() - begin, 2),
        problem or ("" if equal else f"what came differs: {said[-300:].strip()}"),
    )


@contextmanager
def nic_on_tap(work: Path, models: Path, preset: str) -> Iterator[Nic]:
    """A NIC on a TAP in a network namespace of its own, into which this process moves."""
    environment = os.environ | {"DOWNBEAT_MODELS": str(models)}
    with namespace.interface() as name:
        arguments = ["--tap", name, "--preset", preset, "--ip", f"{namespace.CORE_IP}/24", "--mac", namespace.CORE_MAC]
        with Nic(work / "nic.sock", *arguments, environment=environment) as nic:
            yield nic


def run_all(work: Path, models: Path, preset: str, names: list[str]) -> tuple[list[Result], list[str]]:
    """Results, and the programs that this machine has not."""
    results: list[Result] = []
    missing: list[str] = []
    for job in services.JOBS:
        if names and job.server not in names and job.client not in names:
            continue
        if gone := job.missing():
            missing.append(gone)
            continue
        for core_serves in (False, True):
            # A NIC of its own: connections in TIME-WAIT of one take no flow from the next.
            with nic_on_tap(work, models, preset) as nic:
                result = run_job(nic, job, work / "job", core_serves)
            results.append(result)
            print(
                f"{result.program} as {result.role}: {result.problem or 'equal'} ({result.seconds} s)", file=sys.stderr
            )
    return results, missing


def as_rows(results: list[Result]) -> list[dict[str, Any]]:
    return [
        {"program": each.program, "role": each.role, "equal": each.equal, "problem": each.problem} for each in results
    ]
