# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Judges the interrupts of `HostInterface`: armed, for an entry that was not read, behind the hold-off, and soon."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence

from sim.golden.host.ports import Port

SOON = 12  # clocks from when an interrupt is due


class Interrupts:
    """`step` is called once a clock, behind the bus."""

    def __init__(self, ports: Sequence[Port], counts: Counter[str]) -> None:
        self.hold_off = [0] * len(ports)  # ns
        self._ports, self._counts = ports, counts
        self._armed = [False] * len(ports)
        self._raised = [False] * len(ports)
        self._until = [0] * len(ports)  # ns: none before
        self._overdue = [0] * len(ports)
        self._heads: dict[int, tuple[int, bool]] = {}  # port: clock in which its head moves, and whether that arms
        self._unread: deque[list[bool]] = deque(maxlen=3)

    def disarm(self, port: int) -> None:
        self._armed[port] = False

    def head_moves(self, port: int, clock: int, arms: bool) -> None:
        self._heads[port] = (clock, arms)

    def step(self, clock: int, now: int, before: int, raised: int) -> None:
        """`raised`: a bit for each port. `before`: the time that the interface saw in the clock before, in ns."""
        unread = [any(each) for each in zip(*self._unread, strict=True)] or [False] * len(self._ports)
        for index, port in enumerate(self._ports):
            rises = bool(raised >> index & 1)
            moved = self._heads.get(index)
            if moved and clock == moved[0] + 1:
                assert not rises, "an interrupt beside what was read"
                self._armed[index] = moved[1]
                self._raised[index] = False
                self._heads.pop(index)
            if rises and not self._raised[index]:
                assert self._armed[index], f"port {index}: an interrupt that nobody wants"
                assert unread[index], f"port {index}: an interrupt for what was read"
                assert (before - self._until[index]) % 2**48 < 2**47, "an interrupt before its time"
                self._armed[index] = False
                self._until[index] = before + self.hold_off[index]
                self._counts["interrupt"] += 1
            self._raised[index] = rises
            due = self._armed[index] and port.running and now > self._until[index] and index not in self._heads
            self._overdue[index] = self._overdue[index] + 1 if due and port.unread else 0
            assert self._overdue[index] < SOON, f"port {index}: no interrupt"
        self._unread.append([port.unread for port in self._ports])
