# SPDX-License-Identifier: BSD-2-Clause-Patent
"""downbeat_tap as a child: what it says is heard, however late the parent listens."""

from __future__ import annotations

from sim.linux.program import ended, started


def test_a_result_that_came_along_with_the_first_line_is_heard() -> None:
    with started(["printf", 'ready\n{"failure": ""}\n']) as process:
        assert ended(process, 60) == {"failure": ""}


def test_a_program_without_a_word_has_no_result() -> None:
    with started(["true"]) as process:
        assert ended(process, 60) == {}
