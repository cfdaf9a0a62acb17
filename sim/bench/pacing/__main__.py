# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make bench NAME=pacing`: the pacer alone, its order among 16 to 65,536 flows and its rates for ten seconds;
build/reports/pacing.json."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import Any

from downbeat_toe.console import report_console
from rich.table import Table

from sim.lib import build

REPORT = build.ROOT / "build" / "reports" / "pacing.json"
ORDER_GRANTS = 1_000_000
RATES = (1000, 64_000, 1_000_000, 20_000_000, 999_999_937, 10**9, 3 * 10**9, 10**10, 4 * 10**10, 10**11)  # b/s
RATE_MILLISECONDS = 10_000
MAX_RATE_ERROR = 1e-9
LAUNCH_UNIT = 2.0**-16  # ns
CHANGES = 1_000_000
SEGMENTS = (2, 3, 10, 64, 187, 1000, 4096)
DURATIONS = (1_000_000, 120_000_000, 440_000_000, 999_999_937, 10**10)  # ns
LENGTHS = (536, 1460, 8960)


class Failed(Exception):
    """The pacer did what it must not, or the program did not come to an end."""


def run(*arguments: object, flows: int = 16) -> dict[str, Any]:
    """The result of pacing_bench, with the time it took."""
    program = build.pacing(flows) / "pacing_bench"
    start = time.monotonic()
    done = subprocess.run([str(program), *map(str, arguments)], stdout=subprocess.PIPE, text=True, check=False)
    seconds = round(time.monotonic() - start, 3)
    words = " ".join(map(str, arguments))
    if done.returncode not in (0, 2):
        raise Failed(f"pacing_bench {words} ended with status {done.returncode}")
    result: dict[str, Any] = json.loads(done.stdout)
    if result["failure"]:
        raise Failed(
            f"{flows} flows: {result['failure']}; again: build/sim/pacing-{flows}/current/pacing_bench {words}"
        )
    return result | {"wall_clock": {"seconds": seconds}}


def order(flows: int, seed: int, grants: int) -> dict[str, Any]:
    """Random departures of all flows, each grant compared with a heap."""
    return run("order", seed, grants, flows=flows)


def rate(bits_per_second: int, seed: int, milliseconds: int) -> dict[str, Any]:
    """One flow at its rate; the error over all of it is judged."""
    result = run("rate", seed, bits_per_second, milliseconds)
    if abs(result["rate_error"]) >= MAX_RATE_ERROR:
        raise Failed(f"{bits_per_second} b/s: the rate is {result['rate_error']:.2e} off")
    if not 0 <= result["pacer_error_ns"] < LAUNCH_UNIT:
        raise Failed(f"{bits_per_second} b/s: the pacer adds {result['pacer_error_ns']} ns to its schedule")
    return result


def flight(segments: int, duration: int, length: int) -> dict[str, Any]:
    """So many segments over so many ns."""
    return run("flight", segments, duration, length)


def tables(results: dict[str, list[dict[str, Any]]]) -> list[Table]:
    ordered = Table(title="Order, exact", title_justify="left")
    for name in ("flows", "grants", "clocks: booking to grant", "time to grant", "between two that are due"):
        ordered.add_column(name, justify="right")
    for result in results["order"]:
        spans = (
            f"{low}..{high}" if low != high else str(low)
            for low, high in (result["clocks_time_to_grant"], result["clocks_between_grants"])
        )
        ordered.add_row(f"{result['flows']:,}", f"{result['grants']:,}", str(result["clocks_booking_to_grant"]), *spans)
    rated = Table(title="Rates", title_justify="left")
    for name in ("b/s", "segments", "seconds", "rate error", "of it the pacer's, ns"):
        rated.add_column(name, justify="right")
    for result in results["rates"]:
        rated.add_row(
            f"{result['rate']:,}",
            f"{result['segments']:,}",
            f"{result['seconds']:.3f}",
            f"{result['rate_error']:.1e}",
            f"{result['pacer_error_ns']:.1e}",
        )
    return [ordered, rated]


def main() -> int:
    seed = int(os.environ.get("SEED") or 1)
    console = report_console()
    try:
        with console.status("The pacer at work"):
            results = {
                "order": [order(flows, seed, ORDER_GRANTS) for flows in build.PACER_FLOWS],
                "rates": [rate(each, seed, RATE_MILLISECONDS) for each in RATES],
                "changes": [run("changes", seed, CHANGES)],
                "flights": [flight(n, ns, length) for n in SEGMENTS for ns in DURATIONS for length in LENGTHS],
            }
    except (build.BuildFailed, Failed) as failure:
        print(failure, file=sys.stderr)
        return 1
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(json.dumps({"seed": seed, **results}, indent=1) + "\n")
    for table in tables(results):
        console.print(table)
    worst = max(results["flights"], key=lambda each: float(each["worst_error_ns"]))
    changed = results["changes"][0]
    console.print(
        f"{changed['segments']:,} changes of rate, {changed['replaced']:,} bookings replaced: no gap, no burst\n"
        f"{len(results['flights'])} flights of n segments over R: at most {worst['worst_error_ns']:.1e} ns off\n"
        f"seed {seed}; {REPORT.relative_to(build.ROOT)}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
