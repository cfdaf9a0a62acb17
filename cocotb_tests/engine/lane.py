# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A flow of the engine beside the golden model of its connection."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from cocotb_tests.bench.layout import number
from sim.golden.engine.protocol.connection import Build, Connection, Effects
from sim.golden.engine.retransmission import Recovery
from sim.golden.engine.round_trip import Record, RoundTrips

Apply = Callable[[bool], Effects]
BUILD = Build(receive_bytes=number("receiveBufferBytes"), mss=number("ownMss"), scale=number("receiveWindowScale"))


@dataclass
class Seen:
    """The engine's outputs for a flow since the last look."""

    trace: list[dict[str, int]] = field(default_factory=list)
    descriptors: list[dict[str, int]] = field(default_factory=list)
    placements: list[dict[str, int]] = field(default_factory=list)
    status: list[dict[str, int]] = field(default_factory=list)
    ended: list[dict[str, int]] = field(default_factory=list)


@dataclass
class Lane:
    """A flow: its model, and what waits for the pacer, the memory and the timers."""

    flow: int
    tcb: Connection = field(default_factory=lambda: Connection(BUILD))
    booked: bool = False
    unplaced: deque[tuple[int, int, bool]] = field(default_factory=deque)
    deadline: int | None = None  # ns; None: nothing is armed
    event: str = ""
    apply: Apply | None = None
    story: deque[str] = field(default_factory=lambda: deque(maxlen=24))
    synchronized: bool = False
    seen: Seen = field(default_factory=Seen)
    grants: bool = False
    departures: deque[int] = field(default_factory=deque)  # ends of segments whose stamps are to come
    recovers: bool = False  # its peers have no SACK, and the recovery stage is compared, too
    recovery: Recovery | None = None
    # The send log outlives a connection; before the first it has zeros.
    log: dict[int, Record] = field(
        default_factory=lambda: {place: Record(0, False) for place in range(RoundTrips.places)}
    )
    kinds: Counter[str] = field(default_factory=Counter)  # that congestion got
    facts: dict[str, int] = field(default_factory=dict)  # that it needs of the event

    def check(self, condition: bool, what: str) -> None:
        assert condition, f"flow {self.flow}, {self.event}: {what}\n" + "\n".join(
            [*self.story, f"model {self.tcb}", f"{self.recovery}"]
        )

    def same(self, name: str, found: Any, expected: Any) -> None:
        if found != expected:
            self.check(False, f"{name} is {found}, and should be {expected}")
