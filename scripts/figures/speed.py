# SPDX-License-Identifier: BSD-2-Clause-Patent
"""docs/reference/figures/simulation-speed.md."""

from __future__ import annotations

from scripts.figures import text
from scripts.figures.kinds import SIM, SPEED
from scripts.figures.records import Records
from scripts.figures.text import Value


def page(records: Records) -> str:
    opening = (
        "How fast the Verilated core runs. Rates depend on the machine and on what else it does: compare rows, "
        "not sessions."
    )
    return text.page("Simulation speed", opening, [_alone(records), _lines(records), _over_ns3(records)])


def _alone(records: Records) -> str | None:
    entries = records.entries(SPEED)
    rows: list[list[Value]] = [
        [
            run.tap,
            run.beat_bytes,
            run.link_rate / 1e9,
            run.connections,
            run.segments_per_cpu_second,
            run.clocks_per_segment,
        ]
        for entry in entries
        for run in entry.figures.runs
    ]
    shows = (
        "Full segments and an in-process peer. The header tap simulates no payload; one connection is then bound "
        "by its own loop from grant over `sent` to the next grant."
    )
    heads = ("tap", "bytes of a beat", "link, Gb/s", "connections", "segments/s of processor time", "clocks/segment")
    return text.tabled("The core alone", entries, shows, heads, rows)


def _lines(records: Records) -> str | None:
    entries = records.entries(SPEED)
    rows: list[list[Value]] = [
        [line.line_gbps, line.beat_bytes, line.clock_mhz, line.connections, 100 * line.share]
        for entry in entries
        for line in entry.figures.lines
    ]
    shows = (
        "Full segments with frames, in clocks of the rate that the width is meant for; no device has been shown to "
        "reach it. At 100 Gb/s one connection is bound by its loop from grant over `sent` to the next grant."
    )
    heads = ("line, Gb/s", "bytes of a beat", "clock, MHz", "connections", "% of the line's full segments")
    return text.tabled("25 and 100 Gb/s", entries, shows, heads, rows, left=0)


def _over_ns3(records: Records) -> str | None:
    entries = records.entries(SIM)
    rows: list[list[Value]] = []
    for entry in entries:
        sim = entry.figures
        rows += [["segments", sim.segments], ["goodput of the core, Mb/s", sim.goodput_bps / 1e6]]
        if sim.comparison:
            beside = sim.comparison.sender.removeprefix("ns3::")
            rows += [[f"goodput of {beside}, Mb/s", sim.comparison.goodput_bps / 1e6]]
        rows += [
            ["segments/s of wall time, whole program", sim.wall_clock.segments_per_second],
            ["segments/s of wall time in the core", sim.wall_clock.segments_per_core_second],
        ]
    shows = "The default transfer."
    return text.tabled("The core over ns-3", entries, shows, ("", ""), rows)
