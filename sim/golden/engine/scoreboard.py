# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The data that the peer holds, as sets of byte numbers: RFC 2018's blocks and RFC 6675's IsLost and NextSeg by their
definitions.

Numbers count from SND.UNA as it is after the event; `outstanding` is SND.MAX - SND.UNA then, in bytes.
A range that HighRxt has passed is of no more use but by its length.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

RANGES = 4  # that are remembered
Range = tuple[int, int]  # first byte, one past the last


@dataclass(frozen=True)
class Scoreboard:
    """`held`, `high_rxt` (HighRxt) and `passed` before or after an event."""

    held: tuple[Range, ...] = ()
    high_rxt: int = 0
    passed: int = 0  # bytes held before HighRxt, in ranges that are kept no more
    turn: int = 0  # 0 to 2

    def acknowledged(self, count: int, segment: int) -> Scoreboard:
        """SND.UNA moves. What begins at it or before it is not believed any more (RFC 2018 8).

        The lowest range goes if HighRxt has passed it. An ACK of something new there is taken for that of one segment
        that was sent again and of what was held behind it.
        """
        held, passed = self.held, self.passed
        if held and held[0][1] <= self.high_rxt:
            passed += held[0][1] - held[0][0]
            held = held[1:]
        held = tuple((left - count, right - count) for left, right in held if left > count)
        high_rxt = max(self.high_rxt - count, 0)
        passed = max(passed - max(count - segment, 0), 0) if high_rxt else 0
        return replace(self, held=held, high_rxt=high_rxt, passed=passed)

    def given(self, blocks: list[Range | None], outstanding: int) -> Scoreboard:
        """An ACK with these blocks: the first one, and one of the others in turn; the second if that one is none."""
        first, other = self._taken(blocks, outstanding)
        return replace(self._with(first)._with(other), turn=(self.turn + 1) % 3)

    def drops(self, blocks: list[Range | None], outstanding: int) -> bool:
        """There is no space for one of the blocks' ranges, or for one above."""
        first, other = self._taken(blocks, outstanding)
        return self._overflows(first) or self._with(first)._overflows(other)

    def _overflows(self, block: Range | None) -> bool:
        return block is not None and self.high_rxt < block[1] and len(_union([*self.held, block])) > RANGES

    def is_new(self, blocks: list[Range | None], outstanding: int) -> bool:
        """A block tells of something: it reaches beyond HighRxt and is in no range."""

        def tells(block: Range | None) -> bool:
            if block is None or block[1] <= self.high_rxt:
                return False
            return not any(left <= block[0] and block[1] <= right for left, right in self.held)

        return any(map(tells, self._taken(blocks, outstanding)))

    def loses_first(self, blocks: list[Range | None], segment: int, outstanding: int) -> bool:
        """IsLost of the first byte after an ACK with these blocks. Three isolated blocks say so by themselves."""
        three = _runs(blocks)[:3]
        isolated = None not in three and len(_union(three)) == 3
        taken = [block is not None and block[1] > self.high_rxt for block in self._taken(blocks, outstanding)]
        return isolated and all(taken) or is_lost(self.given(blocks, outstanding), 0, segment)

    def _taken(self, blocks: list[Range | None], outstanding: int) -> tuple[Range | None, Range | None]:
        """The two blocks that an ACK brings in; one that reaches beyond what was sent is none (RFC 6675 2: HighData)."""
        runs = _runs(blocks)
        first, other = runs[0], runs[1 + self.turn] or runs[1]
        return first if _sent(first, outstanding) else None, other if _sent(other, outstanding) else None

    def _with(self, block: Range | None) -> Scoreboard:
        """A range that ends before HighRxt is skipped; one that spans it may hold bytes of `passed`."""
        if block is None or block[1] <= self.high_rxt:
            return self
        end = min(self.high_rxt, self.held[0][0]) if self.held else self.high_rxt  # `passed` counts below it
        passed = max(self.passed - max(end - block[0], 0), 0)
        return replace(self, held=_maximal(self.held, block), passed=passed)


def _sent(block: Range | None, outstanding: int) -> bool:
    return block is not None and block[1] <= outstanding


def _runs(blocks: list[Range | None]) -> list[Range | None]:
    """The blocks without the first one's place if that held a duplicate (RFC 2883)."""
    return blocks if blocks[0] else [*blocks[1:], None]


def _maximal(held: tuple[Range, ...], block: Range) -> tuple[Range, ...]:
    """The maximal runs of the union; the lowest are kept."""
    return tuple(_union([*held, block])[:RANGES])


def _union(ranges: Iterable[Range | None]) -> list[Range]:
    """The maximal runs, ascending."""
    runs: list[Range] = []
    for left, right in sorted(filter(None, ranges)):
        if runs and left <= runs[-1][1]:
            runs[-1] = (runs[-1][0], max(runs[-1][1], right))
        else:
            runs.append((left, right))
    return runs


def credit(board: Scoreboard) -> int:
    """Bytes beyond SND.UNA that are in the network no more: those the peer holds, as far as it is known."""
    return held_from(board, 0) + board.passed


def held_from(board: Scoreboard, byte: int) -> int:
    """Bytes of ranges from `byte` on."""
    return sum(max(right - max(left, byte), 0) for left, right in board.held)


def is_lost(board: Scoreboard, byte: int, segment: int) -> bool:
    """RFC 6675 4, IsLost: three discontiguous runs above, or more than (DupThresh - 1) * SMSS bytes."""
    above = [left for left, _ in board.held if left > byte]
    return len(above) >= 3 or held_from(board, byte) > 2 * segment


@dataclass(frozen=True)
class LossesByTime:
    """RFC 8985 6.2 step 5 as recovery knows it: before `end` the peer lacks data for too long."""

    waits: bool = False  # reordering was seen: IsLost is not asked
    all: bool = False  # none was seen, and a recovery is under way: the reordering window is zero
    end: int = 0


NO_TIME = LossesByTime()


def lost_and_waiting(board: Scoreboard, segment: int, time: LossesByTime = NO_TIME) -> list[int]:
    """The bytes that are lost, not held, and not sent again. Those between two ranges share one verdict."""
    end = max((right for _, right in board.held), default=0)
    held = {byte for left, right in board.held for byte in range(left, right)}
    # The last hole of which a byte is lost: what is below it is lost, too.
    lost = [left for left, _ in board.held if left < time.end or time.all]
    lost += [left for left, _ in board.held if not time.waits and is_lost(board, left - 1, segment)]
    lost += [time.end] if end < time.end else []
    return [byte for byte in range(board.high_rxt, max(lost, default=0)) if byte not in held]
