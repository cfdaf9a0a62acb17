# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The cells of the matrix: what a path does to a transfer, who sends, which seed."""

from __future__ import annotations

import hashlib
import itertools
import random
from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass

from sim.lib.contents import generated

SMALLEST_BYTES, LARGEST_BYTES = 256_000, 1_000_000


@dataclass(frozen=True)
class Axes:
    """The values that each factor takes; a cell is one of each."""

    role: tuple[str, ...] = ("sender", "receiver")
    loss: tuple[float, ...] = (0.0, 0.001, 0.01, 0.05, 0.1, 0.2)
    reorder: tuple[float, ...] = (0.0, 0.01, 0.1)
    dup: tuple[float, ...] = (0.0, 0.05)
    corrupt: tuple[float, ...] = (0.0, 0.01)
    seed: tuple[int, ...] = (1, 2, 3)
    congestion: tuple[str, ...] = ("",)


@dataclass(frozen=True)
class Cell:
    """One transfer; shares of frames from 0 to 1."""

    role: str  # the core's
    loss: float
    reorder: float
    dup: float
    corrupt: float
    seed: int
    congestion: str  # the peer's; empty: there is no choice

    def contents(self, size: int | None) -> bytes:
        """The bytes to send; without a `size` the cell draws their number."""
        drawn = random.Random(str(self)).randint(SMALLEST_BYTES, LARGEST_BYTES)
        return generated(str(self), size or drawn)

    @property
    def path_seed(self) -> int:
        """The seed of the frames' fates and of the core's secret: cells of one seed share no draws."""
        return int.from_bytes(hashlib.sha256(str(self).encode()).digest()[:6], "big")

    def command(self, size: int | None, **more: object) -> str:
        """The make line that runs this cell alone."""
        words = {name.upper(): value for name, value in asdict(self).items() if value != ""}
        words |= {name: f"{value:g}" for name, value in words.items() if isinstance(value, float)}
        words |= {"SIZE": size} if size else {}
        return " ".join(["make matrix", *(f"{name}={value}" for name, value in (words | more).items())])


def every(axes: Axes) -> list[Cell]:
    return [Cell(*values) for values in itertools.product(*astuple(axes))]


def covering(cells: Sequence[Cell], count: int) -> list[Cell]:
    """The `count` cells that, taken in turn, see most pairs of values together for the first time; then once more, and
    so on."""
    left, chosen, seen = list(cells), list[Cell](), set[object]()
    while left and len(chosen) < count:
        best = max(left, key=lambda cell: len(_pairs(cell) - seen))
        if _pairs(best) <= seen and seen:
            seen = set()  # every pair has been seen
            continue
        left.remove(best)
        chosen.append(best)
        seen |= _pairs(best)
    return chosen


def _pairs(cell: Cell) -> set[object]:
    return set(itertools.combinations(asdict(cell).items(), 2))
