# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The session's report."""

from __future__ import annotations

import pytest

from scripts.check.reporter import Reporter
from scripts.check.rows import Row


def test_failures_are_repeated_with_their_reasons(capsys: pytest.CaptureFixture[str]) -> None:
    reporter = Reporter(3, "test")
    reporter.add(Row("rx/test_x", "test_good", "passed", 0.1))
    reporter.add(Row("rx/test_x", "test_bad", "failed", 0.2, "assert 1 == 2"))
    shown = capsys.readouterr().out
    repeated = "\n".join(reporter.failures())
    assert repeated in shown
    assert repeated.splitlines()[0] == "FAILED  rx/test_x: test_bad (0.2 s)"
    assert "assert 1 == 2" in repeated
    assert "test_good" not in repeated
