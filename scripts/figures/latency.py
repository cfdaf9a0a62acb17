# SPDX-License-Identifier: BSD-2-Clause-Patent
"""docs/reference/figures/latency.md: latencies at the pins, and events a clock."""

from __future__ import annotations

from scripts.figures import text
from scripts.figures.benches import EventCase, LatencyCase
from scripts.figures.kinds import EVENTS, LATENCY
from scripts.figures.records import Records
from scripts.figures.text import Value, number

FEW = 8  # flows that cannot fill the pipeline; the page leaves their cases out
MEASURES = ("receive", "send", "turn")


def page(records: Records) -> str:
    opening = "How long a byte takes through the core, and how many events its engine takes."
    return text.page("Latency and events", opening, [_latency(records), _widths(records), _events(records)])


def _latency(records: Records) -> str | None:
    entries = records.entries(LATENCY)
    cases = [case for entry in entries for case in entry.figures.cases]
    if not cases:
        return None
    rows: dict[tuple[float, int], list[LatencyCase]] = {}
    for case in cases:
        rows.setdefault((1e6 / case.core_ps, case.payload), []).append(case)
    shows = (
        "`DownbeatGmii` at its GMII pins and application streams, in ns. *Receive*: a data segment's SFD comes "
        "in, to the first byte on `m_axis_rx`. *Send*: the first byte on `s_axis_tx`, to the SFD on the wire. "
        "*Turn*: the SFD of an ACK that opens a full window, to the SFD of the segment that it releases. Median "
        "with one segment at a time, and the largest of all loads and numbers of flows."
    )
    heads = ["core, MHz", "payload, B"]
    heads += [f"{measure}, most" if maximum else measure for measure in MEASURES for maximum in (False, True)]
    body = [[number(clock), number(payload), *_spreads(found)] for (clock, payload), found in rows.items()]
    return text.tabled("Latency", entries, shows, heads, body, left=0)


def _widths(records: Records) -> str | None:
    entries = [entry for entry in records.entries(LATENCY) if entry.figures.receive_clocks]
    rows: list[list[Value]] = [
        [width, *(getattr(entry.figures, f"{measure}_clocks")[width] for measure in MEASURES)]
        for entry in entries
        for width in entry.figures.receive_clocks
    ]
    shows = (
        "The core alone at its streams, 64 bytes of payload, in clocks: from a frame's FCS, or a write, to the bytes or "
        "the frame's last beat."
    )
    return text.tabled("Latency by width", entries, shows, ("beat, bytes", *MEASURES), rows, left=0)


def _spreads(found: list[LatencyCase]) -> list[Value]:
    cells: list[Value] = []
    for measure in MEASURES:
        cases = [case for case in found if case.measure == measure]
        idle = [case for case in cases if case.load == "idle"]
        cells += [min(idle, key=lambda case: case.flows).ns.median if idle else None]
        cells += [max(case.ns.max for case in cases) if cases else None]
    return cells


def _events(records: Records) -> str | None:
    entries = records.entries(EVENTS)
    cases = [case for entry in entries for case in entry.figures.cases]
    if not cases:
        return None
    single = [case for case in cases if case.load == "sending" and not case.policies.startswith("all")]
    rows = [_event(case) for case in cases if case not in single and case.flows != FEW]
    if single:
        rates = [case.rate for case in single]
        spread = f"{number(min(rates))} to {number(max(rates))}"
        rows.append(["sending", f"one pair, {len(single)} builds of it", single[0].order, single[0].flows, spread])
    shows = (
        "The engine alone at its ports. *Passing* events have no connection and cause nothing; *sending* "
        "connections transfer data, and the engine's own events count. One flow has every "
        "eighth clock."
    )
    heads = ("load", "policies", "order", "flows", "events/clock")
    return text.tabled("Events a clock", entries, shows, heads, rows, left=3)


def _event(case: EventCase) -> list[Value]:
    return [case.load, case.policies, case.order, case.flows, case.rate]
