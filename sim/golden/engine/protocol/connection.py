# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A connection (RFC 9293 3.3.1), the segments that it gets, and the effects of an event.

Sequence numbers have 32 bits and wrap; lengths and windows are bytes, times ns since reset, not wrapped.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sim.golden.engine.protocol.sequence import since

MASK = 2**32 - 1
UNIT = 2**30  # ns, of challenges, keep-alive and the user timeout
TICK = 2**20  # ns, of TSval
STEP = 2**16  # ns, of deadlines
TIMESTAMP_BYTES = 12
CHALLENGES = (8, 15)  # the fewest and the most in a unit of time
DUPLICATES_WITHIN = 2**17  # bytes below RCV.NXT; data that came twice farther away is not reported
RECEIVING = ("synReceived", "established", "finWait1", "finWait2")


def up(time: int) -> int:
    """A deadline is never early."""
    return (time + STEP - 1) // STEP * STEP


@dataclass(frozen=True)
class Build:
    """Numbers of the core: bytes, and ns."""

    receive_bytes: int = 65536
    mss: int = 1460
    assumed_mss: int = 536
    scale: int = 1  # shift of our window
    time_wait: int = 60 * 10**9
    delayed_ack: int = 40 * 10**6


@dataclass(frozen=True)
class Segment:
    """A segment of the peer; `flags` in scapy's letters, windows as on the wire, SACK blocks from `ack` on."""

    seq: int
    flags: str
    ack: int = 0
    length: int = 0
    window: int = 0
    urgent: int = 0
    timestamps: tuple[int, int] | None = None
    mss: int | None = None
    scale: int | None = None
    sack: bool = False
    blocks: tuple[tuple[int, int], ...] = ()
    duplicate_sack: bool = False
    marked: bool = False

    def has(self, flag: str) -> bool:
        return flag in self.flags

    @property
    def end(self) -> int:
        """One past the payload."""
        return (self.seq + self.length) & MASK


@dataclass(frozen=True)
class Parameters:
    """An open or a listen has them; keep-alive and user timeout in units of 2^30 ns, zero: none."""

    ecn: bool = False
    keep_alive: int = 0
    user_timeout: int = 0


@dataclass
class Effects:
    """The effects of an event; the later stages read the second part."""

    reply: str = ""  # "ack", "reset" (with ACK), "refusal" (a RST with SEG.ACK as its number, without ACK)
    reply_number: int | None = None  # None: SND.MAX
    wanted: bool = False  # an ACK is due
    suppressed: bool = False  # it does
    duplicate: tuple[int, int] | None = None  # data that came twice (RFC 2883)
    placement: tuple[int, int, bool] | None = None  # number, length, and whether the FIN is taken
    discarded: bool = False
    reported: bool = False  # the application has a status
    synchronized: bool = False  # the peer's SYN is taken
    ignored_error: bool = False

    opened: bool = False
    connected: bool = False
    acked: int = 0  # bytes
    repeated: bool = False  # an acceptable ACK of SND.UNA, while something is outstanding
    duplicated: bool = False  # the same, by RFC 5681's definition of a duplicate ACK
    echoed: bool = False  # ECE that counts
    again: bool = False  # SND.NXT returns to SND.UNA without a loss
    retires: bool = False  # TIME-WAIT goes on in the directory's table


@dataclass
class Connection:
    """A flow's connection. `generation` tells it from the flow's others."""

    build: Build = field(default_factory=Build)
    generation: int = 0
    in_use: bool = False
    state: str = "closed"
    reason: str = "none"
    announced: bool = False
    closed_by_application: bool = False
    placing: int = 0

    # Sending
    una: int = 0
    max: int = 0  # SND.MAX
    written: int = 0
    finishing: bool = False
    window: int = 0
    largest_window: int = 0
    wl1: int = 0
    wl2: int = 0
    scaling: bool = False
    peer_scale: int = 0
    selective: bool = False
    mss: int = 0
    urgent_out: int | None = None  # SND.UP, until it is acknowledged

    # Receiving
    received: int = 0  # RCV.NXT
    consumed: int = 0
    edge: int = 0  # the right edge of our window
    last_ack: int = 0  # Last.ACK.sent
    delayed: bool = False
    ranges: list[tuple[int, int]] = field(default_factory=list)  # the newest first
    expected: int = 0  # one past what came in order, in memory or on its way there
    fin: int | None = None
    fin_received: bool = False
    urgent_in: int | None = None  # RCV.UP, until it is read

    # Options and mechanisms
    timestamped: bool = False
    offset: int = 0
    recent: int = 0  # TS.Recent
    recent_at: int = 0  # ns
    ecn: bool = False
    echoing: bool = False
    challenges: int = 0  # in the present unit of time
    silenced: bool = False  # one of them was held back
    challenged_at: int = -1  # that unit
    parameters: Parameters = field(default_factory=Parameters)
    heard: int = 0  # unit of time
    unanswered: int = 0
    waiting: bool = False  # `deadline` ends TIME-WAIT or FIN-WAIT-2
    deadline: int = 0
    error: int = 0
    errors: int = 0
    repeats: int = 0

    @property
    def outstanding(self) -> int:
        return since(self.max, self.una)

    @property
    def unread(self) -> int:
        """Bytes in order that the application has not read."""
        return since(self.received, self.consumed) - self.fin_received

    def tsval(self, now: int) -> int:
        return (self.offset + now // TICK) & MASK

    def end(self, reason: str) -> None:
        self.state, self.reason = "closed", reason

    def released(self) -> bool:
        """Nobody needs the flow."""
        ended = self.in_use and self.state == "closed" and not self.placing
        return ended and (self.closed_by_application or not self.announced)

    # ---- our window

    def next_edge(self, received: int, consumed: int) -> int:
        """The right edge that an ACK announces: it moves by a segment or half the buffer (RFC 9293 3.8.6.2.2)."""
        limit = (consumed + self.build.receive_bytes) & MASK
        if since(limit, self.edge) < min(self.build.mss, self.build.receive_bytes // 2):
            return self.edge
        unscaled = (received + 65535) & MASK
        return unscaled if not self.scaling and since(limit, unscaled) > 0 else limit

    def on_wire(self, edge: int) -> int:
        """The window field of a segment with ACK. A FIN may have passed the edge."""
        scale = self.build.scale if self.scaling and self.state not in ("synSent", "synReceived") else 0
        return min(max(since(edge, self.received), 0) >> scale, 65535)

    # ---- replies

    def acknowledge(self, effects: Effects) -> None:
        """A pure ACK goes out with the event."""
        effects.wanted = True
        if self.state in ("closed", "synSent"):
            return
        effects.reply = "ack"
        self.edge = self.next_edge(self.received, self.consumed)
        self.last_ack, self.delayed = self.received, False

    def challenge(self, effects: Effects, now: int, replied: bool, *, limited: bool) -> None:
        """RFC 5961 7. Between the fewest and the most the core draws the limit: `replied` says how."""
        if not limited:
            self.acknowledge(effects)
            return
        unit = now // UNIT % 256
        if unit != self.challenged_at:
            self.challenges, self.silenced = 0, False
        self.challenged_at = unit
        if self.silenced or self.challenges == CHALLENGES[1]:
            replied = False
        elif self.challenges < CHALLENGES[0]:
            replied = True
        if replied:
            self.challenges += 1
            self.acknowledge(effects)
        else:
            self.silenced = effects.suppressed = True


def linger(tcb: Connection, effects: Effects, now: int) -> Effects:
    """TIME-WAIT's time, or that of FIN-WAIT-2 without an application, begins, and again with what needs a reply."""
    runs = tcb.state == "timeWait" or tcb.state == "finWait2" and tcb.closed_by_application
    if runs and (not tcb.waiting or effects.wanted):
        tcb.deadline = up(now + tcb.build.time_wait)
    tcb.waiting = runs
    if tcb.state == "closed":
        tcb.delayed = False
    if tcb.released() and effects.reply not in ("reset", "refusal"):  # a RST leaves before the flow is free
        tcb.in_use = False
    return effects
