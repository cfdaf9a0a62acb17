# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The engine's outputs for one event, compared with the golden models of protocol and recovery."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from cocotb_tests.bench.layout import layout
from cocotb_tests.engine.endpoint import LETTERS
from cocotb_tests.engine.lane import BUILD, Lane
from cocotb_tests.engine.segment import MODULUS
from sim.golden.engine.protocol import events
from sim.golden.engine.protocol.connection import Effects
from sim.golden.engine.protocol.sequence import since
from sim.golden.engine.retransmission import Before, Sent

STATES = {value: name for name, value in layout()["enums"]["TcpState"].items()}
REASONS = {value: name for name, value in layout()["enums"]["CloseReason"].items()}
KINDS = {value: name for name, value in layout()["enums"]["EventKind"].items()}
CONGESTION = {value: name for name, value in layout()["enums"]["CongestionEventKind"].items()}
NEAR = 2**18  # bytes; some numbers are kept by their low bits


class Comparison:
    """One lane's event and all that it has led to, against the model."""

    def __init__(self, lane: Lane, now: int) -> None:
        self.lane, self.now, self.tcb = lane, now, lane.tcb
        self.reported: list[dict[str, Any]] = []
        self.suppressed = self.ignored = 0
        self.descriptors = deque(lane.seen.descriptors)
        self.granted: dict[str, int] | None = None

    def compare(self) -> tuple[int, int]:
        lane = self.lane
        lane.check(bool(lane.seen.trace), "the engine has not seen it")
        first, *followers = lane.seen.trace
        self._first(first)
        for record in followers:
            kind = KINDS[record["kind"]]
            if kind == "sent":
                self._sent(record)
            elif kind == "failed":
                lane.check(lane.recovery is None or lane.recovery.gives_up, "the connection is given up")
                self._event(record, lambda: events.give_up(self.tcb, self.now))
            elif kind == "measured":  # a calculation unit's
                self._event(record, lambda: events.anything(self.tcb, self.now))
            else:
                lane.check(False, f"an event {kind} comes by itself")
        given_up = any(KINDS[record["kind"]] == "failed" for record in followers)
        lane.check(given_up or lane.recovery is None or not lane.recovery.gives_up, "the connection is not given up")
        if given_up and lane.recovery is not None:
            lane.recovery.gives_up = False
        lane.check(not self.descriptors, f"it sends {self.descriptors}")
        found = [self._status(beat, reported) for beat, reported in _pairs(lane.seen.status, self.reported)]
        lane.same("statuses", found, self.reported)
        self._deadline()
        return self.suppressed, self.ignored

    def _first(self, record: dict[str, int]) -> None:
        lane = self.lane
        if lane.apply is None:
            lane.same("live", record["live"], 0)
            self.ignored += KINDS[record["kind"]] in ("unreachable", "tooBig")
            lane.check(all(beat["discard"] for beat in lane.seen.placements), "a stale segment is placed")
            return
        apply, replied = lane.apply, self._sends() and not lane.grants
        effects = self._event(record, lambda: apply(replied), **lane.facts)
        lane.same("placements", [_placement(beat) for beat in lane.seen.placements], _placements(effects))
        lane.unplaced += [effects.placement] if effects.placement else []

    def _sends(self) -> bool:
        return bool(self.descriptors) and not self.descriptors[0]["release"]

    def _sent(self, record: dict[str, int]) -> None:
        """The segment that a grant has sent, or that of a RST or of TIME-WAIT's first ACK, which count no numbers."""
        if not self.tcb.in_use:
            self.lane.same("live", record["live"], 0)
            return
        beat, self.granted = self.granted, None
        if beat is None:
            self._event(record, lambda: events.anything(self.tcb, self.now))
            return
        flags = "".join(letter for letter in "SF" if beat[f"flags_{LETTERS[letter]}"])
        seq, length = beat["sequence_value"], beat["length"]
        numbers = (seq, length, flags, beat["acknowledgment_value"], beat["window"])
        self.lane.departures.append((seq + length + len(flags)) % MODULUS)
        left = Sent(seq, length, length + len(flags))
        self._event(record, lambda: events.sent(self.tcb, *numbers, self.now), sent=left)

    def _event(self, record: dict[str, int], apply: Callable[[], Effects], **facts: Any) -> Effects:
        """The event that `record` is of: the model takes it, and both are compared."""
        lane, before = self.lane, Before.of(self.tcb)
        if not (self.tcb.in_use or KINDS[record["kind"]] in ("open", "segment")):
            lane.same("live", record["live"], 0)
            return Effects()
        effects = apply()
        tcb = self.tcb = lane.tcb
        if effects.opened:
            lane.synchronized = False
        lane.synchronized |= effects.synchronized
        lane.same("live", record["live"], 1)
        if lane.grants and self.granted is None and record is lane.seen.trace[0] and self._sends():
            self.granted = self.descriptors.popleft()
            self._segment(self.granted)
        lane.same("state", STATES[record["state"]], tcb.state)
        lane.same("acknowledged", record["acknowledged_value"], tcb.una)
        lane.same("highestSent", record["highestSent_value"], tcb.max)
        if lane.synchronized:
            lane.same("received", record["received_value"], tcb.received)
            lane.same("sendWindow", record["sendWindow"], tcb.window)
        self.suppressed += effects.suppressed
        self.ignored += effects.ignored_error
        if effects.reply:
            lane.check(bool(self.descriptors), f"no {effects.reply} is sent")
            self._reply(self.descriptors.popleft(), effects)
        if effects.reported and tcb.announced:
            self.reported.append(self._reported())
        if lane.recovery is not None:
            kind = lane.recovery.step(KINDS[record["kind"]], tcb, before, effects, self.now, **facts)
            if not effects.opened:
                lane.same("kind for congestion", CONGESTION[record["congestion_kind"]], kind)
                lane.kinds[kind] += 1
            sample = record["congestion_rtt"] if record["congestion_rttValid"] else None
            lane.same("round trip", sample, lane.recovery.sample)
            lane.same("smallest round trip", record["congestion_rttMinimum"], lane.recovery.trips.minimum)
        if not tcb.in_use:
            lane.check(
                bool(self.descriptors) and self.descriptors.popleft()["release"] == 1, "the flow is not released"
            )
            self._ended(effects.retires)
        return effects

    def _ended(self, retires: bool) -> None:
        """`retires`: TIME-WAIT goes on without the flow, by these numbers."""
        lane, tcb = self.lane, self.tcb
        lane.same("ends", len(lane.seen.ended), 1)
        beat = lane.seen.ended[0]
        lane.same("waits", beat["waits"], int(retires))
        if retires:
            numbers = [beat[f"numbers_{name}"] for name in ("next_value", "received_value", "timestamped")]
            lane.same("numbers", numbers, [tcb.max, tcb.received, int(tcb.timestamped)])
            lane.same("TS.Recent", beat["numbers_recent"] * tcb.timestamped, tcb.recent * tcb.timestamped)

    # ---- segments

    def _segment(self, beat: dict[str, int]) -> None:
        """The parts of any segment that are protocol's."""
        lane, tcb = self.lane, self.tcb
        syn = tcb.state in ("synSent", "synReceived")
        lane.same("generation", beat["reference_generation"], tcb.generation)
        lane.same("ACK", beat["flags_ack"], int(tcb.state != "synSent"))
        if tcb.state != "synSent":
            lane.same("acknowledgment", beat["acknowledgment_value"], tcb.received)
        if lane.synchronized:
            lane.same("window", beat["window"], tcb.on_wire(tcb.next_edge(tcb.received, tcb.consumed)))
            blocks = [] if syn else tcb.ranges if tcb.selective else []
            lane.same("SACK", _blocks(beat, tcb.received), list(blocks))
        self._timestamps(beat)
        urgent = tcb.urgent_out is not None and not beat["flags_syn"]
        lane.same("urgent", beat["urgent"], int(urgent))
        if urgent:
            lane.same("urgentEnd", (beat["urgentEnd"] - (tcb.urgent_out or 0)) % NEAR, 0)

    def _timestamps(self, beat: dict[str, int]) -> None:
        lane, tcb = self.lane, self.tcb
        offers = tcb.timestamped and not (beat["flags_rst"] and tcb.state == "synSent")
        lane.same("timestamped", beat["timestamped"], int(offers))
        if offers:
            echo = tcb.recent if tcb.state != "synSent" and beat["flags_ack"] else 0
            lane.same("timestamps", (beat["timestampValue"], beat["timestampEcho"]), (tcb.tsval(self.now), echo))

    def _reply(self, beat: dict[str, int], effects: Effects) -> None:
        lane, tcb = self.lane, self.tcb
        flags = "".join(letter for letter, name in LETTERS.items() if beat[f"flags_{name}"])
        expected = {"ack": "AE" if tcb.echoing else "A", "reset": "RA", "refusal": "R"}[effects.reply]
        lane.same("flags", flags, expected)
        lane.same("length", beat["length"], 0)
        plain = tcb.max if effects.reply_number is None else effects.reply_number
        numbers = {plain}
        beyond = tcb.outstanding - tcb.window
        if effects.reply != "refusal" and beyond > 0 and tcb.state not in ("synSent", "synReceived"):
            # RFC 9293 3.10.7.4, first; an edge that goes back by less than a unit was perhaps rounded (RFC 7323 2.4).
            edge = (tcb.una + tcb.window) % MODULUS
            numbers = {edge} if beyond >= 1 << (tcb.peer_scale if tcb.scaling else 0) else {edge, plain}
        lane.check(beat["sequence_value"] in numbers, f"its number is {beat['sequence_value']}, not of {numbers}")
        self._timestamps(beat)
        if effects.reply == "refusal":
            lane.same("acknowledgment", beat["acknowledgment_value"], 0)
            return
        lane.same("acknowledgment", beat["acknowledgment_value"], tcb.received)
        if effects.reply != "ack":
            return
        lane.same("window", beat["window"], tcb.on_wire(tcb.edge))
        blocks = list(tcb.ranges) if tcb.selective else []
        blocks = ([effects.duplicate] if effects.duplicate else []) + blocks
        lane.same("SACK", _blocks(beat, tcb.received), blocks[:4])

    # ---- status and deadline

    def _reported(self) -> dict[str, Any]:
        tcb = self.tcb
        reported: dict[str, Any] = {"state": tcb.state, "reason": tcb.reason, "acknowledged_value": tcb.una}
        reported |= {"written_value": tcb.written, "errors": tcb.errors, "struggling": int(tcb.repeats == 3)}
        reported |= {"error_kind": tcb.error & 3, "error_code": tcb.error >> 2}
        reported |= {"urgent": int(tcb.urgent_in is not None), "peerFinished": int(tcb.fin_received)}
        if self.lane.synchronized:
            reported |= {"received_value": tcb.received, "consumed_value": tcb.consumed}
        if tcb.urgent_in is not None:
            reported["urgentEnd_value"] = tcb.urgent_in
        return reported

    @staticmethod
    def _status(beat: dict[str, int], reported: dict[str, Any]) -> dict[str, Any]:
        named = dict(beat) | {"state": STATES[beat["state"]], "reason": REASONS[beat["reason"]]}
        return {name: named[name] for name in reported} if reported else named

    def _deadline(self) -> None:
        """Recovery may have an earlier one while data waits or is outstanding."""
        lane, tcb = self.lane, self.tcb
        if not tcb.in_use:
            return
        own = events.deadline(tcb)
        if lane.recovery is not None:
            other = lane.recovery.earliest()
            lane.same("deadline", lane.deadline, min((at for at in (own, other) if at is not None), default=None))
            return
        waits = tcb.outstanding or since(tcb.written, tcb.una) > 0 or tcb.finishing
        if own is not None and waits:
            lane.check(lane.deadline is not None and lane.deadline <= own, f"deadline {lane.deadline}, not up to {own}")
        elif not waits or tcb.state == "closed":
            lane.same("deadline", lane.deadline, own)


def _pairs(beats: list[dict[str, int]], reported: list[dict[str, Any]]) -> list[tuple[dict[str, int], dict[str, Any]]]:
    return [(beat, reported[i] if i < len(reported) else {}) for i, beat in enumerate(beats)]


def _placement(beat: dict[str, int]) -> tuple[Any, ...]:
    if beat["discard"]:
        return ("discard",)
    return beat["sequence_value"], beat["length"], bool(beat["fin"])


def _placements(effects: Effects) -> list[tuple[Any, ...]]:
    return [("discard",)] if effects.discarded else [effects.placement] if effects.placement else []


def _blocks(beat: dict[str, int], origin: int) -> list[tuple[int, int]]:
    def at(name: str, i: int) -> int:
        value = beat[f"sack_{i}_{name}"]
        below = 2 * BUILD.receive_bytes if beat["duplicateBelow"] and i == 0 and value else 0
        return (origin + value - below) % MODULUS

    return [(at("left", i), at("right", i)) for i in range(4) if beat[f"sack_{i}_valid"]]
