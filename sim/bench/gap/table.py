# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The results case by case: for the terminal, and for docs/how-to/measure-gaps.md."""

from __future__ import annotations

from typing import Any

TITLES = (
    "case",
    "frames",
    "late",
    "SFD after launch, ns",
    "lateness, us",
    "sent gap off, ns",
    "measured gap off, ns",
    "rate error",
)


def row(figures: dict[str, Any]) -> list[str]:
    """One cell for each title, a dash where the case has nothing to say."""

    def worst(name: str) -> str:
        return f"{figures[name]:.5g}" if name in figures else "-"

    rate = f"{figures['rate_error']:.1e} in {figures['rate_seconds']:.3g} s" if "rate_error" in figures else "-"
    error, late = figures.get("error_ns"), figures.get("late")
    return [
        figures["case"],
        f"{figures['frames'] or figures.get('grants', 0):,}",
        "-" if late is None else f"{late:,}",
        f"{error['min']:.3f} to {error['max']:.3f}" if error else "-",
        f"{figures['max_lateness_ns'] / 1000:.4g}" if late else "-",
        worst("max_sent_gap_error_ns"),
        worst("max_measured_gap_error_ns"),
        "-" if late else rate,
    ]


def markdown(report: dict[str, Any]) -> str:
    rows = [TITLES, ["---"] * len(TITLES), *(row(figures) for figures in report["cases"])]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in rows)
