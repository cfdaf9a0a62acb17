# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make bench NAME=wire` in small: nothing is lost at line rate, and the launch model leaves at the same instants as
the RTL's gate."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from sim.lib import build


def run(*arguments: object) -> dict[str, object]:
    command = [str(build.wire() / "wire_bench"), *map(str, arguments)]
    done = subprocess.run(command, text=True, capture_output=True, timeout=300, check=False)
    print(done.stdout, done.stderr)
    figures: dict[str, object] = json.loads(done.stdout)
    assert done.returncode == 0 and figures["right"]
    return figures


@pytest.mark.parametrize("core_period", [8000, 10_000])
@pytest.mark.parametrize(("length", "frames", "rate"), [(64, 3000, 1_488_095), (1518, 300, 81_274)])
def test_line_rate_both_ways_loses_nothing(length: int, frames: int, rate: int, core_period: int) -> None:
    figures = run("line", length, frames, core_period)
    assert figures["received_in_order"] == figures["left"] == frames
    assert figures["frames_per_second"] == rate


def test_the_launch_model_departs_as_the_gate_does() -> None:
    frames = 5000
    figures = run("gate", frames, os.environ.get("SEED") or "1")
    assert figures["equal_departures"] == frames
    # The trace has something of everything.
    assert all(figures[cause][0] > 5 for cause in ("late_arrived", "late_inverted", "late_busy"))  # type: ignore[index]
