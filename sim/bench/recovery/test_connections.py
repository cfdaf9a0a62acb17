# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make bench NAME=recovery` in small: short connections are not held up by TIME-WAIT."""

from __future__ import annotations

import pytest
from downbeat_toe.library import load

from sim.bench.recovery.connections import ALTOGETHER, rate
from sim.lib import verilated


@pytest.mark.parametrize(("at_once", "minimum"), [(1, 10_000), (ALTOGETHER, 50_000)])
def test_connections_a_second(at_once: int, minimum: int) -> None:
    """Far more than there are flows, within the 2 MSL of the first."""
    library = load(verilated.library() / "libdownbeat_sim.so")
    assert rate(library, 1, 3 * ALTOGETHER, at_once) >= minimum
