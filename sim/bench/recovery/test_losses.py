# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Cost of a loss at the end of a transfer, in round trips: the rules are RFC 8985's, the times those of a peer that is
not ours."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from sim.bench.recovery.losses import FLIGHT, ROUND_TRIP, SEGMENT, TAILS, WINDOW, Transfers
from sim.lib import build

SEED = int(os.environ.get("SEED", "1"))
FRAMES = 0.1  # round trips: ten segments take 1.2 ms to leave, and deadlines are rounded up


@pytest.fixture(scope="module")
def transfers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Transfers]:
    work: Path = tmp_path_factory.mktemp("recovery")
    made = Transfers(build.matrix() / "downbeat_matrix", work)
    yield made
    made.close()


@pytest.mark.parametrize(
    ("tail", "bound"),
    [
        ("last", 2.5),  # two until the probe, a half on its way
        ("last two", 3.5),  # its SACK, and a half again
        ("last three", 4.5),  # PRR sends one of them with each ACK
        ("fifth and its retransmission", 4),
    ],
)
def test_a_lost_tail_costs_round_trips_and_no_timeout(transfers: Transfers, tail: str, bound: float) -> None:
    words = {"drop": TAILS[tail], "initial-window": WINDOW}
    assert transfers.seconds(FLIGHT, SEED, rack=1, **words) / ROUND_TRIP < bound + FRAMES
    assert transfers.seconds(FLIGHT, SEED, rack=0, **words) > 1, "without a probe it waits for the timeout"


def test_a_spike_of_delay_costs_itself_and_little_more(transfers: Transfers) -> None:
    """RFC 4015: the timeout was spurious, so the window is what it was and nothing goes twice."""
    size, spike = 1000 * SEGMENT, 3.0
    quiet = transfers.seconds(size, SEED)
    held = {rack: transfers.seconds(size, SEED, rack=rack, spike=spike, **{"spike-at": quiet / 2}) for rack in (1, 0)}
    assert held[1] - spike < 1.1 * quiet < held[0] - spike


def test_reordering_is_not_taken_for_loss(transfers: Transfers) -> None:
    """RFC 8985 6: segments that are late by up to a quarter of the round trip."""
    words = {"reorder": 0.05, "hold": ROUND_TRIP / 4}
    assert 3 * transfers.seconds(1000 * SEGMENT, SEED, rack=1, **words) < transfers.seconds(
        1000 * SEGMENT, SEED, rack=0, **words
    )
