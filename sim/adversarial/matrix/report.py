# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Results of the cells: a table and the story of each failure for people."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from rich.table import Table

Result = dict[str, Any]


def table(results: Sequence[Result], title: str) -> Table:
    """A row for each role and loss: cells, those byte-exact, their seconds (median and worst), segments sent
    again, the sender's longest idle time by its RTO, and the longest that data waited for the core's ACK."""
    wide = Table(title=title, title_justify="left")
    wide.add_column("core is", no_wrap=True)
    for name in ("loss", "cells", "equal", "secs", "worst", "again", "idle", "ACK ms"):
        wide.add_column(name, justify="right", no_wrap=True)
    last = ""
    for (role, loss), group in groupby(sorted(results, key=_key), key=_key):
        if last and role != last:
            wide.add_section()
        last = role
        rows = list(group)
        wide.add_row(
            role, f"{100 * loss:g} %", str(len(rows)), str(sum(row["sha256_equal"] for row in rows)), *_figures(rows)
        )
    return wide


def _key(result: Result) -> tuple[str, float]:
    return result["role"], result["loss"]


def _figures(rows: Sequence[Result]) -> list[str]:
    seconds = [taken for row in rows if (taken := row.get("simulated_seconds") or row.get("seconds"))]
    idle, delay = (
        [row[name] for row in rows if name in row] for name in ("longest_idle_rto", "longest_answer_seconds")
    )
    return [
        f"{statistics.median(seconds):.1f}" if seconds else "-",
        f"{max(seconds):.1f}" if seconds else "-",
        str(sum(row.get("retransmissions") or 0 for row in rows)),
        f"{max(idle):.4f}" if idle else "-",
        f"{1e3 * max(delay):.3f}" if delay else "-",
    ]


def story(result: Result) -> str:
    """A failed cell in words: why, its end, the core's last events, and the line that runs it alone."""
    lines = [f"Failed: {'; '.join(result['failures'])}"]
    lines.append(f"  again: {result['replay']} (WAVES=1 for waves, PCAP=file for a capture)")
    for name in ("frames", "counters"):
        if result.get(name):
            lines.append(f"  {name}: {result[name]}")
    lines.append(f"  {result['bytes']} of {result['size']} bytes; state {result.get('state', 'unknown')}")
    lines += [f"    {line}" for line in result.get("last_events", [])]
    return "\n".join(lines)
