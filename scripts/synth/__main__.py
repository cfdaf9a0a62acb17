# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make synth`: what the core's modules take of an FPGA, and what a connection costs (docs/how-to/synthesize.md).

For people on the terminal, for programs in build/reports/synth.json. Clock rates are those that `make fmax` has left.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from scripts.ecp5.fmax.report import cells, timing
from scripts.ecp5.fmax.tools import ROOT, ToolFailed, elaborate, home, require, routed, synthesise
from scripts.synth.estimate import CORE, Area, estimate, shown, wrong
from scripts.synth.levels import lut_levels
from scripts.synth.state import bits_per_flow, memories
from scripts.synth.targets import PARTS, TARGETS, Target

REPORT = ROOT / "build" / "reports" / "synth.json"
GRADE, SEED = "6", 1  # for the clock rates, as `make fmax` measures without options
# In the order in which a packet meets them. The payload memory is not here: it is as large as the buffers, and may be
# outside.
MODULES = (
    *(
        "MacOnOneClock",
        "Receiver",
        "FlowDirectory",
        "FlowEngine",
        "Pacer",
        "Timers",
        "PlacementWriter",
        "ReceiveBuffer",
    ),
    *("SendBuffer", "BurstReader", "Transmitter", "Neighbour", "CommandPort", "Notifier", "RegisterMap"),
)


def main() -> int:
    arguments = _parse()
    os.chdir(ROOT)
    try:
        target = _target(arguments.target)
        require("yosys")
        estimated = _estimate(arguments.preset, arguments.flows, arguments.module)
        preset, flows = _build(arguments.preset, arguments.flows, arguments.module[0])
        modules = [_module(module, preset, flows, arguments.preset, target) for module in arguments.module]
    except subprocess.CalledProcessError:
        return 1  # it has said why
    except ToolFailed as failure:
        print(failure, file=sys.stderr)
        return 1
    record = _record(target, flows, arguments.preset, modules)
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(json.dumps(record, indent=1) + "\n")
    _print(target, record)
    used = _sum(modules)
    line = target.overflow(used) or (wrong(estimated, used["lut"], used["ff"]) if estimated else "")
    if line:
        print(line, file=sys.stderr)
    return 1 if line else 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make synth", description=__doc__)
    parser.add_argument("module", nargs="*", default=MODULES)
    parser.add_argument("--target", default="ecp5")
    parser.add_argument("--flows", type=int)
    parser.add_argument("--preset", default="default")
    return parser.parse_args()


def _target(name: str) -> Target:
    if name not in TARGETS:
        raise ToolFailed(f"no target '{name}'; there are: {', '.join(sorted(TARGETS))} (make synth TARGET=name)")
    return TARGETS[name]


def _estimate(preset: str, flows: int | None, modules: list[str]) -> Area | None:
    """A whole core's, shown before the netlist is made, which is compared with it."""
    area = estimate(f"{preset},flows={flows}" if flows else preset) if modules == [CORE] else None
    if area:
        print(shown(area))
    return area


def _build(preset: str, flows: int | None, module: str) -> tuple[str, int]:
    """The build's name and its flows. A preset's own number does not change its name: `make fmax` keeps netlists by
    it."""
    elaborate(module, preset)
    layout = json.loads((ROOT / home(preset) / "downbeat_layout.json").read_text())
    own = int(layout["numbers"]["flows"])
    return (preset, own) if flows in (None, own) else (f"{preset},flows={flows}", flows or own)


def _module(module: str, build: str, flows: int, preset: str, target: Target) -> dict[str, Any]:
    verilog, twice = elaborate(module, build), elaborate(module, f"{preset},flows={2 * flows}")
    print(f"  {module}", flush=True)
    netlist = synthesise(verilog, target.commands)
    content = json.loads((ROOT / netlist).read_text())
    found: dict[str, Any] = {"name": module, **target.used(cells(content)), "lut_levels": lut_levels(content)}
    found["state_bits_per_flow"] = bits_per_flow(_memories(verilog), _memories(twice), flows)
    report = routed(netlist, GRADE, SEED) if target.name == "ecp5" else None
    if report:
        speed = timing(json.loads((ROOT / report).read_text()))
        found |= {"fmax_mhz": speed.fmax_mhz, "critical_path": [hop.net for hop in speed.path]}
    return found


def _memories(verilog: Path) -> dict[str, tuple[int, int]]:
    return memories((ROOT / verilog).read_text(), verilog.stem)


def _sum(modules: Iterable[dict[str, Any]]) -> dict[str, int]:
    return {part: sum(module[part] for module in modules) for part in PARTS}


def _record(target: Target, flows: int, preset: str, modules: list[dict[str, Any]]) -> dict[str, Any]:
    """The clock rate is that of the slowest module that has been routed; null if none has."""
    slowest = min(
        (module for module in modules if "fmax_mhz" in module), key=lambda module: float(module["fmax_mhz"]), default={}
    )
    return {
        "target": target.name,
        "device": target.device,
        "flows": flows,
        "preset": preset,
        "requested": " ".join(module["name"] for module in modules),
        "rooms": modules,
        "fmax_mhz": slowest.get("fmax_mhz"),
        "fmax_room": slowest.get("name"),
        "critical_path": slowest.get("critical_path"),
        "state_bits_per_flow": sum(module["state_bits_per_flow"] for module in modules),
    }


def _print(target: Target, record: dict[str, Any]) -> None:
    title = f"{target.device} by Yosys, preset {record['preset']}, {record['flows']:,} flows"
    table = Table(title=title, title_justify="left")
    for column in ("module", *PARTS.values(), "LUT levels", "state bits a flow", "MHz, routed"):
        table.add_column(column, justify="left" if column == "module" else "right")
    for module in record["rooms"]:
        clock = f"{module['fmax_mhz']:.1f}" if "fmax_mhz" in module else ""
        table.add_row(
            module["name"], *[f"{module[part]:,}" for part in (*PARTS, "lut_levels", "state_bits_per_flow")], clock
        )
    used = _sum(record["rooms"])
    table.add_section()
    table.add_row("all of these", *[f"{used[part]:,}" for part in PARTS], "", f"{record['state_bits_per_flow']:,}", "")
    for device, there in target.devices.items():
        shares = (f"{100 * used[part] / there[part]:.0f} % of {there[part]:,}" for part in PARTS)
        table.add_row(device, *shares, "", "", "")
    Console(width=150).print(table)
    print(REPORT.relative_to(ROOT))


if __name__ == "__main__":
    sys.exit(main())
