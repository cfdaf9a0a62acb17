# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Finished runs are kept: an interrupted, killed or refused set goes on where it was, with equal results."""

from __future__ import annotations

import errno
import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from downbeat_toe.refused import Refused

from sim.experiments.engine import command
from sim.experiments.engine.runs.runs import Runs, Work
from sim.experiments.engine.runs.workers import Cluster, Processes

PLANS = [f"run seed={seed}\n" for seed in range(6)]
# Gives its plan back, and leaves a mark for each time that it ran. A worker that is killed may have given it none.
ECHO = """#!{python}
import json, pathlib, sys, uuid
plan = sys.stdin.read() or sys.exit()
{more}
pathlib.Path("{place}", "ran-" + uuid.uuid4().hex).write_text(plan)
for one in plan.split("next\\n"):
    print(json.dumps({{"plan": one}}))
print("core_seconds=0.5 core_segments=7", file=sys.stderr)
"""


def program(place: Path, more: str = "") -> Path:
    build = place / "build"
    build.mkdir(exist_ok=True)
    path = build / "program"
    path.write_text(ECHO.format(python=sys.executable, place=place, more=more))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def ran(place: Path) -> list[str]:
    return sorted(path.read_text() for path in place.glob("ran-*"))


def nothing(*_: object) -> None:
    return None


@pytest.mark.parametrize("jobs", [1, 4])
def test_results_are_in_the_order_of_the_plans(jobs: int, tmp_path: Path) -> None:
    runs = Runs(tmp_path / "kept", lambda: Processes(jobs))
    assert [one["plan"] for one in runs.all(program(tmp_path), PLANS, nothing)] == PLANS
    assert runs.cost["core_segments"] == 7 * len(PLANS)


def test_what_is_done_is_not_run_again(tmp_path: Path) -> None:
    path = program(tmp_path)
    Runs(tmp_path / "kept", lambda: Processes(1)).all(path, PLANS[:4], nothing)
    Runs(tmp_path / "kept", lambda: Processes(1)).all(path, [*PLANS, PLANS[0]], nothing)
    assert ran(tmp_path) == PLANS


def test_runs_with_one_warm_up_go_to_one_process(tmp_path: Path) -> None:
    """They differ in the flow that begins after it, and in their end; what of them is kept is not run again."""
    head = "run seed={seed} duration={end} warm-up=5\nflow label=a start=1\nwrite at=1 bytes=9\n"
    plans = [
        f"{head.format(seed=seed, end=end)}flow label=b start={end - 1} startup={startup}\nwrite at=7 bytes={end}\n"
        for seed in (1, 2)
        for end, startup in ((10, "standard"), (10, "hoe"), (12, "hoe"))
    ]
    path = program(tmp_path)
    Runs(tmp_path / "kept", lambda: Processes(1)).all(path, plans[:1], nothing)
    runs = Runs(tmp_path / "kept", lambda: Processes(1))
    assert [one["plan"] for one in runs.all(path, plans, nothing)] == plans
    assert ran(tmp_path) == sorted([plans[0], "next\n".join(plans[1:3]), "next\n".join(plans[3:])])
    assert runs.cost["runs"] == 5


def test_a_group_is_given_while_later_ones_run(tmp_path: Path) -> None:
    """Two workers: the second group's first run does not wait for the end of the first group."""
    path = program(
        tmp_path,
        f'''
import time
other = pathlib.Path("{tmp_path}", "began-" + ("1" if "seed=0" in plan else "0"))
pathlib.Path("{tmp_path}", "began-" + plan.strip()[-1]).touch()
while plan.strip()[-1] in "01" and not other.exists():
    time.sleep(0.01)
''',
    )
    groups = [[Work(path, plan) for plan in some] for some in (PLANS[:1], PLANS[1:3], PLANS[3:])]
    runs = Runs(tmp_path / "kept", lambda: Processes(2))
    given = runs.groups(groups, nothing)
    assert [one["plan"] for one in next(given)] == PLANS[:1]
    assert [[one["plan"] for one in group] for group in given] == [PLANS[1:3], PLANS[3:]]
    assert ran(tmp_path) == PLANS and runs.cost["runs"] == len(PLANS)


def test_an_end_before_the_last_group_ends_what_runs(tmp_path: Path) -> None:
    path = program(tmp_path, 'import time; time.sleep(60 if "seed=5" in plan else 0)')
    given = Runs(tmp_path / "kept", lambda: Processes(2)).groups([[Work(path, one)] for one in PLANS], nothing)
    assert [one["plan"] for one in next(given)] == PLANS[:1]
    begin = time.monotonic()
    given.close()
    assert time.monotonic() - begin < 30


def test_a_run_that_was_killed_is_run_again(tmp_path: Path) -> None:
    once = f'mark = pathlib.Path("{tmp_path}/killed")\nif "seed=2" in plan and not mark.exists():\n'
    once += "    mark.touch(); import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    runs = Runs(tmp_path / "kept", lambda: Processes(2))
    assert [one["plan"] for one in runs.all(program(tmp_path, once), PLANS, nothing)] == PLANS
    assert ran(tmp_path) == PLANS


def test_a_program_that_refuses_its_plan_is_reported(tmp_path: Path) -> None:
    path = program(tmp_path, 'sys.exit("line 3: unknown word" if "seed=3" in plan else 0)')
    runs = Runs(tmp_path / "kept", lambda: Processes(1))
    with pytest.raises(Refused, match="line 3: unknown word"):
        runs.all(path, PLANS[3:4], nothing)


def test_a_full_disk_is_reported_with_a_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, runs = program(tmp_path), Runs(tmp_path / "kept", lambda: Processes(1))
    write = Path.write_text

    def full(path: Path, text: str) -> int:
        if "kept" in path.parts and not any(f"seed={early}" in text for early in (0, 1)):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(path, text)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_text", full)
        with pytest.raises(Refused) as refused:
            runs.all(path, PLANS, nothing)
    assert "No space left on device: free some space and give the same command again; 2 of 6 runs" in str(refused.value)
    assert [one["plan"] for one in runs.all(path, PLANS, nothing)] == PLANS
    assert not list((tmp_path / "kept").glob("*.json.*"))


def test_a_place_that_is_no_directory_is_reported(tmp_path: Path) -> None:
    (tmp_path / "kept").touch()
    with pytest.raises(Refused, match="make it a directory to write in and give the same command again; 0 of 6"):
        Runs(tmp_path / "kept", lambda: Processes(1)).all(program(tmp_path), PLANS, nothing)


def test_an_interrupt_ends_with_what_is_kept_and_the_rest_follows(tmp_path: Path) -> None:
    path = program(tmp_path, 'import time; time.sleep(60 if "seed=2" in plan else 0)')
    script = f"""
import pathlib, signal, sys
from sim.experiments.engine.runs.runs import Interrupted, Runs
from sim.experiments.engine.runs.workers import Processes
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
try:
    runs = Runs(pathlib.Path({str(tmp_path / "kept")!r}), lambda: Processes(1))
    runs.all(pathlib.Path({str(path)!r}), {PLANS!r}, lambda *_: None)
except Interrupted as error:
    sys.exit(str(error))
"""
    process = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE, text=True, env=os.environ)
    for _ in range(600):
        if len(list((tmp_path / "kept").glob("*.json"))) == 2:
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert "Interrupted: 2 of 6 runs are done and kept in" in said and "the same command goes on from there" in said
    kept = {json.loads(one.read_text())["plan"] for one in (tmp_path / "kept").glob("*.json")}
    assert kept == set(PLANS[:2])


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A scheduler and two workers of it, each a process of its own as on machines of their own."""
    file = tmp_path / "scheduler.json"
    dask = [sys.executable, "-m", "dask"]

    def begin(*words: str) -> subprocess.Popen[bytes]:
        quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path}
        return subprocess.Popen([*dask, *words], env={**os.environ, "PYTHONPATH": ""}, **quiet)

    listen = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
    scheduler = begin("scheduler", *listen, "--scheduler-file", str(file))
    for _ in range(600):
        if file.exists() and file.read_text():
            break
        time.sleep(0.05)
    address = json.loads(file.read_text())["address"]
    workers = [begin("worker", address, "--nthreads", "1", "--no-dashboard", "--no-nanny") for _ in range(2)]
    yield address, workers
    for process in (*workers, scheduler):
        process.kill()
        process.wait()


def test_a_cluster_loses_a_worker_and_no_run(
    cluster: tuple[str, list[subprocess.Popen[bytes]]], tmp_path: Path
) -> None:
    """Two workers, one of which is killed while it runs: all results, each kept once."""
    address, workers = cluster
    path = program(tmp_path, "import time; time.sleep(0.3)")
    killed: list[int] = []

    def kill(done: int, wanted: int, left: float) -> None:
        if done and not killed:
            killed.append(done)
            workers[0].kill()

    runs = Runs(tmp_path / "kept", lambda: Cluster(address))
    assert [one["plan"] for one in runs.all(path, PLANS, kill)] == PLANS
    assert killed and len(list((tmp_path / "kept").glob("*.json"))) == len(PLANS)
    assert sorted(set(ran(tmp_path))) == PLANS
    assert runs.cost["runs"] == len(PLANS)  # runs of the dead worker count once


def test_a_run_that_is_refused_on_a_cluster_is_reported(
    cluster: tuple[str, list[subprocess.Popen[bytes]]], tmp_path: Path
) -> None:
    path = program(tmp_path, 'sys.exit("line 3: unknown word")')
    with pytest.raises(Refused, match="program ended with status 1: line 3: unknown word"):
        Runs(tmp_path / "kept", lambda: Cluster(cluster[0])).all(path, PLANS[:1], nothing)


def test_a_scheduler_that_is_not_there_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sim.experiments.engine.runs.workers.CONNECT", "100 ms")
    with pytest.raises(Refused, match=r"tcp://127\.0\.0\.1:9: no Dask scheduler answers"):
        Runs(tmp_path / "kept", lambda: Cluster("tcp://127.0.0.1:9")).all(program(tmp_path), PLANS, nothing)


@pytest.mark.parametrize("address", ["foo", "127.0.0.1:8786", "tcp://127.0.0.1", "tcp://:8786", "tcp://host:port"])
def test_a_scheduler_s_address_is_looked_at_before_anything_is_built(
    address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.run([tmp_path / "none.toml"], scheduler=address) == 2
    said = capsys.readouterr().err
    assert (
        said == f"--scheduler '{address}': no address of a Dask scheduler: write tcp://host:port, as tcp://host:8786\n"
    )
