# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Proportional rate reduction, RFC 9937 5 and 6, in integers of bytes.

    pipe > ssthresh:  sndcnt = ceil(prr_delivered ssthresh / RecoverFS) - prr_out
    otherwise:        sndcnt = min(ssthresh - pipe, max(prr_delivered - prr_out, DeliveredData) + SMSS on a safe ACK)

An ACK that delivers nothing changes nothing. A segment may leave while sndcnt is above zero, and when nothing has left
in this recovery.
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Account:
    """A connection's state of PRR, bytes. Sums end at `ceiling`."""

    ceiling: int
    delivered: int = 0  # prr_delivered
    out: int = 0  # prr_out
    flight: int = 0  # RecoverFS
    bounded: bool = False  # with the last ACK pipe was not above ssthresh
    left: int = 0  # sndcnt that is left since then

    def begun(self, flight: int) -> Account:
        """A loss is found; `flight`: outstanding before the ACK that tells of it, less what was SACKed before it."""
        return replace(self, delivered=0, out=0, flight=flight, bounded=False)

    def heard(self, delivered: int, pipe: int, ssthresh: int, segment: int, safe: bool) -> Account:
        """DeliveredData and pipe of an event; without an ACK `delivered` is zero."""
        total = min(max(self.delivered + delivered, 0), self.ceiling)
        account = replace(self, delivered=total)
        if delivered <= 0:
            return account
        bound = min(ssthresh - pipe, max(total - self.out, delivered) + (segment if safe else 0), self.ceiling)
        bounded = pipe <= ssthresh
        return replace(account, bounded=bounded, left=bound if bounded else self.left)

    def permits(self, ssthresh: int) -> bool:
        """sndcnt is above zero."""
        if self.out == 0:
            return True
        if self.bounded:
            return self.left > 0
        return self.delivered * ssthresh > self.out * self.flight

    def sent(self, length: int) -> Account:
        return replace(self, out=min(self.out + length, self.ceiling), left=max(self.left - length, 0))
