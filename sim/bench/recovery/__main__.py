# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make bench NAME=recovery`: how connections come, go and recover; build/reports/recovery.json."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from downbeat_toe.console import report_console
from downbeat_toe.library import load

from sim.bench.recovery import beside, connections, limited, losses
from sim.bench.scale.wire import Failed
from sim.lib import build, verilated
from sim.linux import namespace

REPORT = build.ROOT / "build" / "reports" / "recovery.json"


def main() -> int:
    seed = int(os.environ.get("SEED") or 1)
    console = report_console()
    results: dict[str, Any] = {"seed": seed}
    try:
        with console.status("Building the simulation (the core takes minutes, once for each content)"):
            library = load(verilated.library() / "libdownbeat_sim.so")
        with console.status("losses"):
            results |= losses.measure(seed)
        console.print(losses.table(results))
        with console.status("connections whose application limits them"):
            results |= limited.measure()
        over = results["over_limit"]
        count = results["application_limited_policies"]
        console.print(f"two segments a round trip: {len(over)} of {count} policies beyond the limit {over or ''}")
        try:
            with console.status("beside Linux"):
                results |= beside.measure(seed)
            console.print(beside.table(results))
        except namespace.Missing as missing:
            results["linux_ratio"] = None
            console.print(f"skipped: beside Linux: {missing}", markup=False, soft_wrap=True)
        with console.status("short connections"):
            figures = connections.measure(library, seed)
        console.print(f"short connections: {figures}")
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
