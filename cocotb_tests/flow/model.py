# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The flow directory's responses as a dict: for requests that come one kind after the other."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from cocotb_tests.bench.layout import element, widths
from sim.golden.flow.half_siphash import TupleHash, tuple_hash
from sim.golden.flow.keyed_numbers import SEGMENT_SIZES, Numbers, Terms, Tuple, period_of, size_of
from sim.golden.flow.time_wait import TimeWaits, Waiting

Beat = dict[str, int]

ASSUMED_MSS = 536
FLAGS = ("fin", "syn", "rst", "psh", "ack", "urg", "ece", "cwr")
FLOWS = 16
LISTENERS = 4
TIME_WAITS = 8

OUT_OF_RESOURCES = element("CloseReason", "outOfResources")
ADDRESS_IN_USE = element("CloseReason", "addressInUse")
# Fields of a connection, and their widths.
PARAMETERS = widths("Command", "parameters_")


@dataclass
class Flow:
    number: int
    generation: int


@dataclass
class Directory:
    """`events`, `stateless_replies`, `discards` and `refused` are what is expected, in order."""

    numbers: Numbers
    now: int = 0  # ns
    timestamp_clock: int = 0
    table: dict[Tuple, Flow] = field(default_factory=dict)
    listeners: dict[int, Beat] = field(default_factory=dict)
    free: deque[Flow] = field(default_factory=lambda: deque(Flow(n, 1) for n in range(FLOWS)))
    tried: int = 0  # ephemeral ports
    handshakes: set[int] = field(default_factory=set)  # flows
    waits: TimeWaits = field(default_factory=lambda: TimeWaits(TIME_WAITS))
    ended: dict[int, Waiting | None] = field(default_factory=dict)  # flows, until their release
    time_wait_segments: int = 0
    suppressed_challenges: int = 0
    cookie_period: int | None = None  # in which the last one was sent
    events: list[Beat] = field(default_factory=list)
    stateless_replies: list[Beat] = field(default_factory=list)
    discards: list[int] = field(default_factory=list)
    refused: list[Beat] = field(default_factory=list)
    syn_no_flow: int = 0
    cookies_sent: int = 0
    cookies_accepted: int = 0
    cookies_refused: int = 0
    no_connection: int = 0
    reports: int = 0  # on segments of no connection

    def hash(self, key: Tuple) -> TupleHash:
        return tuple_hash(self.numbers.lookup_key, *key)

    def segment(self, beat: Beat) -> None:
        key = key_of(beat, beat["localPort"])
        if key in self.table:
            self._event(beat, self.table[key])
            return
        if beat["icmpError"]:
            self.reports += 1
            return
        waiting = self.waits.find(key, self.now)
        if waiting is not None:
            if not self._wait(key, waiting, beat) and beat["payload_held"]:
                self.discards.append(beat["payload_slot"])
            return
        syn, ack, rst = (beat[f"flags_{name}"] for name in ("syn", "ack", "rst"))
        listening = key[2] in self.listeners
        if listening and syn and not ack and not rst:
            if self.free and len(self.handshakes) < FLOWS // 2:
                self._accept(key, beat)
                return
            self._postpone(key, beat)
        elif listening and ack and not syn and not rst and self._returns(key, beat):
            if key in self.table:
                return
            self.syn_no_flow += 1
        else:
            self.no_connection += 1
            if not rst and (ack or not listening):
                self.stateless_replies.append(stateless_reset(beat))
        if beat["payload_held"]:
            self.discards.append(beat["payload_slot"])

    def _wait(self, key: Tuple, waiting: Waiting, beat: Beat) -> bool:
        """A segment of a connection in TIME-WAIT; whether it makes the next one."""
        verdict = waiting.judge(beat, self.now)
        if verdict.succeeds and key[2] in self.listeners:
            if not self.free or len(self.handshakes) == FLOWS // 2:
                self.syn_no_flow += 1
                return False
            self.waits.reopen(key)
            self._accept(key, beat)
            number = self.numbers.initial_sequence(key, self.now)
            self.events[-1]["initialSequence_value"] = waiting.successor(number)
            return True
        self.time_wait_segments += 1
        self.suppressed_challenges += verdict.suppressed
        if verdict.acknowledged:
            self.stateless_replies.append(time_wait_ack(beat, waiting, self._timestamp(key)))
        return False

    def _timestamp(self, key: Tuple) -> int:
        return (self.numbers.timestamp_offset(key) + self.timestamp_clock) % 2**32

    def _accept(self, key: Tuple, beat: Beat, **kind: int) -> None:
        self.table[key] = self.free.popleft()
        self.handshakes.add(self.table[key].number)
        self._event(beat, self.table[key], key, self.listeners[key[2]], fresh=1, **kind)

    def _postpone(self, key: Tuple, beat: Beat) -> None:
        """A SYN without a place: RFC 4987 3.6."""
        mss = beat["options_mss"] if beat["options_mssValid"] else ASSUMED_MSS
        cookie = self.numbers.cookie(key, Terms(beat["sequence_value"], period_of(self.now), size_of(mss)))
        reply = {name: beat[name] for name in ("remoteMac", "remoteIp", "remotePort", "localPort", "vlan")}
        acknowledgment = (beat["sequence_value"] + 1) % 2**32
        reply |= {"sequence_value": cookie, "acknowledgment_value": acknowledgment, "ack": 1, "syn": 1}
        reply |= {"rst": 0, "timestamped": 0}
        self.stateless_replies.append(reply)
        self.cookies_sent += 1
        self.cookie_period = period_of(self.now)

    def _returns(self, key: Tuple, beat: Beat) -> bool:
        """Whether the ACK brings back a cookie; if so, its connection is made where there is place."""
        if self.cookie_period is None:
            return False
        numbers = beat["sequence_value"], beat["acknowledgment_value"]
        terms = self.numbers.terms_of(key, *numbers, self.now)
        if terms is None:
            self.cookies_refused += 1
            return False
        if self.free:
            self.cookies_accepted += 1
            syn = {f"flags_{name}": int(name == "syn") for name in FLAGS} | {
                "sequence_value": terms.sequence,
                "options_mssValid": 1,
                "options_mss": SEGMENT_SIZES[terms.size],
                "options_windowScaleValid": 0,
                "payload_held": 0,
                "length": 0,
                "window": beat["window"],
            }
            self._accept(key, syn, cookie=1)
            self.events[-1]["initialSequence_value"] = (beat["acknowledgment_value"] - 1) % 2**32
            del self.events[-1]["timestampOffset"]  # no cookie had timestamps
            self._event(beat, self.table[key])
        return True

    def moves(self, now: int) -> None:
        """Time goes on."""
        self.now = now
        self.waits.moves(now)
        if self.cookie_period is not None and (period_of(now) - self.cookie_period) % 2**12 > 2:
            self.cookie_period = None

    def established(self, flow: int) -> None:
        self.handshakes.discard(flow)

    def open(self, beat: Beat) -> None:
        port = beat["localPort"] or self._ephemeral(beat)
        key = key_of(beat, port)
        if self._in_use(key):
            self._refuse(beat, ADDRESS_IN_USE)
        elif not self.free:
            self._refuse(beat, OUT_OF_RESOURCES)
        else:
            self.table[key] = self.free.popleft()
            self._event({}, self.table[key], key, beat, open=1)

    def listen(self, beat: Beat) -> None:
        port = beat["port"]
        if beat["remove"]:
            self.listeners.pop(port, None)
        elif port in self.listeners:
            self._refuse(beat, ADDRESS_IN_USE)
        elif port == 0 or len(self.listeners) == LISTENERS:
            self._refuse(beat, OUT_OF_RESOURCES)
        else:
            self.listeners[port] = beat

    def _in_use(self, key: Tuple) -> bool:
        return key in self.table or self.waits.find(key, self.now) is not None

    def key(self, flow: int) -> Tuple:
        return next(key for key, entry in self.table.items() if entry.number == flow)

    def end(self, flow: int, waiting: Waiting | None) -> None:
        """The connection has ended; one in TIME-WAIT gives up its flow."""
        self.ended[flow] = waiting

    def release(self, flow: int) -> None:
        self.handshakes.discard(flow)
        key = self.key(flow)
        generation = self.table.pop(key).generation
        waiting = self.ended.pop(flow, None)
        if waiting is not None:
            self.waits.enter(waiting, self.now)
        self.free.append(Flow(flow, (generation + 1) % 256))

    def _ephemeral(self, beat: Beat) -> int:
        """RFC 6056 3.3.3."""
        offset = self.numbers.port_offset(key_of(beat, 0))
        while True:
            port = 0x8000 | (offset + self.tried) % 0x8000
            if not self._in_use(key_of(beat, port)) and port not in self.listeners:
                break
            self.tried += 1
        self.tried += bool(self.free)
        return port

    def _refuse(self, beat: Beat, reason: int) -> None:
        self.refused.append({"request": beat["request"], "reason": reason})

    def _event(self, beat: Beat, flow: Flow, key: Tuple | None = None, source: Beat | None = None, **kind: int) -> None:
        skipped = ("remoteMac", "remoteIp", "remotePort", "localPort", "vlan")
        event = {name: value for name, value in beat.items() if name not in skipped}
        event |= {"open": 0, "fresh": 0, "cookie": 0, **kind}
        event |= {"reference_flow": flow.number, "reference_generation": flow.generation}
        if key is not None and source is not None:
            event |= {f"parameters_{name}": source[f"parameters_{name}"] for name in PARAMETERS}
            event["initialSequence_value"] = self.numbers.initial_sequence(key, self.now)
            event["timestampOffset"] = self.numbers.timestamp_offset(key)
        self.events.append(event)


def key_of(beat: Beat, local_port: int) -> Tuple:
    """A connection's 4-tuple, and its VLAN if it has one."""
    key = beat["remoteIp"], beat["remotePort"], local_port
    return (*key, beat["vlan"]) if beat["vlan"] else key


def stateless_reset(beat: Beat) -> Beat:
    """RFC 9293 3.10.7.1, group CLOSED."""
    reset = {"syn": 0, "rst": 1, "timestamped": 0} | {
        name: beat[name] for name in ("remoteMac", "remoteIp", "remotePort", "localPort", "vlan")
    }
    if beat["flags_ack"]:
        numbers = {"sequence_value": beat["acknowledgment_value"], "acknowledgment_value": 0, "ack": 0}
    else:
        length = beat["length"] + beat["flags_syn"] + beat["flags_fin"]
        acknowledgment = (beat["sequence_value"] + length) % 2**32
        numbers = {"sequence_value": 0, "acknowledgment_value": acknowledgment, "ack": 1}
    return {**reset, **numbers}


def time_wait_ack(beat: Beat, waiting: Waiting, timestamp: int) -> Beat:
    """<SEQ=SND.NXT><ACK=RCV.NXT><CTL=ACK>"""
    reply = {name: beat[name] for name in ("remoteMac", "remoteIp", "remotePort", "localPort", "vlan")}
    reply |= {"sequence_value": waiting.next, "acknowledgment_value": waiting.received, "ack": 1, "syn": 0, "rst": 0}
    if waiting.recent is None:
        return reply | {"timestamped": 0}
    return reply | {"timestamped": 1, "timestampValue": timestamp, "timestampEcho": waiting.recent}
