# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Recovery with SACK, as the engine's recovery and transmit stages make it together.

What the peer lacks counts as in flight, lost or not, so that sending it again changes nothing. The beat for that is the
ACKs' instead: each that tells of something new lets two segments go again. Bytes count from SND.UNA as it is when the
flight is whole.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sim.golden.engine.scoreboard import Range, Scoreboard, credit, lost_and_waiting

SEGMENT = 4  # bytes, so that sets stay small
AGAIN = 2  # segments that an ACK lets go again


@dataclass
class Repair:
    """A flight of which something is lost, and what follows it up to `end`."""

    next: int  # SND.NXT
    end: int  # end of the data to send
    window: int  # cwnd, bytes
    reduced: int  # cwnd that a loss leaves
    unacknowledged: int = 0
    recover: int | None = None  # SND.NXT when the loss was seen
    board: Scoreboard = field(default_factory=Scoreboard)
    rewound: bool = False  # SND.NXT has gone back, and what was sent before is not all acknowledged

    @property
    def recovering(self) -> bool:
        return self.recover is not None and self.unacknowledged < self.recover and not self.rewound

    def heard(self, acknowledgment: int, blocks: list[Range | None]) -> tuple[list[int], int]:
        """An ACK, its blocks from its number on; where segments go again, and how many new bytes go."""
        self.rewound = self.rewound and self.recover is not None and acknowledgment < self.recover
        if self.rewound:
            self.unacknowledged, self.next = acknowledgment, max(self.next, acknowledgment)
            return [], self._new()
        advanced = acknowledgment - self.unacknowledged
        before = self.board.acknowledged(advanced, SEGMENT)
        outstanding = self.next - acknowledgment
        updates = before.is_new(blocks, outstanding)
        self.unacknowledged, self.board = acknowledgment, before.given(blocks, outstanding)
        beyond = self.recover is None or self.recover <= acknowledgment
        enters = beyond and updates and before.loses_first(blocks, SEGMENT, outstanding)
        if enters:
            self.recover, self.window = self.next, self.reduced
        again = self._again(first=enters or advanced > 0) if self.recovering and (updates or advanced) else []
        return again, self._new()

    def rewind(self) -> int:
        """SND.NXT goes back to SND.UNA: a recovery ends, and what the peer holds beyond SND.NXT is not in flight. How many
        bytes go."""
        self.recover, self.rewound, self.board = self.next, True, Scoreboard()
        self.next = self.unacknowledged
        return self._new()

    def _new(self) -> int:
        """How many bytes go from SND.NXT on."""
        space = self.window + credit(self.board) - (self.next - self.unacknowledged)
        new = max(min(space // SEGMENT * SEGMENT, self.end - self.next), 0)
        self.next += new
        return new

    def _again(self, first: bool) -> list[int]:
        """`first`: the segment at SND.UNA is known to lack, and goes if nothing from there on went again."""
        sent = []
        for _ in range(AGAIN):
            waiting = lost_and_waiting(self.board, SEGMENT)
            if first and not self.board.high_rxt:
                start = 0
            elif waiting:
                start = waiting[0]
            else:
                break
            sent.append(self.unacknowledged + start)
            self.board = replace(self.board, high_rxt=start + SEGMENT)
        return sent
