# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make bench NAME=ten` in small: no frame is early or late, stamps and gaps are right, and nothing is lost at line
rate."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

import pytest

from sim.lib import build


def run(*arguments: object) -> dict[str, Any]:
    command = [str(build.ten() / "ten_bench"), *map(str, arguments)]
    done = subprocess.run(command, text=True, capture_output=True, timeout=300, check=False)
    print(done.stdout, done.stderr)
    figures: dict[str, Any] = json.loads(done.stdout)
    assert done.returncode == 0 and figures["right"]
    return figures


@pytest.mark.parametrize(("first", "last", "frames"), [(64, 64, 3000), (64, 127, 3000), (64, 1518, 1455)])
def test_line_rate_both_ways_loses_nothing(first: int, last: int, frames: int) -> None:
    figures = run("line", first, last, frames, 6400)
    assert figures["received_in_order"] == figures["left"] == frames
    if first == last:
        assert figures["frames_per_second"] == 14_880_952


def test_launches_are_kept_to_half_a_clock() -> None:
    figures = run("launches", 5000, os.environ.get("SEED") or "1")
    assert figures["frames"] == 5000 and figures["pairs"] > 100
    assert 0 < figures["sfd_error_ns"] <= 3.2001
