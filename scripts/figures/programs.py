# SPDX-License-Identifier: BSD-2-Clause-Patent
"""docs/reference/figures/programs.md: unchanged programs over the core."""

from __future__ import annotations

from scripts.figures import text
from scripts.figures.benches import SocketCosts
from scripts.figures.kinds import HOST
from scripts.figures.records import Records
from scripts.figures.text import Value

WAYS = {"kernel": "kernel, veth", "rings": "supervisor, rings' model", "core": "simulated core, same veth"}
PROCESSES = ("program", "supervisor", "nic")


def page(records: Records) -> str:
    opening = "Programs under `downbeat run`."
    return text.page("Programs over the core", opening, [_same(records), _costs(records)])


def _same(records: Records) -> str | None:
    entries = records.entries(HOST)
    rows: list[list[Value]] = []
    for figures in (entry.figures for entry in entries):
        rows += [
            ["programs, as client or server", len(figures.programs), sum(each.equal for each in figures.programs)],
            ["socket programs", len(figures.calls), sum(each.same for each in figures.calls)],
            ["random calls", figures.fuzz_calls, figures.fuzz_calls - len(figures.fuzz_differences)],
        ]
    return text.tabled("As over Linux", entries, "The kernel is the oracle.", ("", "run", "same"), rows)


def _costs(records: Records) -> str | None:
    entries = records.entries(HOST)
    rows = [_cost(row) for entry in entries for row in entry.figures.socket_costs]
    shows = "One client, best of five; a request is a byte and back, with these processor times."
    heads = ("", "connects/s", "requests/s", "MB/s", *(f"{each}, us" for each in PROCESSES))
    return text.tabled("Cost", entries, shows, heads, rows)


def _cost(row: SocketCosts) -> list[Value]:
    return [
        WAYS[row.way],
        round(row.connects_per_s),
        round(row.requests_per_s),
        round(row.bytes_per_s / 1e6, 1),
        *(round(row.request_us[each]) if each in row.request_us else None for each in PROCESSES),
    ]
