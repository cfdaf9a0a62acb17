# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Draws what happens to a connection next: mostly what goes on with it, else what lies one byte before or behind each
edge, old or unknown numbers, and any mix of flags."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from cocotb_tests.bench.layout import element
from cocotb_tests.engine.crowd import CLOCK, Crowd
from cocotb_tests.engine.lane import BUILD, Apply, Lane
from cocotb_tests.engine.segment import MODULUS
from sim.golden.engine.protocol import arrival, events
from sim.golden.engine.protocol.connection import Connection, Effects, Parameters, Segment
from sim.golden.engine.protocol.sequence import since
from sim.golden.engine.retransmission import Recovery
from sim.golden.engine.round_trip import RoundTrips

SEND_BYTES = 65536
HARD = (2, 3)
TIMEOUTS = (0, 0, 5, 30)  # units of 2^30 ns
UNREACHABLE, TOO_BIG = 1, 2  # IcmpErrorKind
NEAR_WRAP = (0, 1, 2**31, MODULUS - 1, MODULUS - 2000, 2**31 - 1500)


@dataclass
class Habits:
    """How a lane's peer and application are, drawn for each connection."""

    timestamps: bool
    scale: int | None
    sack: bool
    mss: int | None
    ecn: bool
    reckless: float  # share of segments that are drawn at the edges
    reads: float
    high: int = 0  # the end of what the peer has sent
    clock: int = 0  # its TSval
    iss: int = 0
    fin: bool = False


class Peer:
    """The peer, the network, the application and the timers of one lane."""

    def __init__(self, crowd: Crowd, lane: Lane, draw: random.Random) -> None:
        self.crowd, self.lane, self.draw = crowd, lane, draw
        self.habits = self._habits()

    def _habits(self) -> Habits:
        draw = self.draw
        return Habits(
            timestamps=draw.random() < 0.6,
            scale=draw.choice((None, 0, 1, 7, 14)),
            sack=draw.random() < 0.6,
            mss=draw.choice((None, 1460, 1460, 9000, 200)),
            ecn=draw.random() < 0.5,
            reckless=draw.choice((0.05, 0.3, 0.6)),
            reads=draw.choice((0.02, 0.2)),
            clock=draw.choice((draw.getrandbits(32), *NEAR_WRAP)),
            iss=draw.choice((draw.getrandbits(32), *NEAR_WRAP)),
        )

    @property
    def tcb(self) -> Connection:
        return self.lane.tcb

    def act(self) -> None:
        """Puts one event, or none."""
        draw, lane, tcb, now = self.draw, self.lane, self.tcb, self.crowd.now
        if not tcb.in_use:
            if draw.random() < 0.1:
                self._stale()
            elif draw.random() < 0.5:
                self._open()
            return
        if lane.deadline is not None and lane.deadline <= now and draw.random() < 0.7:
            self._put("timers", "timer", lambda _: events.expire(tcb, now))
        elif lane.booked and draw.random() < 0.5:
            lane.booked = False
            self._put("grants", "grant", lambda _: events.anything(tcb, now))
        elif lane.unplaced and draw.random() < 0.5:
            self._place()
        elif lane.departures and draw.random() < 0.7:
            self._depart()
        else:
            choices = (self._segment, self._write, self._read, self._command, self._error, self._stale, self._spurious)
            draw.choices(choices, (20, 2, 20 * self.habits.reads, 0.3, 0.4, 0.3, 0.2))[0]()

    def _put(self, source: str, event: str, apply: Apply | None, **values: int) -> None:
        self.crowd.put(self.lane, source, event, apply, **values)

    # ---- a connection begins

    def _open(self) -> None:
        draw, lane, now = self.draw, self.lane, self.crowd.now
        self.habits = habits = self._habits()
        generation = (lane.tcb.generation + 1) % 256
        initial = draw.choice((draw.getrandbits(32), *NEAR_WRAP))
        offset = draw.choice((0, draw.getrandbits(32)))
        chosen = Parameters(
            draw.random() < 0.6, keep_alive=draw.choice((0, 0, 1, 3)), user_timeout=draw.choice(TIMEOUTS)
        )
        values = {
            "initialSequence_value": initial,
            "timestampOffset": offset,
            "parameters_initialWindow": 10,
            "parameters_ssthresh": 65536,
            "parameters_ecn": int(chosen.ecn),
            "parameters_keepAlive": chosen.keep_alive,
            "parameters_userTimeout": chosen.user_timeout,
            "parameters_noDelay": int(draw.random() < 0.5),
            "parameters_renoRecovery": int(draw.random() < 0.3),
        }
        values |= {f"parameters_recovery_{name}": int(draw.random() < 0.3) for name in ("noRack", "noUndo", "noPrr")}
        if lane.recovers:
            habits.sack = False
            values["parameters_recovery_noUndo"] = 1
            single = bool(values["parameters_recovery_noRack"])
            trips = RoundTrips(single, records=lane.log)
            lane.recovery = Recovery(bool(values["parameters_renoRecovery"]), trips=trips)
        lane.booked, lane.deadline = False, None
        lane.departures.clear()
        if draw.random() < 0.5:

            def opens(_: bool) -> Effects:
                lane.tcb, effects = arrival.active(BUILD, generation, now, initial, offset, chosen)
                return effects

            self._put("directory", "open", opens, **values, open=1, reference_generation=generation)
            return
        syn = self._syn("S" + ("EC" if habits.ecn else ""))

        def listens(_: bool) -> Effects:
            lane.tcb, effects = arrival.passive(BUILD, generation, syn, now, initial, offset, chosen)
            return effects

        self.crowd.segment(lane, syn, listens, **values, fresh=1, reference_generation=generation)

    def _syn(self, flags: str, **fields: int) -> Segment:
        habits = self.habits
        stamp = (habits.clock, 0) if habits.timestamps else None
        habits.high = (habits.iss + 1) % MODULUS
        window = self.draw.choice((65535, 65535, 1000, 0))
        syn = Segment(
            habits.iss, flags, window=window, timestamps=stamp, mss=habits.mss, scale=habits.scale, sack=habits.sack
        )
        return replace(syn, **fields)  # type: ignore[arg-type]

    # ---- segments

    def _arrive(self, segment: Segment) -> None:
        tcb, now = self.tcb, self.crowd.now
        self.crowd.segment(self.lane, segment, lambda replied: arrival.arrive(tcb, segment, now, replied))

    def _segment(self) -> None:
        draw, tcb, habits = self.draw, self.tcb, self.habits
        if tcb.state == "synSent" and draw.random() < 0.7:
            ack = tcb.max if draw.random() < 0.8 else self._acknowledgment()
            flags = draw.choice(("SA", "SA", "SAE", "S", "SEC", "SAEC", "RA", "R", "A"))
            self._arrive(self._syn(flags, ack=ack if "A" in flags else 0))
            return
        if tcb.state == "synReceived" and draw.random() < 0.1:
            self._arrive(self._syn(draw.choice(("S", "SA")), ack=self._acknowledgment()))
            return
        if tcb.outstanding and tcb.window and draw.random() < 0.5 * self.lane.recovers:  # a duplicate ACK
            window = tcb.window >> (tcb.peer_scale if tcb.scaling else 0)
            ack = tcb.una if draw.random() < 0.8 else self._acknowledgment()
            self._arrive(Segment(tcb.expected, "A", ack, 0, window, timestamps=self._timestamps(edges=False)))
            return
        length = draw.choice((0, 0, 0, 1, 2, draw.randint(1, 1460), 1460, 1460))
        edges = draw.random() < habits.reckless
        seq = self._number(length) if edges else tcb.expected
        flags = self._flags((seq + length) % MODULUS, edges)
        ack = self._acknowledgment() if edges or draw.random() < 0.3 else tcb.max
        if flags == "S":
            ack = 0
        fields = {"mss": habits.mss, "scale": habits.scale, "sack": habits.sack} if "S" in flags else {}
        segment = Segment(
            seq,
            flags,
            ack if "A" in flags else 0,
            length,
            self._window(),
            draw.choice((0, 1, length, length + 1, draw.randrange(65536))) if "U" in flags else 0,
            self._timestamps(edges),
            duplicate_sack=draw.random() < 0.03,
            marked=draw.random() < 0.1,
            **fields,  # type: ignore[arg-type]
        )
        self._arrive(segment)

    def _number(self, length: int) -> int:
        draw, tcb = self.draw, self.tcb
        places = [tcb.received, tcb.edge, tcb.expected, tcb.last_ack, tcb.wl1]
        places += [edge for held in tcb.ranges for edge in held]
        places += [] if tcb.fin is None else [tcb.fin]
        at = draw.choice(places) + draw.choice((-1, 0, 1)) - draw.choice((0, length))
        far = (tcb.received + draw.choice((2**31, 2**31 - 1, draw.getrandbits(32), draw.randrange(66000))),)
        return draw.choices((at, draw.choice(far)), (8, 1))[0] % MODULUS

    def _acknowledgment(self) -> int:
        draw, tcb = self.draw, self.tcb
        within = tcb.una + draw.randint(0, max(tcb.outstanding, 0))
        oldest = tcb.una - tcb.largest_window
        places = (tcb.una - 1, tcb.una, tcb.una + 1, tcb.max, tcb.max + 1, oldest, oldest - 1, tcb.written + 1)
        return draw.choice((within, within, tcb.max, *places, draw.getrandbits(32))) % MODULUS

    def _flags(self, end: int, edges: bool) -> str:
        draw, tcb, habits = self.draw, self.tcb, self.habits
        base = "A" if draw.random() < (0.93 if edges else 0.995) else ""
        odd = 0.06 if edges else 0.003
        flags = base + "".join(
            letter
            for letter, share in (("R", odd / 2), ("S", odd), ("P", 0.3), ("U", 0.1), ("E", 0.1), ("C", 0.1))
            if draw.random() < share
        )
        # The peer ends its stream once, behind all that it has sent.
        behind = since(end, habits.high) >= 0
        ends = draw.random() < 0.8 if tcb.fin == end else tcb.fin is None and behind and draw.random() < 0.02
        return flags + ("F" if ends and "S" not in flags and "R" not in flags else "")

    def _window(self) -> int:
        draw = self.draw
        window = draw.choice((65535, 65535, 3000, draw.randrange(65536), draw.choice((0, 1, 100))))
        return window >> (self.habits.scale or 0) if self.tcb.scaling and draw.random() < 0.8 else window

    def _timestamps(self, edges: bool) -> tuple[int, int] | None:
        draw, tcb = self.draw, self.tcb
        if not tcb.timestamped:
            return (draw.getrandbits(32), 0) if draw.random() < 0.02 else None
        if draw.random() < 0.02:
            return None
        away = (
            draw.choice((0, -1, 1, -(2**31), -(2**31) + 1, draw.choice((2**31 - 1, 5))))
            if edges
            else draw.choice((0, 1))
        )
        echo = tcb.tsval(self.crowd.now) - draw.choice((0, 1, 50))
        return (tcb.recent + away) % MODULUS, echo % MODULUS

    # ---- memory, application, timers, network

    def _depart(self) -> None:
        tcb, now = self.tcb, self.crowd.now
        end = self.lane.departures.popleft()
        values = {"end_value": end, "stamp_ns": now % CLOCK}
        self._put("departed", f"departed {end}", lambda _: events.anything(tcb, now), **values)

    def _place(self) -> None:
        tcb, now = self.tcb, self.crowd.now
        seq, length, fin = self.lane.unplaced.popleft()
        lost = self._loses()
        values = {"sequence_value": seq, "length": length, "fin": int(fin), "memoryError": int(lost)}
        self._put("placed", f"placed {values}", lambda _: events.place(tcb, seq, length, now, lost=lost), **values)

    def _loses(self) -> bool:
        """The memory refuses."""
        return self.draw.random() < 0.005

    def _write(self) -> None:
        draw, tcb, now = self.draw, self.tcb, self.crowd.now
        space = SEND_BYTES - since(tcb.written, tcb.una)
        if not tcb.announced or tcb.closed_by_application or space <= 0:
            return
        length = min(space, draw.choice((1, 100, 1460, draw.randint(1, 9000))))
        urgent, lost = draw.random() < 0.2, self._loses()

        def apply(_: bool) -> Effects:
            return events.write(tcb, length, now, urgent=urgent, lost=lost)

        self._application("written", apply, length=length, urgent=int(urgent), memoryError=int(lost))

    def _read(self) -> None:
        draw, tcb, now = self.draw, self.tcb, self.crowd.now
        if not tcb.announced or tcb.closed_by_application or not tcb.unread or not self.lane.synchronized:
            return
        length = draw.choice((tcb.unread, draw.randint(1, tcb.unread)))
        lost = self._loses()

        def apply(_: bool) -> Effects:
            return events.consume(tcb, length, now, lost=lost)

        self._application("consumed", apply, length=length, memoryError=int(lost))

    def _command(self) -> None:
        draw, tcb, now = self.draw, self.tcb, self.crowd.now
        if not tcb.announced or tcb.closed_by_application:
            return
        kind = "close" if tcb.state == "closed" else draw.choice(("shutdown", "close", "close", "abort", "setTimes"))
        if kind == "setTimes":
            keep_alive, user_timeout = draw.choice((0, 1, 3)), draw.choice(TIMEOUTS)
            length = user_timeout << 16 | keep_alive  # ConnectionTimes
            self._application(kind, lambda _: events.set_times(tcb, keep_alive, user_timeout, now), length=length)
            return
        if tcb.unread and kind == "close" and draw.random() < 0.8:
            return
        call = {"shutdown": events.shut_down, "close": events.close, "abort": events.abort}[kind]
        self._application(kind, lambda _: call(tcb, now))

    def _application(self, kind: str, apply: Apply, **values: int) -> None:
        self._put("application", f"{kind} {values}", apply, kind=element("EventKind", kind), **values)

    def _error(self) -> None:
        draw, tcb, now = self.draw, self.tcb, self.crowd.now
        seq = draw.choice((tcb.una, tcb.una - 1, tcb.max - 1, tcb.max, tcb.una + 2**18, tcb.una + 2**31)) % MODULUS
        if draw.random() < 0.3:
            size = draw.choice((tcb.mss, tcb.mss + 12, tcb.mss + 13, tcb.mss - 1, 1400))
            if size < 200:
                return

            def narrows(_: bool) -> Effects:
                return events.too_big(tcb, seq, size, now)

            values = {"icmpError": TOO_BIG, "window": size, "sequence_value": seq}
            self._put("directory", f"tooBig {seq} {size}", narrows, **values)
            return
        kind, code = draw.choice(("unreachable", "timeExceeded", "parameterProblem")), draw.choice((0, 1, 2, 3, 4))
        error = element("NetworkErrorKind", kind) | code << 2
        hard = kind == "unreachable" and code in HARD

        def fails(_: bool) -> Effects:
            return events.unreachable(tcb, seq, error, hard, now)

        values = {"icmpError": UNREACHABLE, "window": error, "sequence_value": seq}
        self._put("directory", f"{kind} {code} {seq}", fails, **values)

    def _stale(self) -> None:
        """A segment or an error for the flow's last connection, or for one to come."""
        draw, tcb = self.draw, self.tcb
        generation = (tcb.generation + draw.choice((-1, 1, 128))) % 256
        segment = Segment(tcb.expected, "A", tcb.max, draw.choice((0, 10)), 1000)
        if draw.random() < 0.7:
            self.crowd.segment(self.lane, segment, None, reference_generation=generation)
        else:
            values = {"icmpError": UNREACHABLE, "window": 1, "sequence_value": tcb.una}
            self._put("directory", "stale error", None, **values, reference_generation=generation)

    def _spurious(self) -> None:
        """A timer that is early, or a grant that nobody has booked."""
        tcb, now = self.tcb, self.crowd.now
        if self.draw.random() < 0.5:
            self._put("timers", "early timer", lambda _: events.expire(tcb, now))
        else:
            self._put("grants", "grant of nothing", lambda _: events.anything(tcb, now))

    def heard(self) -> None:
        """After the comparison: how far the peer's stream goes."""
        for seq, length, _ in self.lane.unplaced:
            if since((seq + length) % MODULUS, self.habits.high) > 0:
                self.habits.high = (seq + length) % MODULUS
