# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A segment arrives: RFC 9293 3.10.7, with RFC 5961's answers to RST, SYN and ACK and RFC 7323's check of timestamps.

The window's edges belong to it, as on Linux: a peer that has filled our window sends its ACKs from there, and one whose
last segment was lost in part sends it whole.
"""

from __future__ import annotations

from sim.golden.engine.protocol.connection import (
    DUPLICATES_WITHIN,
    MASK,
    RECEIVING,
    TIMESTAMP_BYTES,
    UNIT,
    Build,
    Connection,
    Effects,
    Parameters,
    Segment,
    linger,
)
from sim.golden.engine.protocol.sequence import since

OUTDATED = 7 * 2**48  # ns; TS.Recent is older than RFC 7323 5.5 allows, in wraps of the clock
CLOCK = 2**48  # ns, in which the clock wraps


def passive(
    build: Build, generation: int, segment: Segment, now: int, initial: int, offset: int, parameters: Parameters
) -> tuple[Connection, Effects]:
    """LISTEN takes a SYN (3.10.7.2)."""
    new = Connection(build, generation, in_use=True, state="synReceived", parameters=parameters)
    new.una = new.max = initial
    new.written = (initial + 1) & MASK
    new.offset = offset
    new.ecn = parameters.ecn
    new.window = new.largest_window = segment.window
    effects = Effects(opened=True)
    _take_syn(new, segment, now, effects)
    return new, effects


def active(
    build: Build, generation: int, now: int, initial: int, offset: int, parameters: Parameters
) -> tuple[Connection, Effects]:
    """OPEN (3.10.1). Until the peer answers, SACK and timestamps are offered."""
    new = Connection(build, generation, in_use=True, state="synSent", announced=True, parameters=parameters)
    new.una = new.max = initial
    new.written = (initial + 1) & MASK
    new.offset, new.timestamped, new.selective = offset, True, True
    new.ecn = parameters.ecn
    new.mss = build.assumed_mss
    new.heard = now // UNIT
    return new, Effects(opened=True, reported=True)


def _take_syn(tcb: Connection, segment: Segment, now: int, effects: Effects) -> None:
    """IRS, and the options on which both SYNs agree."""
    effects.synchronized = True
    responds = segment.has("A")
    tcb.received = tcb.consumed = tcb.expected = tcb.last_ack = (segment.seq + 1) & MASK
    tcb.ranges, tcb.fin, tcb.fin_received, tcb.delayed, tcb.echoing = [], None, False, False, False
    tcb.wl1, tcb.wl2 = segment.seq, segment.ack if responds else tcb.una
    tcb.scaling, tcb.peer_scale = segment.scale is not None, segment.scale or 0
    # The window of a SYN is not scaled; an ACK may confirm a SYN with ACK (RFC 7323 2.2).
    space = tcb.build.receive_bytes if responds and tcb.scaling else min(tcb.build.receive_bytes, 65535)
    tcb.edge = (tcb.received + space) & MASK
    tcb.selective = segment.sack
    tcb.timestamped = segment.timestamps is not None
    if segment.timestamps:
        tcb.recent, tcb.recent_at = segment.timestamps[0], now
    offered = segment.mss if segment.mss is not None else tcb.build.assumed_mss
    tcb.mss = min(offered, tcb.build.mss) - (TIMESTAMP_BYTES if tcb.timestamped else 0)
    # A SYN asks for ECN with ECE and CWR, a SYN with ACK grants it with ECE alone (RFC 3168 6.1.1).
    tcb.ecn = tcb.ecn and segment.has("E") and segment.has("C") != (responds and not effects.opened)
    tcb.heard, tcb.unanswered = now // UNIT, 0


def arrive(tcb: Connection, segment: Segment, now: int, replied: bool) -> Effects:
    """`replied`: the core has sent an ACK, which counts where its limit of challenges decides."""
    effects = Effects()
    if tcb.state == "closed":
        if segment.has("A") and not segment.has("R"):
            effects.reply, effects.reply_number = "refusal", segment.ack
    elif tcb.state == "synSent":
        _in_syn_sent(tcb, segment, now, effects)
    else:
        _in_sequence(tcb, segment, now, effects, replied)
    effects.discarded = effects.placement is None and (segment.length > 0 or segment.has("F"))
    return linger(tcb, effects, now)


def _in_syn_sent(tcb: Connection, segment: Segment, now: int, effects: Effects) -> None:
    """3.10.7.3."""
    good = segment.has("A") and 0 < since(segment.ack, tcb.una) <= tcb.outstanding
    if segment.has("R"):
        if good:
            tcb.end("refused")
            effects.reported, tcb.timestamped = True, False
        return
    if segment.has("A") and not good:
        effects.reply, effects.reply_number = "refusal", segment.ack
        return
    if not segment.has("S"):
        return
    _take_syn(tcb, segment, now, effects)
    tcb.window = segment.window
    tcb.largest_window = max(tcb.largest_window, segment.window)
    effects.reported = True
    if segment.has("A"):
        _acknowledge(tcb, segment, effects)
        _connect(tcb, effects)
        tcb.acknowledge(effects)
    else:
        tcb.state = "synReceived"
        effects.again = True


def _connect(tcb: Connection, effects: Effects) -> None:
    tcb.state = "finWait1" if tcb.finishing else "established"
    tcb.announced = effects.connected = effects.reported = True


def _in_sequence(tcb: Connection, segment: Segment, now: int, effects: Effects, replied: bool) -> None:
    """3.10.7.4, in its order."""
    syn, rst, ack = (segment.has(flag) for flag in "SRA")
    start, stop = since(segment.seq, tcb.received), since(segment.end, tcb.received) + segment.has("F")
    if tcb.timestamped and segment.timestamps is None and not syn and not rst:
        return  # RFC 7323 3.2
    below = segment.length and since(segment.end, tcb.received) <= 0
    if tcb.selective and below and not syn and not rst and -DUPLICATES_WITHIN < start < 0:
        effects.duplicate = segment.seq, segment.end

    # first: the window, and PAWS (RFC 7323 5.3)
    if tcb.state == "synReceived" and syn and not rst and start == -1:
        if not ack:  # our SYN with ACK was lost
            effects.again = True
            return
        if tcb.announced and 0 < since(segment.ack, tcb.una) <= tcb.outstanding:  # 3.5, figure 7
            _acknowledge(tcb, segment, effects)
            _connect(tcb, effects)
    acceptable = _in_window(tcb, segment, start, stop)
    older = segment.timestamps is not None and since(segment.timestamps[0], tcb.recent) < 0
    older = older and now // CLOCK - tcb.recent_at // CLOCK < OUTDATED // CLOCK
    if not acceptable or tcb.timestamped and older and not rst:
        if not rst:
            tcb.challenge(effects, now, replied, limited=not segment.length or syn)
        return

    # second: RST (RFC 5961 3.2; RFC 1337)
    if rst:
        if not (start == 0 or segment.seq == tcb.expected):
            tcb.challenge(effects, now, replied, limited=True)
        elif tcb.state != "timeWait":
            tcb.end("refused" if tcb.state == "synReceived" else "reset")
            effects.reported = True
        return
    # fourth: SYN (RFC 5961 4.2)
    if syn:
        tcb.challenge(effects, now, replied, limited=True)
        return
    # fifth: ACK (RFC 5961 5.2)
    if not ack:
        return
    away = since(segment.ack, tcb.una)
    if tcb.state == "synReceived":
        if not 0 < away <= tcb.outstanding:
            effects.reply, effects.reply_number = "refusal", segment.ack
            return
    elif not -tcb.largest_window <= away <= tcb.outstanding:
        tcb.challenge(effects, now, replied, limited=True)
        return
    _ordinary(tcb, segment, now, effects, older, (start, stop))


def _in_window(tcb: Connection, segment: Segment, start: int, stop: int) -> bool:
    window = since(tcb.edge, tcb.received)
    if segment.has("R"):
        # RFC 5961 3.2: its number is in the window, and the edge is not. Data on its way to memory has its number.
        exact = start == 0 or segment.seq == tcb.expected
        return exact or 0 < start < window or window == 0 and start == 1
    probe = window == 0 and start == 1
    return stop >= 0 and (start <= max(window, 0) or probe)


def _ordinary(
    tcb: Connection, segment: Segment, now: int, effects: Effects, older: bool, place: tuple[int, int]
) -> None:
    """Its ACK, window, urgent pointer and data count."""
    away = since(segment.ack, tcb.una)
    was = tcb.state
    delayed = tcb.delayed
    outstanding = tcb.outstanding
    wide = segment.window << (tcb.peer_scale if tcb.scaling else 0)
    if segment.timestamps and not older and since(tcb.last_ack, segment.seq) >= 0:  # RFC 7323 4.3 (2)
        tcb.recent, tcb.recent_at = segment.timestamps[0], now
    tcb.heard, tcb.unanswered = now // UNIT, 0
    effects.echoed = tcb.ecn and segment.has("E")
    if tcb.ecn and segment.length:
        tcb.echoing = segment.marked or tcb.echoing and not segment.has("C")

    effects.repeated = away == 0 and outstanding > 0
    no_space = not segment.length and not segment.has("F")
    effects.duplicated = effects.repeated and no_space and wide == tcb.window
    fin_acked = tcb.finishing and away >= 0 and segment.ack == (tcb.written + 1) & MASK
    if away > 0:
        _acknowledge(tcb, segment, effects)
    later = since(segment.seq, tcb.wl1)
    newer = away > 0 or later > 0 or later == 0 and since(segment.ack, tcb.wl2) >= 0
    if away >= 0 and newer:
        effects.again = tcb.window == 0
        tcb.window, tcb.wl1, tcb.wl2 = wide, segment.seq, segment.ack
        tcb.largest_window = max(tcb.largest_window, wide)
    if was == "synReceived":
        _connect(tcb, effects)
    if fin_acked:
        after = {"finWait1": "finWait2", "closing": "timeWait"}
        if was == "lastAck":
            tcb.end("finished")
        tcb.state = after.get(was, tcb.state)
        effects.reported = effects.reported or was in (*after, "lastAck")

    if segment.has("U") and was in RECEIVING and not tcb.fin_received:
        _urge(tcb, segment, effects)
    _take_data(tcb, segment, effects, was, place)
    if fin_acked and delayed and tcb.closed_by_application:
        tcb.acknowledge(effects)  # the timer has another purpose now


def _acknowledge(tcb: Connection, segment: Segment, effects: Effects) -> None:
    effects.acked = since(segment.ack, tcb.una)
    effects.reported = True
    tcb.una = segment.ack
    tcb.repeats = 0
    if tcb.urgent_out is not None and since(segment.ack, tcb.urgent_out) >= 0:
        tcb.urgent_out = None


def _urge(tcb: Connection, segment: Segment, effects: Effects) -> None:
    """3.10.7.4, sixth: RCV.UP moves forward only."""
    claim = (segment.seq + segment.urgent) & MASK
    if since(claim, tcb.consumed if tcb.urgent_in is None else tcb.urgent_in) > 0:
        tcb.urgent_in, effects.reported = claim, True


def _take_data(tcb: Connection, segment: Segment, effects: Effects, was: str, place: tuple[int, int]) -> None:
    """3.10.7.4, seventh and eighth: what is new and has space. A FIN needs none, and nothing comes behind one."""
    start, stop = place
    payload = since(segment.end, tcb.received)
    window = since(tcb.edge, tcb.received)
    if not segment.length and not segment.has("F"):
        return
    over = max(payload - window, 0)
    behind = tcb.fin is not None and since(segment.end, tcb.fin) > 0
    if was not in RECEIVING or stop <= 0 or behind or over and max(start, 0) >= window:
        tcb.acknowledge(effects)
        return
    if tcb.closed_by_application and payload > 0:  # RFC 1122 4.2.2.13
        tcb.end("aborted")
        effects.reply, effects.reported = "reset", True
        return
    first = max(start, 0)
    fin = segment.has("F") and not over
    effects.placement = (tcb.received + first) & MASK, payload - over - first, fin
    if fin and tcb.fin is None:
        tcb.fin = segment.end
    if since(segment.seq, tcb.expected) <= 0 < since(segment.end, tcb.expected) + segment.has("F"):
        tcb.expected = (tcb.received + payload - over + fin) & MASK
    tcb.placing += 1
