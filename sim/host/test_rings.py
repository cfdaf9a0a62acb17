# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The host half by its registers and rings alone: host_bench over the Verilated core, whose wire leads back to it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sim.host.__main__ import bench
from sim.lib import build, verilated

SEED = os.environ.get("SEED", "1")
LONG = bool(os.environ.get("SOAK"))
BYTES, WRONG_VALUES = ("100000000", "300000") if LONG else ("150000", "1000")


def test_bytes_both_ways_with_stalls_of_host_and_memory(model: str) -> None:
    """Pieces of every size, rings that wrap, a notification never before its payload is in memory."""
    found = bench(build.host_bench(verilated.HOST_TESTS) / "host_bench", Path(model), "bytes", SEED, BYTES)
    assert found["ended"] and found["bytes"] == found["bytes_equal"] >= int(BYTES)
    assert found["ring_laps"] > 15 and found["errors"] == 0


@pytest.mark.parametrize("seed", [SEED, "4711"])
def test_each_wrong_value_gets_its_error_and_harms_nobody(model: str, seed: str) -> None:
    found = bench(build.host_bench(verilated.HOST_TESTS) / "host_bench", Path(model), "bad", seed, WRONG_VALUES)
    assert found["wrong_answers"] == 0, found["first_wrong"]
    assert found["bad_inputs"] >= int(WRONG_VALUES) and found["answered"] > found["bad_inputs"] // 2
    assert found["hangs"] == 0 and found["written_outside"] == 0
    assert found["bytes_beside"] == found["bytes_beside_equal"] > 0
