# SPDX-License-Identifier: BSD-2-Clause-Patent
"""docs/reference/figures/area-and-clock.md."""

from __future__ import annotations

from collections.abc import Sequence

from scripts.figures import text
from scripts.figures.kinds import BOARDS, FMAX, POLICIES, SYNTH
from scripts.figures.netlists import BoardClock, Fmax, ModuleArea, PolicyArea, Synth
from scripts.figures.records import Records
from scripts.figures.text import Value, number

# Modules within others: the page leaves them out, their records stay.
PARTS = {"SegmentParser", "LaunchGate", "WireTime", "TournamentTree"}
FMAX_COMMAND = "make fmax MODULE=module PRESET=preset GRADE=grade SEED=seed"


def page(records: Records) -> str:
    opening = "What the core takes of an FPGA, by Yosys and nextpnr. Nothing here is measured on hardware."
    return text.page(
        "Area and clock rate",
        opening,
        [_modules(records), _builds(records), _boards(records), _policies(records)],
    )


def _modules(records: Records) -> str | None:
    entries = records.entries(SYNTH)
    if not entries:
        return None
    runs = sorted((entry.figures for entry in entries), key=lambda run: run.flows)
    shown = [runs[0], runs[-1]] if len(runs) > 1 else runs
    heads = ["module", *(f"{run.flows:,} flows" for run in shown), "multipliers", "state, bits/flow"]
    areas = [{module.name: module for module in run.modules} for run in shown]
    rows: list[list[Value]] = [
        [name, *(_area(area.get(name)) for area in areas), module.dsp, module.state_bits_per_flow]
        for name, module in areas[0].items()
    ]
    multipliers = sum(module.dsp for module in runs[0].modules)
    rows.append(["all", *(_all(run) for run in shown), multipliers, runs[0].state_bits_per_flow])
    shows = (
        f"LUTs/flip-flops/block RAMs of 18 Kbit, {runs[0].device}, preset `{runs[0].preset}`, payload memory "
        "left out. A carry counts as two LUTs, a LUT RAM as six. Logic hardly grows with flows; tables move into "
        "block RAM."
    )
    command = f"make synth TARGET={runs[0].target} PRESET={runs[0].preset} FLOWS=flows"
    return text.section("Modules", [command], shows, text.table(heads, rows))


def _area(module: ModuleArea | None) -> str | None:
    return f"{module.lut:,}/{module.ff:,}/{module.bram:,}" if module else None


def _all(run: Synth) -> str:
    return "/".join(number(sum(getattr(module, part) for module in run.modules)) for part in ("lut", "ff", "bram"))


def _builds(records: Records) -> str | None:
    groups: dict[tuple[str, str, str], list[Fmax]] = {}
    for run in (entry.figures for entry in records.entries(FMAX) if entry.figures.module not in PARTS):
        groups.setdefault((run.module, run.preset, run.grade), []).append(run)
    if not groups:
        return None
    rows: list[list[Value]] = [
        [module, f"`{preset}`", grade, _speeds(runs), *_size(runs)] for (module, preset, grade), runs in groups.items()
    ]
    heads = ("module", "preset", "grade", "MHz", "LUT4", "flip-flops", "block RAM")
    shows = (
        "Between registers on an LFE5U-85F, by nextpnr (grade `8_5G`: LFE5UM5G-85F). MHz for seeds 1, 2, 3, or "
        "seed 1 alone; seeds differ by more than most changes. Cells are without the harness; LUT4 leaves out "
        "carries and LUT RAM. The core with all policies does not route."
    )
    return text.section("Builds", [FMAX_COMMAND], shows, text.table(heads, rows, left=3))


def _speeds(runs: Sequence[Fmax]) -> str | None:
    speeds = [run.fmax_mhz for run in sorted(runs, key=lambda run: run.seed) if run.fmax_mhz is not None]
    return ", ".join(number(speed) for speed in speeds) if speeds else None


def _size(runs: Sequence[Fmax]) -> list[Value]:
    """The size of any seed's run: all have the same netlist."""
    sized = next((run for run in runs if run.lut4 is not None), runs[0])
    return [sized.lut4, sized.ff, sized.bram]


def _boards(records: Records) -> str | None:
    entries = [entry for kind in BOARDS for entry in records.entries(kind)]
    rows: list[list[Value]] = [
        [entry.figures.board, entry.figures.device, entry.figures.seed, _reached(entry.figures.clocks)]
        for entry in entries
    ]
    shows = "MHz reached, and wanted in brackets, of the bitstream that the board's seeds give."
    table = text.table(("board", "device", "seed", "clocks"), rows, left=4)
    return text.section("Boards", ["make bitstream BOARD=board"], shows, table) if rows else None


def _reached(clocks: Sequence[BoardClock]) -> str:
    return ", ".join(f"{clock.name} {number(clock.reached_mhz)} ({number(clock.wanted_mhz)})" for clock in clocks)


def _policies(records: Records) -> str | None:
    entries = records.entries(POLICIES)
    rows: list[list[Value]] = [
        [each.name, each.state_bits, _cells(each), each.fmax_mhz] for entry in entries for each in entry.figures.root
    ]
    shows = (
        "Each policy alone in its bench, ECP5 grade 6, seed 1, without its calculation unit. Sizes include what any "
        "policy must carry along; LUT4 includes two for each carry. All respond in three clocks."
    )
    return text.tabled(
        "Policies", entries, shows, ("policy", "state, bits", "LUT4/flip-flops/multipliers", "MHz"), rows
    )


def _cells(policy: PolicyArea) -> str | None:
    return None if policy.lut is None else f"{policy.lut:,}/{policy.ff:,}/{policy.dsp}"
