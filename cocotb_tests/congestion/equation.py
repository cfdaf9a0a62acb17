# SPDX-License-Identifier: BSD-2-Clause-Patent
"""How far a golden model's window is from its equation in floats: what a policy's `float_error` tells `make
policies`."""

from __future__ import annotations

import random
from collections.abc import Callable

from sim.golden.congestion.seam import MAXIMUM_WINDOW, CongestionEvent, Kind, Policy, Window, of_bytes

SMSS = 1460
EVENTS = 20_000


def largest_error(
    policy: Policy,
    equation: Callable[[float, float], float],
    draw: random.Random,
    *,
    starting_up: bool,
    argument: int = 0,
    largest_ack: int = 5 * SMSS,
) -> float:
    """Relative, over ACKs of any size; `equation` takes cwnd and the bytes acknowledged to the next cwnd, bytes."""
    worst = 0.0
    result, exact = None, 0.0
    for _ in range(EVENTS):
        if result is None or exact > MAXIMUM_WINDOW / 2:
            segments = draw.randrange(2, 200)
            opening = CongestionEvent(
                Kind.ESTABLISHED, segment_size=SMSS, initial_window=segments, initial_ssthresh=MAXIMUM_WINDOW
            )
            exact = segments * SMSS
            result = policy.respond(opening, Window(of_bytes(segments * SMSS), of_bytes(segments * SMSS)), argument)
        acked = draw.randrange(1, largest_ack)
        event = CongestionEvent(
            Kind.ACKNOWLEDGED, starting_up=starting_up, acked_bytes=acked, flight=1 << 20, segment_size=SMSS
        )
        result = policy.respond(event, result.window, result.policy_state)
        exact = equation(exact, acked)
        worst = max(worst, abs(result.window.cwnd / of_bytes(1) - exact) / exact)
    return worst
