# SPDX-License-Identifier: BSD-2-Clause-Patent
"""SSIPP (Yu, thesis, Algorithms 1 and 2) towards a Linux receiver that delays its ACKs. Needs root."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sim.linux.conftest import LIMIT_SECONDS
from sim.linux.inverted_pairs import ROUND_TRIP_MS, SEGMENTS

pytestmark = pytest.mark.heavy

SYN_TIMEOUT_MS = 1000
# A core so far behind the clock sends its SYN again, which ends SSIPP: such a run says nothing of rounds.
LATE_MS = 0.75 * (SYN_TIMEOUT_MS - ROUND_TRIP_MS)
TRIES = 5


def sent(startup: str, folder: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "sim.linux.inverted_pairs", startup, str(folder)]
    for _ in range(TRIES):
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False)
        assert done.returncode == 0, done.stderr
        figures: dict[str, Any] = json.loads(done.stdout)
        if figures["lag_ms"] < LATE_MS:
            return figures
    pytest.skip(f"the simulated core was {figures['lag_ms']:.0f} ms behind the clock, {TRIES} times")


def test_the_window_doubles_by_inverted_pairs_where_linux_delays_its_acks(tmp_path: Path) -> None:
    figures = sent("ssipp", tmp_path)
    assert figures["failures"] == [] and figures["segments"] == SEGMENTS  # nothing twice
    assert figures["rounds"] == [1, 2, 4, 8, 16, 32, 33] and figures["inverted_share"] > 0.98


def test_this_receiver_delays_its_acks_of_segments_in_order(tmp_path: Path) -> None:
    figures = sent("standard", tmp_path)
    assert figures["failures"] == [] and figures["inverted_share"] == 0
    assert figures["acks"] < 0.75 * figures["segments"]
