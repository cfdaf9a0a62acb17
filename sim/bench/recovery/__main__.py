# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make bench NAME=recovery`: how connections come, go and recover; build/reports/recovery.json."""

from __future__ import annotations

import ctypes
import json
import os
import sys
from collections.abc import Callable
from typing import Any

from downbeat_toe.console import report_console
from downbeat_toe.library import load

from sim.bench.recovery import connections
from sim.bench.scale.wire import Failed
from sim.lib import build, verilated

REPORT = build.ROOT / "build" / "reports" / "recovery.json"
# Each gives some of the report's fields.
ROWS: dict[str, Callable[[ctypes.CDLL, int], dict[str, Any]]] = {"short connections": connections.measure}


def main() -> int:
    seed = int(os.environ.get("SEED") or 1)
    console = report_console()
    results: dict[str, Any] = {"seed": seed}
    try:
        library = load(verilated.library() / "libdownbeat_sim.so")
        for name, row in ROWS.items():
            with console.status(name):
                figures = row(library, seed)
            console.print(f"{name}: {figures}")
            results |= figures
    except (build.BuildFailed, Failed) as error:
        print(f"{error}\nagain: make bench NAME=recovery SEED={seed}", file=sys.stderr)
        return 1
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(json.dumps(results, indent=1) + "\n")
    console.print(f"seed {seed}; {REPORT.relative_to(build.ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
