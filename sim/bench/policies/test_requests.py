# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make policies` reports a golden model that its own test contradicts."""

from __future__ import annotations

from pathlib import Path

import pytest

from sim.bench.policies import requests

RIGHT = "def test_two_and_two() -> None:\n    assert 2 + 2 == 4\n"
WRONG = "def test_the_paper_says_five() -> None:\n    assert 2 + 2 == 5, 'the model says four'\n"


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
