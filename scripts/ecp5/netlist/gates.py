# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A module's ECP5 netlist as Verilog, with models of its cells, for Verilator in the place of the module's own Verilog.

What Yosys may choose (bits of LUT RAM at the start, inputs that do not count) is drawn by the seed. Flip-flops start as
the FPGA's do, by its global reset.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from pathlib import Path

from scripts.ecp5.fmax.tools import ROOT, require, run, synthesise
from scripts.ecp5.netlist.carries import name_carries

GATES = "Gates"  # the netlist's module
CELLS = Path(__file__).with_name("cells.v")
# Files of a size that a compiler likes; and what Yosys writes declares more than it uses.
VERILATOR = ("--output-split", "20000", "-Wno-lint", "-Wno-style")


def simulated(verilog: Path, seed: int) -> list[Path]:
    """The files that stand for the module of `verilog` (relative to the root); mapped unless the netlist is there."""
    require("yosys")
    netlist = synthesise(verilog)
    # A seed of zero is refused.
    draw = f"setundef -params -random {seed + 1}; setundef -random {seed + 1}"
    # Wires are single bits with short names: theirs would be most of Verilator's C++.
    names = "splitnets; opt_clean -purge; rename -hide; rename -enumerate -pattern n%"
    read = netlist.with_name("read.json")
    commands = f"read_json {read}; rename -top {GATES}; {draw}; {names}; write_verilog -noattr"
    gates = netlist.with_name(f"gates-{hashlib.sha256(commands.encode()).hexdigest()[:8]}.v")
    if not (ROOT / gates).exists():
        design = json.loads((ROOT / netlist).read_text())
        for module in design["modules"].values():
            name_carries(module)
        (ROOT / read).write_text(json.dumps(design))
        unfinished, log = gates.with_suffix(".unfinished"), gates.with_suffix(".log")
        run("Verilog", log, "yosys", "-q", "-l", log, "-p", f"{commands} {unfinished}")
        (ROOT / unfinished).rename(ROOT / gates)
        (ROOT / read).unlink()
    shell = ROOT / netlist.with_name(f"{verilog.stem}.v")
    shell.write_text(_shell((ROOT / verilog).read_text(), verilog.stem))
    return [shell, ROOT / gates, CELLS]


def _shell(verilog: str, module: str) -> str:
    """The module's own ports around the netlist: cocotb makes all of a top visible, and in a netlist that is every
    wire."""
    header = re.search(rf"^module {module} \(.*?^\);$", verilog, re.DOTALL | re.MULTILINE)
    assert header, f"no module {module} in its Verilog"
    return f"{header[0].replace('output reg ', 'output wire')}\n  {GATES} gates (.*);\nendmodule\n"


def seed() -> int:
    return int(os.environ.get("SEED") or 1)
