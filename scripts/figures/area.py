# SPDX-License-Identifier: BSD-2-Clause-Patent
"""docs/reference/figures/area-and-clock.md."""

from __future__ import annotations

import re
from collections.abc import Sequence
from statistics import median

from scripts.ecp5.fmax.report import LUTS
from scripts.figures import text
from scripts.figures.kinds import BOARDS, FMAX, POLICIES, SYNTH
from scripts.figures.kinds import CORE as CORE_SYNTH
from scripts.figures.netlists import Bitstream, BoardClock, Fmax, ModuleArea, PolicyArea, Synth
from scripts.figures.records import Records
from scripts.figures.text import Value, number
from scripts.synth.sources import build, policies
from scripts.synth.targets import PARTS as RESOURCES
from scripts.synth.targets import TARGETS

# An LFE5U-85F and an LFE5UM5G-85F alike.
DEVICE = TARGETS["ecp5"]
CORE = "Downbeat"  # in the first table, the others in that of builds
# Modules of which the width of a beat changes something, and the engine.
WIDE = "Receiver FlowEngine PlacementWriter ReceiveBuffer SendBuffer BurstReader Transmitter Neighbour"
FMAX_COMMAND = "make fmax MODULE=Pacer PRESET=lean GRADE=6 SEED=1"


def page(records: Records) -> str:
    opening = (
        "What the core takes of an FPGA, by Yosys and nextpnr. Nothing here is measured on hardware. LUTs are counted in "
        "one way: LUT4, a carry of two bits as two, a LUT RAM of 16 x 4 as six."
    )
    sections = [
        _fit(records),
        _modules(records),
        _widths(records),
        _builds(records),
        _boards(records),
        _policies(records),
    ]
    return text.page("Area and clock rate", opening, sections)


def _fit(records: Records) -> str | None:
    """Whole cores on the one device for which there are figures."""
    rows: list[list[Value]] = []
    whole = [entry for entry in records.entries(CORE_SYNTH) if entry.figures.requested == CORE]
    for entry in [*records.entries(SYNTH), *whole]:
        run = entry.figures
        for device, there in TARGETS[run.target].devices.items():
            rows.append([device, *_build(run.preset), run.flows, *_shares(_sum(run), there), None])
    cores = [entry for entry in records.entries(FMAX) if entry.figures.module == CORE]
    for preset in dict.fromkeys(entry.figures.preset for entry in cores):
        runs = [entry.figures for entry in cores if entry.figures.preset == preset]
        sized = next((run for run in runs if run.lut4 is not None), None)
        flows = re.search(r"flows=(\d+)", preset)
        if sized is None or flows is None:
            continue
        used = {"lut": _luts(sized) or 0, "ff": sized.ff or 0, "bram": sized.bram or 0, "dsp": sized.mult18 or 0}
        clocks = [run.fmax_mhz for run in runs if run.fmax_mhz is not None]
        clock = number(round(median(clocks), 1)) if clocks else "does not route"
        rows.append([sized.device, *_build(preset), int(flows[1]), *_shares(used), clock])
    boards = [entry for kind in BOARDS for entry in records.entries(kind) if entry.figures.flows]
    for board in (entry.figures for entry in boards):
        core = next(each.reached_mhz for each in board.clocks if each.purpose == "core")
        shares: list[Value] = [*_shares(board.area)] if board.area else [None] * 3
        rows.append([_device(board), f"`{board.board}`", _listed(board.policies or {}), board.flows, *shares, core])
    if not rows:
        return None
    shows = (
        "Per cent of the device. Without MHz: by `make synth`, the core with its payload memory, on ECP5 `lean` "
        "without. With MHz: by `make fmax`, the core, its payload memory outside; a board "
        "by `make bitstream`, all that is in it."
    )
    heads = ["device", "build", "policies", "flows", "LUTs", "flip-flops", "block RAM", "MHz"]
    entries: list[text.Ran] = [*records.entries(SYNTH), *whole, *cores, *boards]
    return text.section(
        "Device, flows, policies, clock", [], shows + text.age(entries), text.table(heads, rows, left=3)
    )


def _build(name: str) -> tuple[str, str]:
    """A build without its policies, and these."""
    shown = re.sub(",(?:flows|policies)=[^=]*(?=,\\w+=|$)", "", name)
    chosen = build(name).policies
    families = {family: [each for each in chosen if each in policies(family)] for family in ("startup", "steady")}
    return f"`{shown}`", _listed(families)


def _listed(families: dict[str, list[str]]) -> str:
    """All, or their names."""
    if all(families[family] == policies(family) for family in families):
        return "all"
    return "; ".join(", ".join(families[family]) for family in ("startup", "steady"))


def _shares(used: dict[str, int], there: dict[str, int] = DEVICE.there) -> list[str]:
    return [_share(used[part], there[part]) for part in ("lut", "ff", "bram")]


def _share(used: int, there: int) -> str:
    return f"{100 * used / there:.0f} %" if used <= there else f"**does not fit**: {used:,} of {there:,}"


def _luts(run: Fmax) -> int | None:
    counts = {"LUT4": run.lut4, "CCU2C": run.carry, "TRELLIS_DPR16X4": run.lut_ram}
    known = [LUTS[cell] * count for cell, count in counts.items() if count is not None]
    return sum(known) if len(known) == len(counts) else None


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
        "left out. Logic hardly grows with flows." + text.age(entries)
    )
    fitting = [entry.command for entry in entries if not DEVICE.overflow(_sum(entry.figures))]
    return text.section("Modules", fitting[:1], shows, text.table(heads, rows))


def _widths(records: Records) -> str | None:
    """Modules of the same list at several widths."""
    entries = [entry for entry in records.entries(CORE_SYNTH) if entry.figures.requested == WIDE]
    if not entries:
        return None
    areas = [{module.name: module for module in entry.figures.modules} for entry in entries]
    widths = [re.search(r"beatBytes=(\d+)", entry.figures.preset) for entry in entries]
    heads = ["module", *(f"{width[1] if width else 8} bytes" for width in widths)]
    rows: list[list[Value]] = [[name, *(_depth(area[name]) for area in areas)] for name in WIDE.split()]
    shows = (
        f"LUTs/flip-flops/LUT levels, {entries[0].figures.device}, preset `lean`. Levels: the longest path between "
        "registers, carry chains apart."
    )
    return text.section("Width", text.commands(entries)[-1:], shows + text.age(entries), text.table(heads, rows))


def _depth(module: ModuleArea) -> str:
    return f"{module.lut:,}/{module.ff:,}/{module.lut_levels}"


def _sum(run: Synth) -> dict[str, int]:
    return {part: sum(getattr(module, part) for module in run.modules) for part in RESOURCES}


def _area(module: ModuleArea | None) -> str | None:
    return f"{module.lut:,}/{module.ff:,}/{module.bram:,}" if module else None


def _all(run: Synth) -> str:
    return "/".join(number(sum(getattr(module, part) for module in run.modules)) for part in ("lut", "ff", "bram"))


def _builds(records: Records) -> str | None:
    groups: dict[tuple[str, str, str], list[Fmax]] = {}
    for run in (entry.figures for entry in records.entries(FMAX) if entry.figures.module != CORE):
        groups.setdefault((run.module, run.preset, run.grade), []).append(run)
    if not groups:
        return None
    rows: list[list[Value]] = [
        [module, f"`{preset}`", grade, _speeds(runs), *_size(runs)] for (module, preset, grade), runs in groups.items()
    ]
    heads = ("module", "preset", "grade", "MHz", "LUTs", "flip-flops", "block RAM")
    shows = (
        "Between registers on an LFE5U-85F, by nextpnr (grade `8_5G`: LFE5UM5G-85F). MHz of "
        "each seed. Cells are without the harness." + text.age(records.entries(FMAX))
    )
    return text.section("Builds", [FMAX_COMMAND], shows, text.table(heads, rows, left=3))


def _speeds(runs: Sequence[Fmax]) -> str | None:
    speeds = [run.fmax_mhz for run in sorted(runs, key=lambda run: run.seed) if run.fmax_mhz is not None]
    return ", ".join(number(speed) for speed in speeds) if speeds else None


def _size(runs: Sequence[Fmax]) -> list[Value]:
    """The size of any seed's run: all have the same netlist."""
    sized = next((run for run in runs if run.lut4 is not None), runs[0])
    return [_luts(sized), sized.ff, sized.bram]


def _boards(records: Records) -> str | None:
    entries = [entry for kind in BOARDS for entry in records.entries(kind)]
    boards = [entry.figures for entry in entries]
    rows: list[list[Value]] = [
        [
            *(each.board, _device(each), _listed(each.policies) if each.policies else None, _reached(each.clocks)),
            *(each.flows, each.seed),
        ]
        for each in boards
    ]
    shows = "MHz reached, and wanted in brackets, of the bitstream that the board's seeds give." + text.age(entries)
    table = text.table(("board", "device", "policies", "clocks", "flows", "seed"), rows, left=4)
    return text.section("Boards", text.commands(entries)[:1], shows, table) if rows else None


def _device(board: Bitstream) -> str:
    """Without grade and package."""
    return re.sub(r"-\d\D+\d+\w?$", "", board.device)


def _reached(clocks: Sequence[BoardClock]) -> str:
    return ", ".join(f"{clock.purpose} {number(clock.reached_mhz)} ({number(clock.wanted_mhz)})" for clock in clocks)


def _policies(records: Records) -> str | None:
    entries = records.entries(POLICIES)
    rows: list[list[Value]] = [
        [each.name, each.state_bits, _cells(each), each.fmax_mhz] for entry in entries for each in entry.figures.root
    ]
    shows = (
        "Each policy alone in its bench, ECP5 grade 6, seed 1, without its calculation unit. Sizes include what any "
        "policy must carry along. All respond in three clocks."
    )
    return text.tabled(
        "Policies", entries, shows, ("policy", "state, bits", "LUTs/flip-flops/multipliers", "MHz"), rows
    )


def _cells(policy: PolicyArea) -> str | None:
    return None if policy.lut is None else f"{policy.lut:,}/{policy.ff:,}/{policy.dsp}"
