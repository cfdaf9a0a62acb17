# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make bench NAME=logistic`: the logistic unit's golden model against Eq. 10 in 50 digits, over its range;
build/reports/logistic.json.

Beside it the exponentials: the thesis's own, the same about the nearest whole number, and the unit's.
"""

from __future__ import annotations

import json
import math
import os
import random
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

from downbeat_toe.console import report_console
from rich.table import Table

from sim.golden.calculation import degree4
from sim.golden.calculation.exponential import FRACTION_BITS, MANTISSA_BITS, factor
from sim.golden.calculation.logistic_draws import draw_request, error, exact
from sim.golden.calculation.logistic_window import WINDOW_BITS, LogisticRequest, logistic_window
from sim.lib import build

REPORT = build.ROOT / "build" / "reports" / "logistic.json"
REQUESTS = 1_000_000
BATCH = 50_000
TOLERANCE = 2**-16  # relative to the window, or a unit of the last place
EXPONENTS = 100_000
LARGEST_EXPONENT = 19.5  # 1.95 times 10 s


@dataclass(frozen=True)
class Worst:
    """The largest relative error where that is more than a unit of the last place, and whose it is."""

    error: float = 0.0
    request: LogisticRequest | None = None


def measure(seed: int) -> Worst:
    """The worst of a batch."""
    draw, worst = random.Random(seed), Worst()
    for _ in range(BATCH):
        request = draw_request(draw)
        window = exact(request).window
        if window * 65536 >= 1 << WINDOW_BITS:
            continue  # does not fit: all ones
        share, units = error(logistic_window(request), window)
        if units > 1 and share > worst.error:
            worst = Worst(share, request)
    return worst


def exponentials() -> dict[str, float]:
    """The worst relative error of each scheme's e^x or e^-x, x from 0 to 19.5; `nearest` where it has places enough."""
    worst = {"published": 0.0, "nearest_below_10": 0.0, "unit": 0.0}
    for step in range(EXPONENTS):
        fixed = int(LARGEST_EXPONENT * step / EXPONENTS * (1 << degree4.X_BITS))
        x = fixed / (1 << degree4.X_BITS)
        y = round(x / math.log(2) * (1 << FRACTION_BITS))
        mantissa, exponent = factor(y, decay=False)
        found = {
            "published": degree4.published(fixed) / degree4.ONE / math.exp(x),
            "nearest_below_10": degree4.nearest(fixed) / degree4.ONE * math.exp(x) if x < 10 else 1,
            "unit": mantissa * math.exp2(-MANTISSA_BITS - exponent + y / (1 << FRACTION_BITS)),
        }
        worst = {name: max(worst[name], abs(share - 1)) for name, share in found.items()}
    return worst


def main() -> int:
    seed, jobs = int(os.environ.get("SEED") or 1), int(os.environ.get("JOBS") or 2)
    console, begin = report_console(), time.monotonic()
    with console.status(f"{REQUESTS:,} requests"), ProcessPoolExecutor(jobs) as pool:
        batches = list(pool.map(measure, range(seed * REQUESTS, (seed + 1) * REQUESTS, BATCH)))
    worst = max(batches, key=lambda batch: batch.error)
    data = {
        "passed": worst.error < TOLERANCE,
        "seed": seed,
        "questions": REQUESTS,
        "worst_relative_error": worst.error,
        "in_units_of_2_to_minus_16": worst.error / TOLERANCE,
        "worst_request": asdict(worst.request) if worst.request else None,
        "exponential_worst_relative_error": exponentials(),
        "wall_clock": {"seconds": round(time.monotonic() - begin, 1)},
    }
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(json.dumps(data, indent=1) + "\n")
    console.print(_table(data))
    if not data["passed"]:
        print(f"Failed: the error is not below 2^-16; again: make bench NAME=logistic SEED={seed}", file=sys.stderr)
    return 0 if data["passed"] else 1


def _table(data: dict[str, Any]) -> Table:
    table = Table(title="Worst relative error", title_justify="left")
    table.add_column("")
    table.add_column("relative", justify="right")
    table.add_column("x 2^-16", justify="right")
    rows = {f"window, {REQUESTS:,} requests": data["worst_relative_error"]}
    rows |= {f"exponential, {name}": found for name, found in data["exponential_worst_relative_error"].items()}
    for name, found in rows.items():
        table.add_row(name, f"{found:.2e}", f"{found / TOLERANCE:.3g}")
    return table


if __name__ == "__main__":
    sys.exit(main())
