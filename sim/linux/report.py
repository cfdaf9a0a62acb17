# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Results of the transfers: interop.json for programs, a table and the story of a failure for people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from rich.table import Table

from sim.linux.transfer import Result
from sim.linux.visit import Visit


@dataclass
class Report:
    """All that a run showed."""

    seed: int
    transfers: list[Result] = field(default_factory=list)
    visits: dict[str, list[Visit]] = field(default_factory=lambda: {"web": [], "iperf3": [], "nmap": [], "stalled": []})
    skipped: list[str] = field(default_factory=list)  # programs that a visit needs and that are missing, in words

    def all_visits(self) -> Iterator[Visit]:
        for visits in self.visits.values():
            yield from visits

    def as_json(self) -> dict[str, Any]:
        """All of interop.json."""
        failures = [result.failures for result in self.transfers] + [visit.failures for visit in self.all_visits()]
        return {
            "passed": not any(failures),
            "seed": self.seed,
            "transfers": [result.as_json() for result in self.transfers],
            **{part: [visit.as_json() for visit in visits] for part, visits in self.visits.items()},
            "skipped": self.skipped,
        }


def table(data: dict[str, Any]) -> Table:
    peers = ", ".join(sorted({transfer["peer"] for transfer in data["transfers"]}))
    wide = Table(title=f"Downbeat core and {peers}", title_justify="left")
    wide.add_column("direction")
    for name in ("bytes", "SHA-256", "frames", "lost in/out", "resent", "seconds"):
        wide.add_column(name, justify="right")
    for transfer in data["transfers"]:
        dropped = transfer["dropped"]
        wide.add_row(
            transfer["direction"],
            str(transfer["bytes"]),
            "equal" if transfer["sha256_equal"] else "NOT EQUAL",
            str(sum(transfer["core"].get("frames", {}).values())),
            f"{dropped.get('to_core', '?')} / {dropped.get('from_core', '?')}",
            str(transfer["retransmissions"]),
            f"{transfer['seconds']:.2f}" if transfer["seconds"] is not None else "-",
        )
    return wide


def story(transfer: dict[str, Any], seed: int, waves: str) -> str:
    """A failed transfer in words: why, the connection, the core's last events, the seed, and what to type to see the
    waves."""
    core = transfer["core"]
    lines = [
        f"Failed: {transfer['direction']}, {100 * transfer['drop']:g} % of frames dropped: {'; '.join(transfer['failures'])}"
    ]
    for name in ("connection", "counters", "frames", "dropped"):
        values = core.get(name) or {"": "none"}
        lines.append(f"  {name}: " + ", ".join(f"{key} {value}".strip() for key, value in values.items()))
    lines.append(
        f"  {core.get('bytes', '?')} bytes through the core's application; interface queue dropped {transfer['queue_drops']}"
    )
    lines += ["  last events of the flow engine:", *(f"    {line}" for line in core.get("last_events", []))]
    lines.append(f"  seed {seed}; with waves: {waves}")
    return "\n".join(lines)
