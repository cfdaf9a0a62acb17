# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A strict peer: it moves its window as given, takes in order what lies inside, and drops all else unread.

Numbers count from each side's SYN. Its window is exact; what it tells is rounded down to a unit of its scale.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from scapy.packet import Packet

from sim.adversarial.packetdrill.options import Option
from sim.adversarial.packetdrill.packets import OURS, Conversation, stream
from sim.adversarial.packetdrill.script import Segment
from sim.adversarial.packetdrill.wire import Wire
from sim.adversarial.windows.table import acceptable, passes

MSS = 1460
RETRANSMIT_AFTER = 1_000_000_000  # ns: then its data goes again
CORE_SCALE = 5  # preset sim: 1 MiB


@dataclass
class Peer:
    wire: Wire
    conversation: Conversation
    scale: int | None  # its window scale; none: it shrinks its window
    window: int = 65535  # RCV.WND, bytes
    expected: int = 1  # RCV.NXT
    next: int = 1  # SND.NXT
    acknowledged: int = 1  # SND.UNA
    edge: int = 1  # SND.UNA + SND.WND
    sent_at: int = 0  # ns
    reset: bool = False
    faults: list[str] = field(default_factory=list)
    judged: int = 0  # replies

    def open(self) -> None:
        """The handshake. The core listens."""
        options = [Option("mss", (MSS,))]
        if self.scale is not None:
            options += [Option("nop"), Option("wscale", (self.scale,))]
        self._put("S", 0, 0, options, sequence=0)
        self.wire.run(self.wire.now + 1_000_000)
        syn = self.wire.arrived.popleft().packet
        self.conversation.local_zero = syn["TCP"].seq
        self.edge = 1 + syn["TCP"].window
        self.tell()

    @property
    def offered(self) -> int:
        """The window as its segments announce it, bytes."""
        scale = self.scale or 0
        return min(self.window >> scale, 65535) << scale

    def tell(self) -> None:
        self._put(".", 0, 0)

    def write(self, length: int) -> None:
        """Sends new data, as far as the core's window goes."""
        while length and self.next < self.edge:
            part = min(length, MSS, self.edge - self.next)
            self._put("P.", part, 0)
            self.next += part
            length -= part
            self.sent_at = self.wire.now

    def again(self) -> None:
        """Its retransmission timer."""
        if self.acknowledged < self.next and self.wire.now - self.sent_at > RETRANSMIT_AFTER:
            for start in range(self.acknowledged, self.next, MSS):
                self._put("P.", min(MSS, self.next - start), 0, sequence=start)
            self.sent_at = self.wire.now

    def hear(self, packet: Packet) -> None:
        """A segment of the core's: judged, taken, and answered if it takes sequence space."""
        segment = self.conversation.read(packet)
        length = segment.length + ("F" in segment.flags)
        if not length:
            self._judge(segment)
        if not acceptable(segment.sequence, length, self.expected, self.window):
            self.tell()
            return
        if "R" in segment.flags:
            self.reset = True
            return
        assert segment.acknowledgment is not None and segment.window is not None
        assert segment.acknowledgment <= self.next, "the core acknowledges what was never sent"
        self.acknowledged = max(self.acknowledged, segment.acknowledgment)
        scale = CORE_SCALE if self.scale is not None else 0
        self.edge = max(self.edge, segment.acknowledgment + (segment.window << scale))
        if not length:
            return
        new = stream(segment.sequence, segment.length, OURS)
        self.wire.judge_payload(packet, new)
        end = min(segment.sequence + segment.length, self.expected + self.window)
        if segment.sequence <= self.expected < end:
            self.window -= end - self.expected
            self.expected = end
        self.tell()

    def _judge(self, segment: Segment) -> None:
        """Only a window that shrinks leaves what fills it refused."""
        self.judged += 1
        if not passes(segment.sequence, 0, self.expected, self.window, self.scale is None):
            self.faults.append(f"{segment}: RCV.NXT {self.expected}, RCV.WND {self.window}")

    def _put(
        self, flags: str, length: int, at: int, options: list[Option] | None = None, sequence: int | None = None
    ) -> None:
        syn = "S" in flags
        offered = 65535 if syn else self.offered >> (self.scale or 0)
        segment = Segment(
            ecn=None,
            flags=flags,
            sequence=self.next if sequence is None else sequence,
            length=length,
            acknowledgment=None if syn else self.expected,
            window=offered,
            urgent=None,
            options=tuple(options or ()),
        )
        self.wire.put(self.conversation.built(segment), at, str(segment))
