# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Completion times of short transfers from the core and from the Linux kernel, to a kernel behind the same bad wire.

In real time, in network namespaces: needs root. The wire loses, reorders and delays by a seed; the transfers of the
two senders take turns.
"""

from __future__ import annotations

import multiprocessing
import os
import statistics
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from rich.table import Table

from sim.adversarial.matrix import linux
from sim.bench.scale.wire import Failed
from sim.lib import build
from sim.lib.contents import generated
from sim.linux import transfer
from sim.linux.transfer import BESIDE_CORE, FROM_CORE, Impairment, Plan

DELAY_MS = 50  # one way; as much may the simulated core be behind the clock, and its frames still arrive in time
ATTEMPTS = 3  # on a machine that is too busy for that
SIZE = 64 * 1024  # bytes
LIMIT_SECONDS = 60
AT_ONCE = 2
RENO, BBR = "reno", "bbr"  # the congestion control of both senders: BBR's version 3 in the core, 1 in the kernel
PATHS = {
    "1 % lost": (Impairment(drop=0.01), RENO),
    "3 % lost": (Impairment(drop=0.03), RENO),
    "1 % lost, 5 % reordered": (Impairment(drop=0.01, reorder=0.05), RENO),
    "1 % lost, BBR": (Impairment(drop=0.01), BBR),
    "3 % lost, BBR": (Impairment(drop=0.03), BBR),
}
QUICK, FULL = 60, 400  # transfers of a sender on each path


def one(program: Path, work: Path, sender: str, path: str, seed: int) -> tuple[float, float]:
    """Seconds from the receiver's accept to the last byte, and those that the core was behind the clock at most."""
    for _ in range(ATTEMPTS):
        seconds, lag = _attempt(program, work, sender, path, seed)
        if 1000 * lag < DELAY_MS:
            break
    return seconds, lag


def _attempt(program: Path, work: Path, sender: str, path: str, seed: int) -> tuple[float, float]:
    contents = generated(f"beside {seed}", SIZE)
    impairment, congestion_control = PATHS[path]
    more = (f"--delay={DELAY_MS}", *([f"--steady={congestion_control}"] if sender == FROM_CORE else []))
    plan = Plan(sender, contents, impairment, seed, congestion_control, LIMIT_SECONDS, None, None, more)
    if sender == BESIDE_CORE:
        result = transfer.run_beside(plan, program)
    else:
        with tempfile.TemporaryDirectory(dir=work) as place:
            result = transfer.run(plan, program, Path(place))
    if result.failures or result.kernel is None:
        raise Failed(f"{sender}, {path}, seed {seed}: {'; '.join(result.failures)}")
    return result.kernel.seconds, float(result.core.get("worst_lag_seconds", 0))


def measure(first: int) -> dict[str, Any]:
    """Fields of recovery.json; raises namespace.Missing where it cannot be done."""
    if missing := {control for _, control in PATHS.values()} - set(linux.congestion_controls()):
        raise Failed(f"this kernel has no {', '.join(sorted(missing))}")
    program = build.linux() / "downbeat_tap"
    runs = FULL if os.environ.get("FULL") else QUICK
    wanted = [
        (sender, path, seed)
        for seed in range(first, first + runs)
        for path in PATHS
        for sender in (FROM_CORE, BESIDE_CORE)
    ]
    with (
        tempfile.TemporaryDirectory(prefix="recovery-", dir=build.ROOT / "build") as work,
        ProcessPoolExecutor(AT_ONCE, multiprocessing.get_context("spawn")) as pool,
    ):
        waiting = [pool.submit(one, program, Path(work), *plan) for plan in wanted]
        found = dict(zip(wanted, (future.result() for future in waiting), strict=True))
    figures = {path: _figures(found, path) for path in PATHS}
    return {
        "linux_ratio": {path: figure["mean_ratio"] for path, figure in figures.items()},
        "beside_linux": figures | {"transfers": runs, "worst_lag_seconds": max(lag for _, lag in found.values())},
    }


def _figures(found: dict[tuple[str, str, int], tuple[float, float]], path: str) -> dict[str, float]:
    """Means and medians of both, seconds, and the core's by Linux's."""
    core, kernel = (
        [seconds for (who, where, _), (seconds, _) in found.items() if (who, where) == (sender, path)]
        for sender in (FROM_CORE, BESIDE_CORE)
    )
    means, medians = ([average(times) for times in (core, kernel)] for average in (statistics.mean, statistics.median))
    return {
        "core_mean": means[0],
        "linux_mean": means[1],
        "mean_ratio": means[0] / means[1],
        "core_median": medians[0],
        "linux_median": medians[1],
        "median_ratio": medians[0] / medians[1],
    }


def table(figures: dict[str, Any]) -> Table:
    shown = Table(title=f"{SIZE // 1024} KiB over {2 * DELAY_MS} ms, core and Linux: mean (median), ms")
    for name in ("path", "core", "Linux", "ratio"):
        shown.add_column(name, justify="left" if name == "path" else "right")
    for path in PATHS:
        row = figures["beside_linux"][path]
        times = (f"{1000 * row[f'{who}_mean']:.0f} ({1000 * row[f'{who}_median']:.0f})" for who in ("core", "linux"))
        shown.add_row(path, *times, f"{row['mean_ratio']:.3f} ({row['median_ratio']:.3f})")
    return shown
