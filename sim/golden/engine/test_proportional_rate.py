# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The model of PRR against the equations of RFC 9937 in floating point, and against what they are for."""

from __future__ import annotations

import math
import os
import random

import pytest

from sim.golden.engine.proportional_rate import Account

SEED = int(os.environ.get("SEED", "1"))
SEGMENT = 1448  # bytes
ALL = (1 << 21) - 1


def recovery(window: int, ssthresh: int, lost: int, *, seed: int | None = None) -> tuple[list[int], int]:
    """One round trip of a window of segments, of which the first `lost` are lost, each other one acknowledged for
    itself; how many segments leave with each ACK, and the segments in flight at the end."""
    draw = None if seed is None else random.Random(seed)
    account = Account(ALL).begun((window - 2) * SEGMENT)  # two duplicates came before
    pipe, waiting, sizes = window - 2, 0, []
    for number in range(window - lost - 2):
        pipe -= 1 + (lost if number == 0 else 0)  # arrived; and all that is lost is known
        waiting += lost if number == 0 else 0
        account = account.heard(SEGMENT, pipe * SEGMENT, ssthresh * SEGMENT, SEGMENT, safe=False)
        count = 0
        while account.permits(ssthresh * SEGMENT) and (draw is None or draw.random() < 0.9):
            account, pipe, count = account.sent(SEGMENT), pipe + 1, count + 1
        sizes.append(count)
    return sizes, pipe


@pytest.mark.parametrize("beta", [0.5, 0.7])
@pytest.mark.parametrize("window", [20, 100, 700])
def test_at_the_end_as_much_is_in_flight_as_ssthresh(beta: float, window: int) -> None:
    """RFC 9937 1, and no ACK lets more than a segment more go than the proportion."""
    ssthresh = int(beta * window)
    sizes, flight = recovery(window, ssthresh, 1)
    assert abs(flight - ssthresh) <= 2
    assert max(sizes) <= 2 and sizes[0] == 1


def test_heavy_losses_do_not_end_the_flow_of_segments() -> None:
    """6: below ssthresh as many leave as arrive."""
    sizes, _ = recovery(100, 50, 80)
    assert min(sizes) >= 1 and max(sizes) <= 2


@pytest.mark.parametrize("seed", range(SEED, SEED + 20))
def test_sndcnt_is_that_of_the_equations(seed: int) -> None:
    """By the RFC's text, with division; a segment leaves if a byte may."""
    draw = random.Random(seed)
    ssthresh = draw.randrange(2, 200) * SEGMENT
    flight = draw.randrange(2, 400) * SEGMENT
    account = Account(ALL).begun(flight)
    delivered = out = sndcnt = 0
    for _ in range(200):
        fresh = draw.choice([0, SEGMENT, draw.randrange(1, 5 * SEGMENT)])
        pipe = draw.randrange(0, 400) * SEGMENT
        safe = draw.random() < 0.3
        account = account.heard(fresh, pipe, ssthresh, SEGMENT, safe)
        if fresh:
            delivered += fresh
            if pipe > ssthresh:
                sndcnt = math.ceil(delivered * ssthresh / flight) - out
            else:
                sndcnt = max(delivered - out, fresh) + (SEGMENT if safe else 0)
                sndcnt = min(ssthresh - pipe, sndcnt)
            if out == 0 and sndcnt == 0:
                sndcnt = SEGMENT
        while account.permits(ssthresh) and draw.random() < 0.8:
            assert sndcnt > 0 or out == 0
            account = account.sent(SEGMENT)
            out, sndcnt = out + SEGMENT, sndcnt - SEGMENT
        assert account.permits(ssthresh) == (sndcnt > 0 or out == 0)


def test_a_recovery_without_end_does_not_wrap() -> None:
    account = Account(1000).begun(500)
    for _ in range(50):
        account = account.heard(100, 400, 300, 10, safe=False).sent(90)
    assert (account.delivered, account.out) == (1000, 1000)
