# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What the peer holds, as sets of byte numbers: RFC 2018's blocks and RFC 6675's IsLost, pipe and NextSeg by their definitions.

Numbers count from SND.UNA as it is after the event.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

RANGES = 4  # that are remembered
Range = tuple[int, int]  # first byte, one past the last


@dataclass(frozen=True)
class Scoreboard:
    """`held` and `resent_to` (HighRxt) before or after an event."""

    held: tuple[Range, ...] = ()
    resent_to: int = 0
    turn: int = 0  # 0 to 2

    def acknowledged(self, count: int) -> Scoreboard:
        """SND.UNA moves. What begins at it or before it is not believed any more (RFC 2018 8)."""
        held = tuple((left - count, right - count) for left, right in self.held if left > count)
        return replace(self, held=held, resent_to=max(self.resent_to - count, 0))

    def told(self, blocks: list[Range | None]) -> Scoreboard:
        """An ACK with these blocks: the first one, and one of the others in turn; the second if that one is none."""
        board = self.told_first(blocks)
        other = blocks[1 + self.turn] or blocks[1]
        held = _maximal(board.held, other) if other else board.held
        return replace(board, held=held, turn=(self.turn + 1) % 3)

    def told_first(self, blocks: list[Range | None]) -> Scoreboard:
        """The same before the other block."""
        first = blocks[0] or blocks[1]
        return replace(self, held=_maximal(self.held, first)) if first else self


def _maximal(held: tuple[Range, ...], block: Range) -> tuple[Range, ...]:
    """The maximal runs of the union; the lowest are kept."""
    runs: list[Range] = []
    for left, right in sorted([*held, block]):
        if runs and left <= runs[-1][1]:
            runs[-1] = (runs[-1][0], max(runs[-1][1], right))
        else:
            runs.append((left, right))
    return tuple(runs[:RANGES])


def held_from(board: Scoreboard, byte: int) -> int:
    """Bytes that the peer holds from `byte` on."""
    return sum(max(right - max(left, byte), 0) for left, right in board.held)


def is_lost(board: Scoreboard, byte: int, segment: int) -> bool:
    """RFC 6675 4, IsLost: three discontiguous runs above, or more than (DupThresh - 1) * SMSS bytes."""
    above = [left for left, _ in board.held if left > byte]
    return len(above) >= 3 or held_from(board, byte) > 2 * segment


def lost_and_waiting(board: Scoreboard, segment: int) -> list[int]:
    """The bytes that are lost, not held, and not sent again."""
    end = max((right for _, right in board.held), default=0)
    held = {byte for left, right in board.held for byte in range(left, right)}
    return [byte for byte in range(board.resent_to, end) if byte not in held and is_lost(board, byte, segment)]
