# SPDX-License-Identifier: BSD-2-Clause-Patent
"""sim.qlog: the record of a connection as qlog 0.3 (draft-ietf-quic-qlog-main-schema-02), which qvis reads.

The names are those of qlog's recovery events, and of draft-custura-tsvwg-careful-resume-qlog for Careful Resume, whose
phases come from the golden model. A packet number counts the segments in the order in which they leave.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any

from sim.golden.congestion.startup.resume import POLICY, Phase, ResumeState
from sim.golden.replay import states
from sim.ns3.golden import connection, model_row

MS = 1e6  # ns
SPACE = 1 << 32  # sequence numbers
PHASES = {
    Phase.NORMAL: "normal",
    Phase.RECONNAISSANCE: "reconnaissance",
    Phase.UNVALIDATED: "unvalidated",
    Phase.VALIDATING: "validating",
    Phase.RETREAT: "safe_retreat",
}
JUMPED = ("unvalidated", "validating")

Row = dict[str, str]
Event = dict[str, Any]


def document(events: Sequence[Row], title: str, startup_argument: int = 0, steady_argument: int = 0) -> dict[str, Any]:
    """The file's contents, of a run's whole record; the arguments are what the connection was opened with."""
    rows = connection(events)
    trace = {
        "vantage_point": {"type": "server", "name": "Downbeat"},
        "title": title,
        "common_fields": {"protocol_type": ["TCP"], "time_format": "absolute"},
        "events": list(_events(rows, startup_argument, steady_argument)),
    }
    return {"qlog_version": "0.3", "qlog_format": "JSON", "title": title, "traces": [trace]}


def _events(rows: Sequence[Row], startup_argument: int, steady_argument: int) -> Iterator[Event]:
    packets, metrics = _Packets(), _Metrics()
    resumes = bool(rows) and rows[0]["startup"] == POLICY.name
    phases = _Phases(startup_argument) if resumes else None
    replayed = states(map(model_row, rows), startup_argument, steady_argument) if resumes else repeat(None, len(rows))
    for row, state in zip(rows, replayed, strict=True):
        changes = [*packets.see(row), *metrics.see(row)]
        if phases and state:
            changes += phases.see(row, ResumeState.unpacked(state.startup_policy_state), packets.number)
        for name, data in changes:
            yield {"time": int(row["time_ns"]) / MS, "name": name, "data": data}


def _windows(row: Row) -> dict[str, int]:
    """Bytes."""
    return {"congestion_window": int(row["cwnd_fixed"]) >> 16, "ssthresh": int(row["ssthresh_fixed"]) >> 16}


@dataclass
class _Packets:
    number: int = 0  # number of the next packet
    outstanding: list[tuple[int, int]] = field(default_factory=list)  # sequence number behind a packet, its number

    def see(self, row: Row) -> Iterator[tuple[str, dict[str, Any]]]:
        if int(row["acked"]):
            yield from self._acknowledged(int(row["acknowledged"]))
        if length := int(row["sent_length"]):
            header = {"packet_type": "1RTT", "packet_number": self.number}
            yield "transport:packet_sent", {"header": header, "raw": {"length": length}}
            self.outstanding.append(((int(row["sent_sequence"]) + length) % SPACE, self.number))
            self.number += 1

    def _acknowledged(self, until: int) -> Iterator[tuple[str, dict[str, Any]]]:
        numbers = [number for end, number in self.outstanding if _reaches(until, end)]
        self.outstanding = [each for each in self.outstanding if not _reaches(until, each[0])]
        if numbers:
            frame = {"frame_type": "ack", "acked_ranges": _ranges(numbers)}
            yield "transport:packet_received", {"header": {"packet_type": "1RTT"}, "frames": [frame]}


def _reaches(until: int, end: int) -> bool:
    """True where sequence number `end` is at or before `until`, modulo 2^32."""
    return (until - end) % SPACE < SPACE // 2


def _ranges(numbers: Sequence[int]) -> list[list[int]]:
    """First and last of each run, of rising numbers."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ranges


@dataclass
class _Metrics:
    written: dict[str, float] = field(default_factory=dict)
    smallest: float = float("inf")

    def see(self, row: Row) -> Iterator[tuple[str, dict[str, Any]]]:
        """The metrics that have changed."""
        new: dict[str, float] = {**_windows(row), "bytes_in_flight": int(row["flight"])}
        if row["rtt_ns"]:
            self.smallest = min(self.smallest, int(row["rtt_ns"]) / MS)
            new |= {"latest_rtt": int(row["rtt_ns"]) / MS, "min_rtt": self.smallest}
        changed = {name: value for name, value in new.items() if self.written.get(name) != value}
        self.written |= changed
        if changed:
            yield "recovery:metrics_updated", changed


class _Phases:
    """Careful Resume's. A loss behind the jump begins the retreat, which ends when all that was in flight is
    acknowledged; the policy itself is done then."""

    def __init__(self, argument: int) -> None:
        self.phase, self.before = "normal", ResumeState.unpacked(argument)
        self.saved, self.saved_rtt = self.before.saved & 0xFFFF, self.before.saved_rtt / MS  # segments, ms
        self.first = self.last = 0  # unvalidated packets
        self.retreats_until: int | None = None  # sequence number

    def see(self, row: Row, after: ResumeState, packets: int) -> Iterator[tuple[str, dict[str, Any]]]:
        """`packets`: how many have left."""
        old = self.phase
        self.phase, trigger = self._phase(row, after)
        self.before = after
        if self.phase == old:
            return
        if self.phase == "unvalidated":
            self.first = packets
        if old == "unvalidated":
            self.last = max(packets - 1, 0)
        piped = {old, self.phase} & {*JUMPED, "safe_retreat"}
        data: dict[str, Any] = {"old": old, "new": self.phase}
        data["state_data"] = {
            "pipesize": after.saved if piped else int(row["flight"]),
            "first_unvalidated_packet": self.first,
            "last_unvalidated_packet": self.last,
            **_windows(row),
        }
        if self.phase == "reconnaissance":
            saved = self.saved * int(row["segment_size"])
            data["restored_data"] = {"saved_congestion_window": saved, "saved_rtt": self.saved_rtt}
        if trigger:
            data["trigger"] = trigger
        yield "recovery:careful_resume_phase_updated", data

    def _phase(self, row: Row, after: ResumeState) -> tuple[str, str]:
        """The phase after the event, and what began it."""
        new = PHASES[Phase(after.phase)]
        if self.retreats_until is not None:
            if not _reaches(int(row["acknowledged"]), self.retreats_until):
                return "safe_retreat", ""
            self.retreats_until = None
            return new, "exit_recovery"
        if row["congestion"] == "loss" and self.phase in JUMPED:
            self.retreats_until = int(row["next_send"])
            return "safe_retreat", "packet_loss"
        if row["congestion"] in ("loss", "timeout"):
            return new, "packet_loss"
        match self.phase, new:
            case "reconnaissance", "unvalidated":
                return new, "congestion_window_limited"
            case "reconnaissance", "normal":
                return new, "rtt_not_validated"
            case "unvalidated", "safe_retreat":
                return new, "path_changed"
            case "unvalidated", "validating" if row["congestion"] == "sent":
                return new, "last_unvalidated_packet_sent"
            case "unvalidated", "normal":
                return new, "rate_limited"
            case "unvalidated", "validating":
                late = (self.before.deadline - int(row["time_ns"])) % (1 << 48) >> 47
                return new, "rtt_exceeded" if late else "first_unvalidated_packet_acknowledged"
            case "validating", "normal":
                return new, "last_unvalidated_packet_acknowledged"
            case "safe_retreat", "normal":
                return new, "exit_recovery"
        return new, ""
