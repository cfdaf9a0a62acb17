# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make bench NAME=scale`: 65,536 connections at once and 16 MiB in flight, by the header tap;
build/reports/scale.json."""

from __future__ import annotations

import functools
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

from downbeat_toe.console import report_console
from downbeat_toe.library import load

from sim.bench.scale.crowd import crowd
from sim.bench.scale.window import window
from sim.bench.scale.wire import Failed
from sim.lib import build, verilated

REPORT = build.ROOT / "build" / "reports" / "scale.json"
LOSSES = (0, 3, 6)  # the last more than the ends keep holes


def main() -> int:
    seed = int(os.environ.get("SEED") or 1)
    console = report_console()
    results: dict[str, Any] = {"seed": seed}
    try:
        with console.status("Building the core of 65,536 flows (minutes, once for each content)"):
            library = load(verilated.library(tap="header", preset=verilated.LARGEST) / "libdownbeat_sim.so")
        runs: dict[str, Callable[[], dict[str, Any]]] = {
            f"16 MiB window, {losses} losses": functools.partial(window, library, seed, losses) for losses in LOSSES
        }
        runs["65,536 connections"] = functools.partial(crowd, library, seed)
        for name, run in runs.items():
            start = time.monotonic()
            with console.status(name):
                results[name] = run()
            console.print(f"{name}: {time.monotonic() - start:.0f} s; {results[name]}")
    except (build.BuildFailed, Failed) as error:
        print(f"{error}\nagain: make bench NAME=scale SEED={seed}", file=sys.stderr)
        return 1
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(json.dumps(results, indent=1) + "\n")
    console.print(f"seed {seed}; {REPORT.relative_to(build.ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
