# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The earliest of many instants, by a heap; entries that were replaced stay in it until they surface."""

from __future__ import annotations

import heapq


class Earliest:
    """Instants modulo 2^bits, less than half of that after `origin` and unique or not."""

    def __init__(self, bits: int = 48) -> None:
        self.bits = bits
        self.times: dict[int, int] = {}  # index to instant
        self._heap: list[tuple[int, int, int]] = []  # since the origin, index, instant
        self._origin = 0

    def start(self, origin: int) -> None:
        """Instants are counted from `origin` from here on."""
        self._origin = origin
        self._heap = [self._entry(index, time) for index, time in self.times.items()]
        heapq.heapify(self._heap)

    def update(self, index: int, time: int | None) -> None:
        """`time` replaces the index's former one; None disarms it."""
        if time is None:
            self.times.pop(index, None)
        else:
            self.times[index] = time
            heapq.heappush(self._heap, self._entry(index, time))

    def earliest(self) -> int | None:
        """The earliest instant."""
        while self._heap and self.times.get(self._heap[0][1]) != self._heap[0][2]:
            heapq.heappop(self._heap)
        return self._heap[0][2] if self._heap else None

    def _entry(self, index: int, time: int) -> tuple[int, int, int]:
        return (time - self._origin) % (1 << self.bits), index, time
