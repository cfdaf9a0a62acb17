# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make bench NAME=host`: bytes through the rings, a host that errs, programs of the system, and what a program and the
core pay.

build/reports/host.json. SIZE is the bytes that cross, N the drawn wrong values, DURATION the seconds of random socket
calls. The programs need root, a TAP interface and themselves: what is missing is named.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from downbeat_toe.console import report_console
from rich.table import Table

from sim.host import programs, socket_costs
from sim.lib import build, ranges, verilated
from sim.linux import namespace
from sw.tests.driver import socket_programs
from sw.tests.driver.fuzz import compare
from sw.tests.driver.process import Nic

REPORT = build.ROOT / "build" / "reports" / "host.json"
DRIVER = build.ROOT / "build" / "driver"
PROGRAMS = build.ROOT / "build" / "programs" / "usr"  # scripts/programs.sh
BYTES, WRONG_VALUES, SECONDS = "4MB", 20_000, 20
COST_BYTES = ("64", "16384")


def bench(program: Path, model: Path, *arguments: str) -> dict[str, Any]:
    """Report of host_bench; it fails where something was not as it must be, and says so too."""
    done = subprocess.run([str(program), str(model), *arguments], stdout=subprocess.PIPE, text=True, check=False)
    if not done.stdout:
        raise build.BuildFailed(f"{program.name} {' '.join(arguments)} ended with {done.returncode} and without a word")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def measure(seed: str, size: str, count: str) -> dict[str, Any]:
    tests = verilated.HOST_TESTS  # its rings are short: they wrap often
    small = verilated.host(tests) / verilated.host_library(tests)
    model = verilated.host() / verilated.host_library()
    program = build.host_bench(tests) / "host_bench"
    moved = bench(program, small, "bytes", seed, size)
    bad = bench(program, small, "bad", seed, count)
    costs = subprocess.run(
        [str(build.host_cost() / "host_cost"), str(model), *COST_BYTES], stdout=subprocess.PIPE, text=True, check=True
    )
    clocks = bench(build.host_bench() / "host_bench", model, "latency")
    return {"seed": int(seed), **moved, **bad, "clocks": clocks, "instructions": json.loads(costs.stdout)}


def with_programs() -> dict[str, Any]:
    """Rows of programs.py and socket_costs.py, and what this machine has not."""
    os.environ.setdefault("DOWNBEAT_DRIVER", str(DRIVER))
    try:
        namespace.require()
    except namespace.Missing as missing:
        return {"programs": [], "socket_costs": [], "missing": [str(missing)]}
    os.environ["PATH"] += f":{PROGRAMS / 'bin'}:{PROGRAMS / 'sbin'}"
    libraries = [os.environ.get("LD_LIBRARY_PATH", ""), *map(str, (PROGRAMS / "lib").glob("*-linux-gnu"))]
    os.environ["LD_LIBRARY_PATH"] = ":".join(filter(None, libraries))
    model = verilated.host(), verilated.host_name(verilated.HOST)
    with tempfile.TemporaryDirectory() as work:
        late = []
        try:
            costs = socket_costs.measure(Path(work), DRIVER, *model)
        except subprocess.TimeoutExpired as error:  # on a busy machine; the other results stay
            costs, late = [], [f"socket costs: not done in {error.timeout:.0f} s"]
        results, gone = programs.run_all(Path(work), *model, [])
    return {"programs": programs.as_rows(results), "socket_costs": costs, "missing": late + gone}


@contextmanager
def _looped(models: Path, preset: str) -> Iterator[Nic]:
    """A NIC that is connected to itself."""
    environment = os.environ | {"DOWNBEAT_MODELS": str(models)}
    arguments = ("--preset", preset, "--loop", compare.PEER)
    with (
        tempfile.TemporaryDirectory() as work,
        Nic(Path(work) / "nic.sock", *arguments, environment=environment) as nic,
    ):
        yield nic


def calls(seed: int, seconds: float) -> dict[str, Any]:
    """Socket calls over the core and over the kernel: rows of the table, over the model of the rings, whose programs may
    connect to its own address; and random ones."""
    os.environ.setdefault("DOWNBEAT_DRIVER", str(DRIVER))
    rows = []
    with _looped(DRIVER, "loopback") as nic:
        for name in socket_programs.PROGRAMS:
            kernel, core = (text.splitlines() for _, text, _ in socket_programs.sides(nic, name))
            rows.append({"name": name, "kernel": kernel, "core": core, "same": kernel == core})
    with _looped(verilated.host(), verilated.host_name(verilated.HOST)) as nic:
        found = compare.rounds(nic, seed, seconds)
    counts = {"fuzz_calls": found.calls, "fuzz_full": found.full, "fuzz_unsettled": found.unsettled}
    return {"calls": rows, **counts, "fuzz_differences": found.differences}


def main() -> int:
    seed, size, count, seconds = (
        os.environ.get(name) or str(usual)
        for name, usual in (("SEED", 1), ("SIZE", BYTES), ("N", WRONG_VALUES), ("DURATION", SECONDS))
    )
    again = f"again: make bench NAME=host SEED={seed} SIZE={size} N={count} DURATION={seconds}"
    try:
        data = measure(seed, str(ranges.SIZE.value(size)), count)
    except (build.BuildFailed, subprocess.CalledProcessError) as error:
        print(f"{error}\n{again}", file=sys.stderr)
        return 1
    data |= {"duration": int(seconds)} | calls(int(seed), int(seconds))
    data |= with_programs()
    data["passed"] = (
        data["bytes"] == data["bytes_equal"]
        and data["ended"]
        and not any(data[name] for name in ("errors", "wrong_answers", "hangs", "written_outside"))
        and data["bytes_beside"] == data["bytes_beside_equal"]
        and all(row["equal"] for row in data["programs"])
        and all(row["same"] for row in data["calls"])
        and not data["fuzz_differences"]
    )
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(json.dumps(data, indent=1) + "\n")
    report_console().print(_table(data))
    for difference in data["fuzz_differences"]:
        print(difference, file=sys.stderr)
    for missing in data["missing"]:
        print(f"not here: {missing}", file=sys.stderr)
    if not data["passed"]:
        print(f"Failed; {again}", file=sys.stderr)
    return 0 if data["passed"] else 1


def _of(rows: list[dict[str, Any]], name: str) -> str:
    return f"{len(rows)}, {sum(bool(row[name]) for row in rows)}"


def _table(data: dict[str, Any]) -> Table:
    table = Table(title="Host half", title_justify="left")
    table.add_column("")
    table.add_column("", justify="right")
    table.add_row("bytes, of them equal", f"{data['bytes']:,}, {data['bytes_equal']:,}")
    table.add_row("wrong values, hangs", f"{data['bad_inputs']:,}, {data['hangs']}")
    for row in data["clocks"]:
        clocks = f"{row['doorbell_to_sfd_clocks']:.0f}, {row['last_byte_to_notification_clocks']:.0f}"
        table.add_row(f"clocks, {row['bytes']} bytes: doorbell to SFD, last byte to notification", clocks)
    for row in data["instructions"]:
        counts = f"{row['send_instructions']:,}, {row['receive_instructions']:,}"
        table.add_row(f"instructions, {row['bytes']:,} bytes: send, receive", counts)
    table.add_row("programs of socket calls, of them as over the kernel", _of(data["calls"], "same"))
    table.add_row("random calls, differences", f"{data['fuzz_calls']:,}, {len(data['fuzz_differences'])}")
    for row in data["socket_costs"]:
        rates = [row[name] for name in ("connects_per_s", "requests_per_s", "bytes_per_s")]
        table.add_row(f"{row['way']}: connects, requests, bytes a second", ", ".join(f"{each:,.0f}" for each in rates))
    for row in data["programs"]:
        table.add_row(f"{row['program']}, {row['role']}", row["problem"] or "equal")
    return table


if __name__ == "__main__":
    sys.exit(main())
