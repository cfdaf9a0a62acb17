# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make bench NAME=churn`: connections opened and closed in every order, a SYN flood, blind attacks;
build/reports/churn.json."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import Any

from sim.lib import build

REPORT = build.ROOT / "build" / "reports" / "churn.json"
# How many of them, and the variable of the command line that says another number.
PARTS = {"connections": ("CONNECTIONS", 10_000), "flood": ("FRAMES", 1_000_000), "blind": ("FRAMES", 1_000_000)}
FEWEST = 100  # less says nothing


class Died(Exception):
    """The program ended without a result."""


def churn(part: str, seed: int, count: int) -> dict[str, Any]:
    """The program's result for one part, with the time it took."""
    program = build.churn() / "downbeat_churn"
    start = time.monotonic()
    done = subprocess.run([str(program), part, str(seed), str(count)], stdout=subprocess.PIPE, text=True, check=False)
    seconds = time.monotonic() - start
    if done.returncode not in (0, 2):
        raise Died(f"downbeat_churn ended with status {done.returncode}; again: {again(part, seed, count)}")
    result: dict[str, Any] = json.loads(done.stdout)
    return result | {"wall_seconds": round(seconds, 3)}


def again(part: str, seed: int, count: int) -> str:
    """The line that runs a part again."""
    return f"make bench NAME=churn PART={part} SEED={seed} {PARTS[part][0]}={count}"


def story(part: str, result: dict[str, Any]) -> str:
    """The failure, and the command that repeats it; a connection's run is cut behind the one that failed."""
    count = max(result["connections"], FEWEST) if part == "connections" else result["frames"]
    counters = " ".join(f"{name}={value}" for name, value in result["counters"].items() if value)
    return (
        f"{part}: {result['failure']}\nseed {result['seed']}\n{counters}\nagain: {again(part, result['seed'], count)}"
    )


def summary(part: str, result: dict[str, Any]) -> str:
    """A line for people."""
    if part == "connections":
        return (
            f"{result['connections']} connections in {len(result['ways'])} ways, {result['established']} established: "
            f"no flow and no slot lost, no timer armed ({result['virtual_hours']:.1f} h of virtual time)"
        )
    if part == "flood":
        return (
            f"{result['frames']} SYNs: {result['goodput_kept']:.1%} of {result['quiet_goodput'] / 1e6:.0f} Mb/s kept, "
            f"{result['clients']} clients connected within {result['slowest_connect'] * 1e3:.3f} ms, "
            f"cookies sent/accepted/refused {result['cookies_sent']}/{result['cookies_accepted']}/{result['cookies_refused']}"
        )
    return f"{result['frames']} blind segments: both live streams equal, {result['bytes']} bytes"


def number(name: str, default: int, fewest: int) -> int:
    text = os.environ.get(name) or str(default)
    if not text.isdecimal() or not fewest <= int(text) < 1 << 32:
        sys.exit(f"{name}={text}: use a whole number from {fewest} to {(1 << 32) - 1}")
    return int(text)


def main() -> int:
    wanted = os.environ.get("PART") or ""
    if wanted not in ("", *PARTS):
        sys.exit(f"PART={wanted}: use {', '.join(PARTS)}, or leave it out for all")
    seed = number("SEED", 1, 1)
    counts = {part: number(name, default, FEWEST) for part, (name, default) in PARTS.items()}
    results: dict[str, dict[str, Any]] = {}
    try:
        for part in [wanted] if wanted else PARTS:
            results[part] = churn(part, seed, counts[part])
            failed = results[part]["failure"]
            print(
                story(part, results[part]) if failed else summary(part, results[part]),
                file=sys.stderr if failed else None,
                flush=True,
            )
    except (build.BuildFailed, Died) as error:
        print(error, file=sys.stderr)
        return 1
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(json.dumps(results, indent=2) + "\n")
    print(f"seed {seed}; {REPORT.relative_to(build.ROOT)}")
    return 1 if any(result["failure"] for result in results.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
