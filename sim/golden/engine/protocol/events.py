# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Events that are no segments: the application's calls (RFC 9293 3.10.1 to 3.10.6), memory, timers, departures, ICMP errors.

A segment that has left comes as `sent`: to choose it is the transmit stage's.
"""

from __future__ import annotations

from dataclasses import replace

from sim.golden.engine.protocol.connection import (
    MASK,
    TIMESTAMP_BYTES,
    UNIT,
    Connection,
    Effects,
    linger,
    up,
)
from sim.golden.engine.protocol.sequence import since

RANGES = 4
PROBES = 9  # keep-alive gives up behind them
BETWEEN_PROBES = 69  # units of 2^30 ns
PROBED = ("established", "finWait2", "closeWait")
WIDE = 32768  # bytes; an ACK that waits will tell the window, if so much is announced


# ---- the application


def write(tcb: Connection, length: int, now: int, *, urgent: bool = False, lost: bool = False) -> Effects:
    """`lost`, here and below: the memory has refused bytes of it, which ends the connection."""
    if not tcb.finishing:
        tcb.written = (tcb.written + length) & MASK
        if urgent:
            tcb.urgent_out = tcb.written
    return _unless_lost(tcb, Effects(), now, lost)


def consume(tcb: Connection, length: int, now: int, *, lost: bool = False) -> Effects:
    """RFC 9293 3.8.6.2.2: the peer hears of space when it may wait for that and there is enough."""
    effects = Effects()
    build = tcb.build
    announced = since(tcb.edge, tcb.received)
    if tcb.urgent_in is not None and since(tcb.urgent_in, tcb.consumed) <= length:
        tcb.urgent_in = None
    tcb.consumed = (tcb.consumed + length) & MASK
    enough = min(2 * build.mss, build.receive_bytes // 2)
    gain = since((tcb.consumed + build.receive_bytes) & MASK, tcb.edge)
    if not tcb.scaling:
        gain = min(gain, 65535 - announced)
    narrow = announced < build.receive_bytes // 2 and not (tcb.delayed and announced >= WIDE)
    if narrow and gain >= enough and not tcb.fin_received:
        tcb.acknowledge(effects)
    return _unless_lost(tcb, effects, now, lost)


def set_times(tcb: Connection, keep_alive: int, user_timeout: int, now: int) -> Effects:
    """Units of 2^30 ns; zero: none."""
    tcb.parameters = replace(tcb.parameters, keep_alive=keep_alive, user_timeout=user_timeout)
    return _other(tcb, Effects(), now)


def shut_down(tcb: Connection, now: int) -> Effects:
    effects = Effects()
    tcb.finishing = True
    _finish(tcb, effects)
    return _other(tcb, effects, now)


def close(tcb: Connection, now: int) -> Effects:
    """3.10.4. With unread data it aborts (RFC 2525 2.17)."""
    effects = Effects()
    tcb.finishing = tcb.closed_by_application = True
    on_its_way = tcb.expected != tcb.received and not (
        tcb.fin is not None and not tcb.fin_received and tcb.fin == tcb.received
    )
    if tcb.state not in ("closed", "timeWait") and (tcb.unread or on_its_way):
        return _abandon(tcb, effects, now)
    delayed = tcb.delayed
    _finish(tcb, effects)
    if tcb.state == "synSent":
        tcb.end("aborted")
        effects.reported, tcb.timestamped = True, False
    if delayed:
        tcb.acknowledge(effects)
    return _other(tcb, effects, now)


def abort(tcb: Connection, now: int) -> Effects:
    """3.10.5."""
    effects = Effects()
    tcb.closed_by_application = True
    if tcb.state == "closed":
        return _other(tcb, effects, now)
    return _abandon(tcb, effects, now)


def _abandon(tcb: Connection, effects: Effects, now: int, reason: str = "aborted") -> Effects:
    effects.reply = "" if tcb.state in ("synSent", "timeWait") else "reset"
    if tcb.state == "synSent":
        tcb.timestamped = False
    tcb.end(reason)
    effects.reported = True
    return linger(tcb, effects, now)


def _finish(tcb: Connection, effects: Effects) -> None:
    after = {"established": "finWait1", "closeWait": "lastAck"}
    effects.reported = tcb.state in after
    tcb.state = after.get(tcb.state, tcb.state)


# ---- memory


def _unless_lost(tcb: Connection, effects: Effects, now: int, lost: bool) -> Effects:
    if lost and tcb.state != "closed":
        return _abandon(tcb, effects, now, "memoryError")
    return _other(tcb, effects, now)


def place(tcb: Connection, seq: int, length: int, now: int, *, lost: bool = False) -> Effects:
    """Payload is in memory (3.10.7.4, seventh), or the turn of a FIN alone has come."""
    effects = Effects(reported=True)
    if lost:  # as if it had never come
        tcb.placing -= 1
        return _unless_lost(tcb, effects, now, lost)
    a, b = since(seq, tcb.received), since(seq, tcb.received) + length
    inside = length > 0 and any(
        since(left, tcb.received) <= a and b <= since(right, tcb.received) for left, right in tcb.ranges
    )
    if a > 0 and inside and tcb.selective:
        effects.duplicate = seq, (seq + length) & MASK
    waits = a <= 0 < b and not tcb.ranges and not tcb.delayed
    # A window that is shut by rounding has been probed.
    waits = waits and since(tcb.edge, tcb.received) >= 1 << tcb.build.scale
    finished, was = tcb.fin_received, tcb.state
    if a <= 0 <= b:
        _advance(tcb, seq, length)
    elif a > 0 and length:
        _keep(tcb, seq, length)
    if since(tcb.received, tcb.expected) > 0:
        tcb.expected = tcb.received
    if tcb.fin_received and not finished:
        after = {"established": "closeWait", "finWait1": "closing", "finWait2": "timeWait"}
        tcb.state = after.get(tcb.state, tcb.state)
        waits = False
    tcb.placing -= 1
    if waits:
        tcb.delayed, tcb.deadline = True, up(now + tcb.build.delayed_ack)
    else:
        tcb.acknowledge(effects)
    return _other(tcb, effects, now, entered=was != "timeWait")


def _joined(tcb: Connection, seq: int, length: int) -> tuple[int, int]:
    """[seq, seq + length) with the ranges that it touches, which go."""
    left, right = seq, (seq + length) & MASK
    for one in list(tcb.ranges) if length else []:
        if since(one[0], right) <= 0 <= since(one[1], left):
            tcb.ranges.remove(one)
            left = one[0] if since(one[0], left) < 0 else left
            right = one[1] if since(one[1], right) > 0 else right
    return left, right


def _advance(tcb: Connection, seq: int, length: int) -> None:
    tcb.received = _joined(tcb, seq, length)[1]
    if tcb.fin == tcb.received and not tcb.fin_received:
        tcb.received, tcb.fin_received = (tcb.received + 1) & MASK, True


def _keep(tcb: Connection, seq: int, length: int) -> None:
    """A range more than can be kept was never reported: the peer sends it again."""
    before = list(tcb.ranges)
    joined = _joined(tcb, seq, length)
    tcb.ranges = [joined, *tcb.ranges] if len(tcb.ranges) < RANGES else before


# ---- departures, timers, errors


def sent(tcb: Connection, seq: int, length: int, flags: str, ack: int, window: int, now: int) -> Effects:
    """A segment has left, with what it tells; `window` as on the wire. One that takes no number tells nothing here."""
    effects = Effects()
    span = length + ("S" in flags) + ("F" in flags)
    end = (seq + span) & MASK
    if not span:
        return _other(tcb, effects, now)
    again = since(seq, tcb.max) < 0
    if since(end, tcb.max) > 0:
        tcb.max = end
    if again and seq == tcb.una and (tcb.window or tcb.state == "synSent"):
        effects.reported = tcb.repeats == 2  # R1 (3.8.3)
        tcb.repeats = min(tcb.repeats + 1, 3)
    if "S" not in flags:
        edge = (ack + (window << (tcb.build.scale if tcb.scaling else 0))) & MASK
        if since(edge, tcb.edge) > 0:
            tcb.edge = edge
        if since(ack, tcb.last_ack) > 0:
            tcb.last_ack = ack
        if ack == tcb.received and tcb.window:  # a peer may refuse a probe of its shut window with all that it says
            tcb.delayed = False
    return _other(tcb, effects, now)


def expire(tcb: Connection, now: int) -> Effects:
    """A timer of the flow: TIME-WAIT, the delayed ACK, keep-alive (3.8.4), or none of these."""
    effects = Effects()
    if now >= tcb.deadline and tcb.waiting:
        tcb.end("finished")
        effects.reported = True
    elif now >= tcb.deadline and tcb.delayed:
        tcb.acknowledge(effects)
    unit = now // UNIT
    if tcb.parameters.keep_alive and unit - tcb.heard > (
        BETWEEN_PROBES if tcb.unanswered else tcb.parameters.keep_alive
    ):
        tcb.heard = unit
        if not tcb.outstanding and tcb.state in PROBED:
            if tcb.unanswered == PROBES:
                tcb.end("timedOut")
                effects.reported = True
            else:
                tcb.unanswered += 1
                effects.reply_number = (tcb.max - 1) & MASK
                tcb.acknowledge(effects)
    return _other(tcb, effects, now)


def give_up(tcb: Connection, now: int) -> Effects:
    """Recovery has."""
    effects = Effects()
    if tcb.state != "closed":
        if tcb.state == "synSent":
            tcb.timestamped = False
        tcb.end("timedOut")
        effects.reported = True
    return _other(tcb, effects, now)


def unreachable(tcb: Connection, seq: int, error: int, hard: bool, now: int) -> Effects:
    """RFC 5927: only about what is in flight, and an end in SYN-SENT only. `error`: its bits, which are shown."""
    effects = Effects()
    if 0 <= since(seq, tcb.una) < tcb.outstanding and tcb.state != "closed":
        tcb.error, tcb.errors, effects.reported = error, (tcb.errors + 1) % 4, True
        if tcb.state == "synSent" and hard:
            tcb.end("unreachable")
            tcb.timestamped = False
    else:
        effects.ignored_error = True
    return _other(tcb, effects, now)


def too_big(tcb: Connection, seq: int, payload: int, now: int) -> Effects:
    """RFC 1191: `payload` bytes go through, options (RFC 6691) included."""
    effects = Effects()
    size = payload - (TIMESTAMP_BYTES if tcb.timestamped else 0)
    if 0 <= since(seq, tcb.una) < tcb.outstanding and tcb.state != "synSent" and size < tcb.mss:
        tcb.mss, effects.again = size, True
    else:
        effects.ignored_error = True
    return _other(tcb, effects, now)


def anything(tcb: Connection, now: int) -> Effects:
    """An event that is of no matter to this stage."""
    return _other(tcb, Effects(), now)


def _other(tcb: Connection, effects: Effects, now: int, *, entered: bool = False) -> Effects:
    """TIME-WAIT of a connection that the application has closed needs no flow, once its ACK has left (`entered`: it is
    just leaving). A segment, which may want an ACK, does not come here."""
    if tcb.state == "timeWait" and tcb.closed_by_application and not tcb.placing and not entered:
        tcb.end("finished")
        effects.reported = effects.retires = True
    return linger(tcb, effects, now)


def deadline(tcb: Connection) -> int | None:
    """The earliest of protocol's timers, ns; a unit of time that has begun does not count."""
    times = [tcb.deadline] if tcb.waiting or tcb.delayed else []
    if tcb.parameters.keep_alive and tcb.state in PROBED:
        wait = BETWEEN_PROBES if tcb.unanswered else tcb.parameters.keep_alive
        times.append((tcb.heard + wait + 1) * UNIT)
    return min(times, default=None)
