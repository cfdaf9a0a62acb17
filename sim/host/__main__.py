# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make bench NAME=host`: bytes through the rings, a host that errs, programs of the system, and what a program and the
core pay.

build/reports/host.json. SIZE is the bytes that cross, N the drawn wrong values. The programs need root, a TAP interface
and themselves: what is missing is named.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from downbeat_toe.console import report_console
from rich.table import Table

from sim.host import programs
from sim.lib import build, ranges, verilated
from sim.linux import namespace

REPORT = build.ROOT / "build" / "reports" / "host.json"
DRIVER = build.ROOT / "build" / "driver"
BYTES, WRONG_VALUES = "4MB", 20_000
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


def with_programs() -> tuple[list[dict[str, Any]], list[str]]:
    """Rows of programs.py, and what this machine has not."""
    os.environ.setdefault("DOWNBEAT_DRIVER", str(DRIVER))
    try:
        namespace.require()
    except namespace.Missing as missing:
        return [], [str(missing)]
    with tempfile.TemporaryDirectory() as work:
        results, gone = programs.run_all(Path(work), verilated.host(), verilated.host_name(verilated.HOST), [])
    return programs.as_rows(results), gone


def main() -> int:
    seed, size, count = (
        os.environ.get(name) or str(usual) for name, usual in (("SEED", 1), ("SIZE", BYTES), ("N", WRONG_VALUES))
    )
    try:
        data = measure(seed, str(ranges.SIZE.value(size)), count)
    except (build.BuildFailed, subprocess.CalledProcessError) as error:
        print(f"{error}\nagain: make bench NAME=host SEED={seed} SIZE={size} N={count}", file=sys.stderr)
        return 1
    data["programs"], data["missing"] = with_programs()
    data["passed"] = (
        data["bytes"] == data["bytes_equal"]
        and data["ended"]
        and not any(data[name] for name in ("errors", "wrong_answers", "hangs", "written_outside"))
        and data["bytes_beside"] == data["bytes_beside_equal"]
        and all(row["equal"] for row in data["programs"])
    )
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(json.dumps(data, indent=1) + "\n")
    report_console().print(_table(data))
    for missing in data["missing"]:
        print(f"not here: {missing}", file=sys.stderr)
    if not data["passed"]:
        print(f"Failed; again: make bench NAME=host SEED={seed} SIZE={size} N={count}", file=sys.stderr)
    return 0 if data["passed"] else 1


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
    for row in data["programs"]:
        table.add_row(f"{row['program']}, {row['role']}", row["problem"] or "equal")
    return table


if __name__ == "__main__":
    sys.exit(main())
