# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Judges the notifications of `HostInterface`: each was expected, and a status or report is the newest of its flow."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cocotb_tests.host.format import name_of, unpack_notification
from sim.golden.host.ports import HostPorts

LATE = 16  # clocks that an entry may be older than its offer to the bus
FULL = 16  # responses and errors of a port that wait
MAX_PLACES = FULL + 2  # the last two places are for commands


@dataclass
class Seen:
    """A status or report that the engine made of a flow."""

    clock: int
    owner: int
    beat: dict[str, int]


@dataclass(frozen=True)
class Moment:
    """A clock, its time in ns, and each port's command head and unreported errors."""

    clock: int
    now: int
    heads: list[int]
    unreported: list[int]


class Notices:
    """`places`: of each port, the places that responses and errors hold, commands under way included."""

    def __init__(self, model: HostPorts, counts: Counter[str]) -> None:
        self.model, self.counts = model, counts
        count = len(model.ports)
        self.places = [0] * count
        self.unreported = [0] * count
        self.history: deque[Moment] = deque(maxlen=LATE)
        self.statuses: list[list[Seen]] = [[] for _ in model.flows]
        self.reports: list[list[Seen]] = [[] for _ in model.flows]
        self._expected: list[deque[dict[str, Any]]] = [deque() for _ in range(count)]
        self._refused: list[deque[dict[str, Any]]] = [deque() for _ in range(count)]
        self._delivered: dict[tuple[str, int, int], int] = {}  # kind, port, flow: place in `statuses` or `reports`

    def waits(self, port: int) -> bool:
        """A response or an error waits, and the ring has space."""
        each = self.model.ports[port]
        return each.running and bool(self._expected[port] or self._refused[port]) and each.has_space

    def may_fetch(self, port: int) -> bool:
        return self.places[port] < FULL - 1

    # ---- expected

    def expect(self, port: int, **values: Any) -> None:
        item = {"kind": "error", "request": 0, "flow": 0, "generation": 0, "state": "command", "value": 0, **values}
        if item["kind"] == "response":
            item["state"] = name_of("TcpState", 0)
        self._expected[port].append(item)
        self.counts[f"{item['kind']} {item['reason']}"] += 1

    def expect_error(self, port: int, **values: Any) -> None:
        """An error of a doorbell: it takes a place, or is counted (`unreported_are`)."""
        assert self.places[port] <= MAX_PLACES
        self.places[port] += 1
        self.expect(port, **values)

    def expect_refusal(self, port: int, *, request: int, reason: str) -> None:
        """The directory's, of an open or a listen; its order among the others is free."""
        item = {"kind": "response", "flow": 0, "generation": 0, "value": 0, "request": request, "reason": reason}
        self._refused[port].append(item)

    def expect_command(self, port: int) -> None:
        """It is being fetched, and takes a place for its response."""
        self.places[port] += 1
        assert self.places[port] <= MAX_PLACES, "a command without a place for its response"

    def unreported_are(self, port: int, count: int) -> None:
        """The core's count of errors that found no place."""
        if count == self.unreported[port]:
            return
        assert count == self.unreported[port] + 1
        error = self._expected[port].pop()
        assert error["kind"] == "error" and error["state"] != "command", f"not reported: {error}"
        self.places[port] -= 1
        assert self.places[port] >= FULL - 2, f"an error is not reported, and {self.places[port]} wait"
        self.unreported[port] = count
        self.counts["unreported"] += 1

    def port_starts(self, port: int) -> None:
        """It hears of all statuses again."""
        for kind, each, flow in self._delivered:
            if each == port and kind == "status":
                self._delivered[kind, each, flow] -= 1

    def remember(self, clock: int, now: int) -> None:
        heads = [port.command_head for port in self.model.ports]
        self.history.append(Moment(clock, now, heads, list(self.unreported)))

    # ---- received

    def judge(self, port: int, entry: bytes, past: Sequence[Moment]) -> None:
        """A notification has left for the memory. `past`: the moments at one of which it was made."""
        found = unpack_notification(entry)
        each = self.model.ports[port]
        assert found["phase"] == 1 - (each.written >> each.notification_size & 1)
        assert found["kind"] == "pathReport" or found["commandHead"] in {moment.heads[port] for moment in past}
        self.counts[found["kind"]] += 1
        if found["kind"] in ("status", "pathReport"):
            self._judge_level(port, found, past[-1].clock - LATE)
            return
        assert found["time"] in {moment.now for moment in past}
        assert found["errorsUnreported"] in {moment.unreported[port] for moment in past}
        self.places[port] -= 1
        for line in (self._expected[port], self._refused[port]):
            if line and all(found[name] == value for name, value in line[0].items()):
                line.popleft()
                return
        raise AssertionError(f"port {port}: {found}, and expected were {self._expected[port]} or {self._refused[port]}")

    def _judge_level(self, port: int, found: dict[str, Any], newest: int) -> None:
        """A flow's newest status or report. `newest`: older ones may be passed over only for one before this clock."""
        kind, flow = found["kind"], found["flow"]
        held = (self.statuses if kind == "status" else self.reports)[flow]
        key = (kind, port, flow)
        begin = max(self._delivered.get(key, -1), 0)
        for at in reversed(range(begin, len(held))):  # equal ones: the newest
            if at + 1 < len(held) and held[at + 1].clock < newest:
                continue
            beat = held[at].beat
            if kind == "status":
                names = ("acknowledged", "written", "consumed", "received")
                same = all(found[name] == beat[f"{name}_value"] for name in names)
                same &= found["state"] == name_of("HostTcpState", beat["state"])
            else:
                same = all(found[name] == beat[name] for name in ("acks", "cwnd", "losses"))
            if same and found["generation"] == beat["reference_generation"]:
                assert held[at].owner == port + 1, "another port's connection"
                self._delivered[key] = at
                return
        raise AssertionError(f"port {port}: {found} is no newest {kind} of {held[begin:]}")

    def settled(self) -> None:
        """All that was expected has come."""
        for index, port in enumerate(self.model.ports):
            if port.running:
                left = [*self._expected[index], *self._refused[index]]
                assert not left, f"port {index}: not reported {left}"
        for flow, each in enumerate(self.model.flows):
            if each.owner == 0 or not self.model.ports[each.owner - 1].running or each.heard != each.generation:
                continue
            for kind, held in (("status", self.statuses[flow]), ("pathReport", self.reports[flow])):
                if held and held[-1].owner == each.owner and held[-1].beat["reference_generation"] == each.generation:
                    delivered = self._delivered.get((kind, each.owner - 1, flow), -1)
                    assert delivered == len(held) - 1, f"{kind} of {flow}"
