# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A peer that only receives: it keeps what comes out of order and acknowledges at once, or as receivers that delay ACKs
do."""

from __future__ import annotations

from scapy.layers.inet import TCP

from cocotb_tests.core.core import Core
from cocotb_tests.core.peer import Peer


class DelayingReceiver(Peer):
    """RFC 5681 4.2: every second segment in order is acknowledged, what comes out of order or fills a hole at once."""

    def __init__(self, core: Core, *, port: int) -> None:
        super().__init__(core, port=port)
        self.held: dict[int, bytes] = {}
        self.owes = False

    def take(self, segment: TCP) -> bool:
        """Takes a segment; whether it was acknowledged at once."""
        fills = bool(self.held)
        if segment.seq == self.expected:
            self.accept(segment)
            while self.expected in self.held:
                data = self.held.pop(self.expected)
                self.received += data
                self.expected = (self.expected + len(data)) % 2**32
            if not fills and not self.owes:
                self.owes = True
                return False
        else:
            self.held[segment.seq] = segment.data
        self.acknowledge()
        return True

    def acknowledge(self) -> None:
        """Sends an ACK now; that is also what the delayed-ACK timer does."""
        self.owes = False
        self.send("A")
