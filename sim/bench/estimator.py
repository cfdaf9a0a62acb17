# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make bench NAME=estimator`: path reports a second of one core, and the estimator's memory;
build/reports/estimator.json.

25,000 prefixes and 65,536 connections are in use. It fails below the million reports a second and above the 64 MB that
the estimator is made for.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

from downbeat_toe.console import report_console
from rich.table import Table

from sim.lib.cache import ROOT

REPORT = ROOT / "build" / "reports" / "estimator.json"
BUILT = ROOT / "build" / "estimator"
REPORTS, PREFIXES, CONNECTIONS = 5_000_000, 25_000, 65_536
MIN_RATE, MAX_BYTES = 1_000_000, 64_000_000


def machine() -> str:
    """The processor's name, as /proc/cpuinfo has it."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.processor()}, {os.cpu_count()} processors, {platform.system()}"


def measure(seed: int) -> dict[str, Any]:
    program = BUILT / "estimator_bench"
    subprocess.run(["make", "-s", "-C", str(ROOT / "sw" / "estimator"), str(program), f"OUT={BUILT}"], check=True)
    command = [str(program), str(seed), str(REPORTS), str(PREFIXES), str(CONNECTIONS)]
    found: dict[str, Any] = json.loads(subprocess.run(command, text=True, capture_output=True, check=True).stdout)
    return found


def main() -> int:
    seed = int(os.environ.get("SEED") or 1)
    console = report_console()
    try:
        with console.status("Building and measuring the estimator"):
            found = measure(seed)
    except subprocess.CalledProcessError as error:
        print(f"{error.stderr or error}\nagain: make bench NAME=estimator SEED={seed}", file=sys.stderr)
        return 1
    passed = found["reports_per_second"] >= MIN_RATE and found["resident_bytes"] < MAX_BYTES and not found["refused"]
    data = {"passed": passed, "seed": seed, "machine": machine(), "prefixes": PREFIXES, "connections": CONNECTIONS}
    data |= {name: found[name] for name in ("reports", "refused", "memory_bytes", "resident_bytes")}
    data["wall_clock"] = {name: found[name] for name in ("processor_seconds", "reports_per_second", "asks_per_second")}
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(json.dumps(data, indent=1) + "\n")
    console.print(_table(data))
    if not passed:
        print(f"Failed: {MIN_RATE:,} reports a second, {MAX_BYTES:,} bytes are wanted", file=sys.stderr)
    return 0 if passed else 1


def _table(data: dict[str, Any]) -> Table:
    table = Table(title=f"Estimator on {data['machine']}", title_justify="left")
    table.add_column("")
    table.add_column("", justify="right")
    table.add_row("reports a second", f"{data['wall_clock']['reports_per_second']:,}")
    table.add_row("requests a second", f"{data['wall_clock']['asks_per_second']:,}")
    table.add_row(
        f"memory, {PREFIXES:,} prefixes, {CONNECTIONS:,} connections", f"{data['resident_bytes'] / 1e6:.1f} MB"
    )
    return table


if __name__ == "__main__":
    sys.exit(main())
