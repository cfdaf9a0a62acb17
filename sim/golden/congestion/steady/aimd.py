# SPDX-License-Identifier: BSD-2-Clause-Patent
"""AIMD(a, b) without a division, as rtl/downbeat/congestion/steady/Aimd.scala.

Growth while cwnd >= ssthresh and decrease are those of additive_increase.py; a loss and a restart take the credit. Argument:
a, 24 bits, 16 of them fraction; b, 16 bits of fraction; all zeros: (1, 0.5).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sim.golden.congestion.additive_increase import CREDIT_BITS, SHARE_BITS, decreased, increased
from sim.golden.congestion.packed_fields import PackedFields
from sim.golden.congestion.seam import CongestionEvent, Kind, PolicyResult, Window

INCREASE_BITS = 24


@dataclass(frozen=True)
class AimdState(PackedFields):
    """The policy state, lowest field first."""

    a: int = 1 << 16  # 16 fraction bits
    b: int = 1 << 15  # 16 fraction bits
    credit: int = 0  # bytes with 16 fraction bits

    FIELDS = (("a", INCREASE_BITS), ("b", SHARE_BITS), ("credit", CREDIT_BITS))


def argument(increase: float, decrease: float) -> int:
    """The argument of a connection: a and b, rounded down to 2^-16."""
    a, b = int(increase * 2**16), int(decrease * 2**16)
    if not 0 < a < 1 << INCREASE_BITS or not 0 <= b < 1 << SHARE_BITS:
        raise ValueError(f"AIMD({increase}, {decrease}): a from 2^-16 to below 256, b from 0 to below 1")
    return AimdState(a, b).packed()


@dataclass(frozen=True)
class Aimd:
    name: str = "aimd"
    state: type[PackedFields] = AimdState

    def respond(self, event: CongestionEvent, window: Window, policy_state: int) -> PolicyResult:
        state = AimdState.unpacked(policy_state)
        match event.kind:
            case Kind.ESTABLISHED:
                state = AimdState(state.a, state.b) if state.a or state.b else AimdState()
            case Kind.ACKNOWLEDGED if not event.starting_up:
                cwnd, credit = increased(event, window, state.credit, state.a)
                window, state = replace(window, cwnd=cwnd), replace(state, credit=credit)
            case Kind.LOSS | Kind.TIMEOUT:
                window, state = replace(window, ssthresh=decreased(event, state.b)), replace(state, credit=0)
            case Kind.RESTART:
                state = replace(state, credit=0)
            case _:
                pass
        return PolicyResult(window, state.packed())


POLICY = Aimd()
