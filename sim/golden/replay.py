# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Replays one connection's recorded congestion events through the golden models, in the order of the record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from sim.golden.congestion.seam import KIND_NAMES, CongestionEvent, DeliverySample, ProbeAck, Window
from sim.golden.engine.inline_meter import InlineMeter
from sim.golden.engine.rate_meter import RateMeter
from sim.golden.policies import STARTUP, STEADY
from sim.golden.window import CongestionState, HostStart

# The fields of a row that are a sample's; its interval, in ns, is `delivery_interval`.
DELIVERY = (
    *("app_limited", "cwnd_limited", "selective", "delivered", "prior_delivered", "lost", "prior_lost"),
    *("tx_in_flight", "in_flight", "delivery_interval"),
)


def replay(
    rows: Iterable[Mapping[str, str | int]], startup_argument: int = 0, steady_argument: int = 0
) -> Iterator[Window]:
    """Yields cwnd and ssthresh (bytes with 16 fraction bits) after each row, as `states` takes them."""
    for state in states(rows, startup_argument, steady_argument):
        yield state.window


def states(
    rows: Iterable[Mapping[str, str | int]], startup_argument: int = 0, steady_argument: int = 0
) -> Iterator[CongestionState]:
    """Yields the state after each row of a whole connection: one object, which the next row changes.

    The arguments are those of the connection when it opened.

    A row has `time` (ns), `kind` (as CongestionEvent.scala spells it), `requested` (0 or 1: a policy's request
    was taken), `estimates` (0 or 1: the rate estimator took its ACK), `arrival` (ns, the stamp of its ACK), `repeated`,
    `uninflated` and `recovering` (0 or 1), `acked`, `flight` (before the event), `mss` and `initial_ssthresh`
    (bytes), `rtt` (ns, "" for no sample), `initial_window` (segments), `sent_probe`, `sent_ahead` (0 or 1),
    `departure_gap`, `arrival_gap` and `probe_round_trip` (ns), each a number or its text in a CSV file; `probe` (""
    for none, begins, whole or disturbed); and `startup` and `steady`, names of policies. The connection's policies
    are those of the first row; a row that names others is refused, unless its `event` is setPolicies or start: such
    a one also has `startup_argument` and `steady_argument`. A row may have `host_window` (segments) and
    `host_expired` (0 or 1): what counted of a host's start; `growth_limited` (0 or 1): a window that is not used is
    bounded; and `rtt_full` and `rtt_first` (0 or 1): the sample is that of a full segment, the first of its round
    trip. Those of `DELIVERY` are "" but with a sample of the delivery rate. Where rows have `bwe`, `ere` and
    `sliding`, what the core knew of the rate (bytes), other values than the golden model's are refused; so with
    `capacity` and `available` (bytes/s), beside the events that inline measurement received, `inline_updated`,
    `inline_opens`, `inline_forgets`, `inline_completes` and `inline_missed`.
    """
    state: CongestionState | None = None
    smallest, meter, inline = SmallestRoundTrip(), RateMeter(), InlineMeter()
    for number, row in enumerate(rows):
        startup, steady = str(row["startup"]), str(row["steady"])
        if state is None:
            state = CongestionState(
                STARTUP[startup],
                STEADY[steady],
                startup_policy_state=startup_argument,
                steady_policy_state=steady_argument,
            )
        wanted = any(getattr(policy, "estimates_rates", False) for policy in (state.startup, state.steady))
        host = HostStart(int(row.get("host_window", 0)), bool(int(row.get("host_expired", 0))))
        changes = row.get("event") == "setPolicies" or row.get("event") == "start" and row["kind"] == "established"
        if changes:
            arguments = int(row["startup_argument"]), int(row["steady_argument"])
            state.change(STARTUP[startup], STEADY[steady], *arguments, begins=row["event"] == "start")
        elif host.expired:
            state.startup = STARTUP[startup]
        if (state.startup.name, state.steady.name) != (startup, steady):
            raise ValueError(f"row {number} changes the policies to {startup}, {steady} without a command to do so")
        state.growth_limited = bool(int(row.get("growth_limited", 0)))
        event = _event(row)
        event = replace(event, rtt_minimum=smallest.after(event.rtt, bool(int(row.get("rtt_full", 0)))))
        meter.see(
            event,
            state.window,
            taken=bool(int(row["estimates"])),
            wanted=wanted,
            established=row["kind"] == "established" and not changes,
            arrives=row.get("event") == "estimated",
        )
        given = {name: int(row[name]) for name in ("bwe", "ere", "sliding") if name in row}
        if any(getattr(meter.rates, name) != rate for name, rate in given.items()):
            raise ValueError(f"estimates in bytes: {meter.rates}, not {given}")
        if "capacity" in row:
            inline.see(event, row)
            measured = int(row["capacity"]), int(row["available"])
            if measured != (inline.result.capacity, inline.result.available):
                raise ValueError(f"measured, in bytes/s: {inline.result}, not K {measured[0]} and A {measured[1]}")
        event = replace(
            event, bwe=meter.rates.bwe, ere=meter.rates.ere, sliding=meter.rates.sliding, inline=inline.result
        )
        state.see(event, requested=bool(int(row["requested"])), host=host)
        if row.get("event") == "calculated" and row["kind"] == "none":
            state.drop_response()
        yield state


@dataclass
class SmallestRoundTrip:
    """The smallest sample of full segments as soon as there is one; before that, of all (RoundTrip.scala)."""

    ns: int = CongestionEvent.rtt_minimum
    full: bool = False

    def after(self, sample: int | None, full: bool) -> int:
        """ns, with this event's sample, if it has one."""
        if sample is not None and full and not self.full:
            self.ns, self.full = sample, True
        elif sample is not None and full == self.full:
            self.ns = min(self.ns, sample)
        return self.ns


def _event(row: Mapping[str, str | int]) -> CongestionEvent:
    return CongestionEvent(
        kind=KIND_NAMES[str(row["kind"])],
        acked_bytes=int(row["acked"]),
        uninflated=bool(int(row["uninflated"])),
        recovering=bool(int(row.get("recovering", 0))),
        flight=int(row["flight"]),
        segment_size=int(row["mss"]),
        now=int(row["time"]),
        arrival=int(row["arrival"]),
        repeated=bool(int(row["repeated"])),
        initial_window=int(row["initial_window"]),
        initial_ssthresh=int(row["initial_ssthresh"]),
        rtt=int(row["rtt"]) if row["rtt"] != "" else None,
        rtt_first=bool(int(row.get("rtt_first", 1))),
        sent_probe=bool(int(row["sent_probe"])),
        sent_ahead=bool(int(row["sent_ahead"])),
        probe=_probe(row) if row["probe"] else None,
        delivery=_delivery(row) if row.get("delivered", "") != "" else None,
    )


def _delivery(row: Mapping[str, str | int]) -> DeliverySample:
    return DeliverySample(**{name.removeprefix("delivery_"): int(row[name]) for name in DELIVERY})


def _probe(row: Mapping[str, str | int]) -> ProbeAck:
    return ProbeAck(
        begins=row["probe"] == "begins",
        disturbed=row["probe"] == "disturbed",
        departure_gap=int(row["departure_gap"]),
        arrival_gap=int(row["arrival_gap"]),
        round_trip=int(row["probe_round_trip"]),
    )
