# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The roadmap has the tables that scripts/roadmap.py calculates; they agree with published figures."""

from __future__ import annotations

import pytest

from scripts.roadmap import DESIGNS, LARGEST, PAGE, SMALLEST, Design, demands, module, shown, today


def test_the_page_has_the_tables() -> None:
    page = PAGE.read_text()
    assert all(text in page for text in (demands(), module(), today())), "python -m scripts.roadmap writes them"
    assert shown(page) == page
    assert shown(page.replace("|1 Gb/s|", "|2 Gb/s|")) == page


def test_frames_a_second_are_those_of_ieee_802_3() -> None:
    """RFC 6349 and every tester's manual: 81,274 full frames and 1,488,095 smallest ones on a gigabit."""
    gigabit = DESIGNS[0]
    assert gigabit.frames(LARGEST) == pytest.approx(0.081274, abs=1e-6)
    assert gigabit.frames(SMALLEST) == pytest.approx(1.488095, abs=1e-6)


def test_a_stream_needs_the_maximum_where_a_byte_begins_another_beat() -> None:
    """65 bytes take two beats of 64 in 89 byte times."""
    assert Design(100, 512, 512, 300).beat_mhz == pytest.approx(2 * 100e3 / 8 / 89)
