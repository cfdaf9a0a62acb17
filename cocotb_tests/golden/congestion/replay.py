# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Replays one connection's recorded congestion events through the golden models, in the order of the record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from cocotb_tests.golden.congestion.policies import STARTUP, STEADY
from cocotb_tests.golden.congestion.seam import KIND_NAMES, CongestionEvent, Window
from cocotb_tests.golden.congestion.window import CongestionState


def replay(rows: Iterable[Mapping[str, str | int]]) -> Iterator[Window]:
    """Yields cwnd and ssthresh (bytes with 16 fraction bits) after each row.

    A row has `kind` (as Seam.scala spells it), `uninflated` (0 or 1), `acked`, `flight` (before the event), `mss` and
    `initial_ssthresh` (bytes), `initial_window` (segments), each a number or its text in a CSV file, and `startup` and
    `steady`, names of policies.
    The connection's policies are those of the first row; a row that names others is refused.
    """
    state: CongestionState | None = None
    for number, row in enumerate(rows):
        startup, steady = str(row["startup"]), str(row["steady"])
        if state is None:
            state = CongestionState(STARTUP[startup], STEADY[steady])
        if (state.startup.name, state.steady.name) != (startup, steady):
            raise ValueError(f"row {number} changes the policies to {startup}, {steady}: no such event exists")
        yield state.see(_event(row))


def _event(row: Mapping[str, str | int]) -> CongestionEvent:
    return CongestionEvent(
        kind=KIND_NAMES[str(row["kind"])],
        acked_bytes=int(row["acked"]),
        uninflated=bool(int(row["uninflated"])),
        flight=int(row["flight"]),
        segment_size=int(row["mss"]),
        initial_window=int(row["initial_window"]),
        initial_ssthresh=int(row["initial_ssthresh"]),
    )
