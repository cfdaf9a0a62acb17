# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Windows that shut, shrink, round and open with data both ways: each reply is acceptable and nothing stalls."""

from __future__ import annotations

import ctypes
import os

import pytest
from downbeat_toe.library import load

from sim.adversarial.windows import pair
from sim.adversarial.windows.script import play
from sim.adversarial.windows.table import acceptable
from sim.lib import verilated

SEED = int(os.environ.get("SEED") or 1)
SCRIPTS = 600 if os.environ.get("SOAK") else 24
PAIRS = 60 if os.environ.get("SOAK") else 2


@pytest.fixture(scope="module")
def library() -> ctypes.CDLL:
    return load(verilated.library() / "libdownbeat_sim.so")


@pytest.mark.parametrize(("sequence", "length", "window", "taken"), [
    (100, 0, 0, True), (101, 0, 0, False), (99, 0, 0, False), (100, 1, 0, False),
    (100, 0, 10, True), (109, 0, 10, True), (110, 0, 10, False), (99, 0, 10, False),
    (99, 1, 10, False), (99, 2, 10, True), (109, 5, 10, True), (110, 1, 10, False), (90, 30, 10, False),
])  # fmt: skip
def test_the_table_is_that_of_the_rfc(sequence: int, length: int, window: int, taken: bool) -> None:
    """RFC 9293 3.4, table 6, at RCV.NXT 100. By its letter a segment that covers the window whole does not pass."""
    assert acceptable(sequence, length, 100, window) == taken


def test_each_reply_is_acceptable_and_nothing_stalls(library: ctypes.CDLL) -> None:
    judged, both = 0, [0, 0]
    for seed in range(SEED * 100_000, SEED * 100_000 + SCRIPTS):
        outcome = play(library, seed)
        assert not outcome.faults, f"script {seed}: {'; '.join(outcome.faults[:4])}"
        judged += outcome.judged
        both = [sum(pair) for pair in zip(both, outcome.both, strict=True)]
    assert judged > SCRIPTS and min(both) > 1000 * SCRIPTS, "the scripts say too little"


def test_two_cores_take_all_that_the_other_answers(library: ctypes.CDLL) -> None:
    judged = 0
    for seed in range(SEED * 100_000, SEED * 100_000 + PAIRS):
        outcome = pair.play(library, seed)
        assert not outcome.faults, f"pair {seed}: {'; '.join(outcome.faults[:4])}"
        judged += outcome.judged
    assert judged > 5 * PAIRS, "the scripts say too little"
