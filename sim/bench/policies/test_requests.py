# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What `make policies` says of a policy that is wrong: the first counterexample, and a model that its own test contradicts."""

from __future__ import annotations

from pathlib import Path

import pytest

from cocotb_tests.congestion.policy_bench import Counterexample
from sim.bench.policies import requests

RIGHT = "def test_two_and_two() -> None:\n    assert 2 + 2 == 4\n"
WRONG = "def test_the_paper_says_five() -> None:\n    assert 2 + 2 == 5, 'the model says four'\n"


def test_a_counterexample_shows_what_differs_alone() -> None:
    same = {"window_ssthresh": 1 << 16}
    told = Counterexample("ACKNOWLEDGED", "cwnd 1", {"window_cwnd": 3 << 15, **same}, {"window_cwnd": 1 << 16, **same})
    assert told.lines() == [
        "  event     ACKNOWLEDGED",
        "  state     cwnd 1",
        "  expected  window_cwnd 0x18000 (1.5 bytes)",
        "  got       window_cwnd 0x10000 (1 bytes)",
    ]


@pytest.mark.parametrize(("text", "passed", "said"), [(RIGHT, 1, ""), (WRONG, 0, "the model says four")])
def test_the_paper_half_runs_and_fails(
    text: str, passed: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From outside the tree, as with POLICY_PATH."""
    place = tmp_path / "steady"
    place.mkdir()
    (place / "test_quick.py").write_text(text)
    monkeypatch.setenv("POLICY_PATH", str(tmp_path))
    count, words = requests.paper("steady", "quick")
    assert count == passed
    assert said in words and bool(words) is bool(said)
    if said:
        assert words.startswith("quick: its golden model contradicts test_quick.py")
