# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Whatever comes, in whatever order, no policy leaves cwnd below one segment, ssthresh below two, or either above 1
GiB.

The stage's model around each pair of policies; `sim/bench/policies/judge.py` asks the same of the core's own windows.
"""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from sim.golden.congestion.seam import MAXIMUM_WINDOW, CongestionEvent, Kind, ProbeAck, of_bytes
from sim.golden.congestion.startup import paced
from sim.golden.congestion.steady import aimd, fast, logistic
from sim.golden.policies import STARTUP, STEADY
from sim.golden.window import CongestionState

# The arguments that request the largest windows; other policies have none.
ARGUMENTS = {
    "aimd": aimd.argument(255.99, 65535 / 65536),
    "fast": fast.argument(65535, mi=True),
    "logistic": logistic.argument(2**34 - 1, 2**34 - 1),
    "paced": paced.argument(65535, 0),
}
FIRST = (Kind.ESTABLISHED, Kind.LOSS)
EVENTS = 1000


def event(draw: random.Random, kind: Kind, segment: int) -> CongestionEvent:
    """Nothing, some segments, or as much as 32 bits say, of anything."""
    amounts = [0, 1, segment, 2 * segment, draw.randrange(100 * segment), (1 << 32) - 1]
    return CongestionEvent(
        kind,
        acked_bytes=draw.choice(amounts),
        uninflated=draw.random() < 0.5,
        flight=draw.choice(amounts),
        segment_size=segment,
        rtt=draw.choice([None, 0, draw.getrandbits(30), (1 << 36) - 1]),
        rtt_minimum=draw.choice([0, draw.getrandbits(30), (1 << 36) - 1]),
        initial_window=draw.choice([0, 2, 255]),
        initial_ssthresh=draw.choice(amounts),
        sent_probe=draw.random() < 0.5,
        probe=draw.choice([None, ProbeAck(draw.random() < 0.5, False, 1000, draw.getrandbits(36))]),
        now=draw.getrandbits(48),
    )


def requesting(state: CongestionState, seen: CongestionEvent) -> bool:
    seen = replace(seen, starting_up=state.window.cwnd < state.window.ssthresh)
    policies = ((state.startup, state.startup_policy_state), (state.steady, state.steady_policy_state))
    return any(
        policy.respond(seen, state.window, policy_state).calculation is not None for policy, policy_state in policies
    )


@pytest.mark.parametrize("startup", sorted(STARTUP))
@pytest.mark.parametrize("steady", sorted(STEADY))
def test_windows_stay_within_their_bounds(startup: str, steady: str) -> None:
    draw = random.Random(f"{startup} {steady}")
    words = (ARGUMENTS.get(startup, 0), ARGUMENTS.get(steady, 0))
    state = CongestionState(
        STARTUP[startup], STEADY[steady], startup_policy_state=words[0], steady_policy_state=words[1]
    )
    segment, calculating, ends = draw.choice([64, 536, 1460, 9000]), False, set()
    kinds = [kind for kind in Kind if kind is not Kind.CALCULATED] + 10 * [Kind.ACKNOWLEDGED]
    for number in range(EVENTS):
        kind = Kind.CALCULATED if calculating and draw.random() < 0.5 else draw.choice(kinds)
        # There is a reduction before one is taken back.
        seen = event(draw, FIRST[number] if number < len(FIRST) else kind, segment)
        requested = not calculating and requesting(state, seen)
        window = state.see(seen, requested=requested)
        calculating = requested or calculating and seen.kind is not Kind.CALCULATED
        assert of_bytes(segment) <= window.cwnd <= of_bytes(MAXIMUM_WINDOW)
        assert of_bytes(2 * segment) <= window.ssthresh <= of_bytes(MAXIMUM_WINDOW)
        ends |= {window.cwnd, window.ssthresh}
    assert ends >= {of_bytes(segment), of_bytes(2 * segment)}, "the draw never came to the least"
