# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What the flow directory answers, as a dict: for requests that come one kind after the other."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from cocotb_tests.bench.layout import number
from cocotb_tests.golden.half_siphash import TupleHash, tuple_hash

Beat = dict[str, int]
Tuple = tuple[int, int, int]  # remote address, remote port, local port

FLOWS = 16
LISTENERS = 4

OUT_OF_RESOURCES = number("CloseReason", "outOfResources")
ADDRESS_IN_USE = number("CloseReason", "addressInUse")
PARAMETERS = ("startup", "steady", "initialWindow", "ssthresh", "spacing")


@dataclass
class Flow:
    number: int
    generation: int


@dataclass
class Directory:
    """`events`, `strays`, `discards` and `refused` are what is expected, in order."""

    secret: int
    now: int = 0  # ns
    table: dict[Tuple, Flow] = field(default_factory=dict)
    listeners: dict[int, Beat] = field(default_factory=dict)
    free: deque[Flow] = field(default_factory=lambda: deque(Flow(n, 1) for n in range(FLOWS)))
    connections: int = 0  # with an ephemeral port
    events: list[Beat] = field(default_factory=list)
    strays: list[Beat] = field(default_factory=list)
    discards: list[int] = field(default_factory=list)
    refused: list[Beat] = field(default_factory=list)
    syn_no_flow: int = 0
    no_connection: int = 0
    reports: int = 0  # on segments of no connection

    def hash(self, key: Tuple) -> TupleHash:
        return tuple_hash(self.secret, *key)

    def segment(self, beat: Beat) -> None:
        key = (beat["remoteIp"], beat["remotePort"], beat["localPort"])
        if key in self.table:
            self._event(beat, self.table[key])
            return
        if beat["report"]:
            self.reports += 1
            return
        syn, ack, rst = (beat[f"flags_{name}"] for name in ("syn", "ack", "rst"))
        listening = key[2] in self.listeners
        if listening and syn and not ack and not rst:
            if self.free:
                self.table[key] = self.free.popleft()
                self._event(beat, self.table[key], key, self.listeners[key[2]], fresh=1)
                return
            self.syn_no_flow += 1
        else:
            self.no_connection += 1
        if not rst and (ack or not listening):
            self.strays.append(stray_reset(beat))
        if beat["payload_held"]:
            self.discards.append(beat["payload_slot"])

    def open(self, beat: Beat) -> None:
        remote = beat["remoteIp"], beat["remotePort"]
        port = beat["localPort"]
        if port == 0:
            port = self._ephemeral(*remote)
        if (*remote, port) in self.table:
            self._refuse(beat, ADDRESS_IN_USE)
        elif not self.free:
            self._refuse(beat, OUT_OF_RESOURCES)
        else:
            self.connections += beat["localPort"] == 0
            self.table[(*remote, port)] = self.free.popleft()
            self._event({}, self.table[(*remote, port)], (*remote, port), beat, open=1)

    def listen(self, beat: Beat) -> None:
        port = beat["port"]
        if beat["remove"]:
            self.listeners.pop(port, None)
        elif port == 0 or (port not in self.listeners and len(self.listeners) == LISTENERS):
            self._refuse(beat, OUT_OF_RESOURCES)
        else:
            self.listeners[port] = beat

    def release(self, flow: int) -> None:
        key = next(key for key, entry in self.table.items() if entry.number == flow)
        generation = self.table.pop(key).generation
        self.free.append(Flow(flow, (generation + 1) % 256))

    def _ephemeral(self, remote_ip: int, remote_port: int) -> int:
        start = self.hash((remote_ip, remote_port, 0)).visible + self.connections
        ports = (0xC000 | (start + at) % 0x4000 for at in range(0x4000))
        return next(
            port for port in ports if (remote_ip, remote_port, port) not in self.table and port not in self.listeners
        )

    def _refuse(self, beat: Beat, reason: int) -> None:
        self.refused.append({"request": beat["request"], "reason": reason})

    def _event(self, beat: Beat, flow: Flow, key: Tuple | None = None, source: Beat | None = None, **kind: int) -> None:
        skipped = ("remoteMac", "remoteIp", "remotePort", "localPort")
        event = {name: value for name, value in beat.items() if name not in skipped}
        event |= {"open": 0, "fresh": 0, **kind}
        event |= {"reference_flow": flow.number, "reference_generation": flow.generation}
        if key is not None and source is not None:
            event |= {f"parameters_{name}": source[f"parameters_{name}"] for name in PARAMETERS}
            event["initialSequence_value"] = ((self.now >> 12) + self.hash(key).visible) % 2**32
        self.events.append(event)


def stray_reset(beat: Beat) -> Beat:
    """RFC 9293 3.10.7.1, group CLOSED."""
    reset = {name: beat[name] for name in ("remoteMac", "remoteIp", "remotePort", "localPort")}
    if beat["flags_ack"]:
        numbers = {"sequence_value": beat["acknowledgment_value"], "acknowledgment_value": 0, "ack": 0}
    else:
        length = beat["length"] + beat["flags_syn"] + beat["flags_fin"]
        acknowledgment = (beat["sequence_value"] + length) % 2**32
        numbers = {"sequence_value": 0, "acknowledgment_value": acknowledgment, "ack": 1}
    return {**reset, **numbers}
