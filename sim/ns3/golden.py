# SPDX-License-Identifier: BSD-2-Clause-Patent
"""cwnd and ssthresh of every recorded event against the golden models, bit for bit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sim.golden.replay import DELIVERY, replay


@dataclass(frozen=True)
class Comparison:
    """How many events were compared, and the first that differs."""

    events: int
    mismatch: str  # empty: none


INLINE = (
    *(f"inline_{name}" for name in ("updated", "opens", "forgets", "completes", "missed")),
    "capacity",
    "available",
)


def compare(events: Sequence[dict[str, str]], startup_argument: int = 0, steady_argument: int = 0) -> Comparison:
    """The arguments are what the connection was opened with.

    The windows are compared from the event on that makes the connection; before it they mean nothing.
    """
    rows = connection(events)
    windows = replay(map(model_row, rows), startup_argument, steady_argument)
    for number, (row, window) in enumerate(zip(rows, windows, strict=True)):
        recorded = (int(row["cwnd_fixed"]), int(row["ssthresh_fixed"]))
        if recorded != (window.cwnd, window.ssthresh):
            return Comparison(number, _describe(row, recorded, (window.cwnd, window.ssthresh)))
    return Comparison(len(rows), "" if rows else "no connection was established")


def connection(events: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """The live events from the one on that makes the connection."""
    live = [row for row in events if row["live"] == "1"]
    first = next((index for index, row in enumerate(live) if row["congestion"] == "established"), len(live))
    return live[first:]


def model_row(row: dict[str, str]) -> dict[str, str | int]:
    return {
        "event": row["event"],
        "time": row["time_ns"],
        "kind": row["congestion"],
        **{name: row[name] for name in ("requested", "estimates", "arrival", "repeated", "bwe", "ere")},
        **{name: row[name] for name in INLINE},
        **{name: row.get(name, "") for name in DELIVERY},
        "uninflated": row["uninflated"],
        "recovering": row.get("recovering", "0"),
        **{name: row.get(name, "0") for name in ("growth_limited", "rtt_full")},
        "rtt_first": row.get("rtt_first", "1"),
        "acked": row["acked"],
        "flight": row["flight"],
        "mss": row["segment_size"],
        "rtt": row["rtt_ns"],
        "initial_window": row["initial_window"],
        "initial_ssthresh": row["initial_ssthresh"],
        "startup": row["startup"],
        "steady": row["steady"],
        **{name: row[name] for name in ("sent_probe", "sent_ahead", "probe", "departure_gap", "arrival_gap")},
        "probe_round_trip": row["probe_round_trip"],
    }


def _describe(row: dict[str, str], recorded: tuple[int, int], model: tuple[int, int]) -> str:
    return (
        f"at {row['time_ns']} ns, event {row['event']} ({row['congestion']}, {row['acked']} bytes acknowledged, flight "
        f"{row['flight']}): core cwnd {recorded[0] / 65536:g}, ssthresh {recorded[1] / 65536:g}; "
        f"golden model cwnd {model[0] / 65536:g}, ssthresh {model[1] / 65536:g}"
    )
