# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Clock by nextpnr's report (`--report`, JSON), and size by Yosys's netlist."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

# Yosys names what it makes after the net that it came from: `spot_LUT4_C_1_Z`, `sum_CCU2C_S0_COUT[3]`.
MAPPED = re.compile(r"_(?:LUT4|PFUMX|L6MUX21|CCU2C|TRELLIS_FF|TRELLIS_DPR16X4|DP16KD|MULT18X18D)_.*")
MODULE = "dut."  # the instance in the harness
CELLS = {
    "lut4": "LUT4",
    "carry": "CCU2C",  # two bits each
    "lut_ram": "TRELLIS_DPR16X4",  # 16 words of 4 bits each
    "ff": "TRELLIS_FF",
    "bram": "DP16KD",
    "mult18": "MULT18X18D",
}
# LUT4s of each cell: a carry takes two; 16 words of 4 bits take four, and two for the write address (Lattice FPGA-TN-02204).
LUTS = {"LUT4": 1, "CCU2C": 2, "TRELLIS_DPR16X4": 6}


class ReportIncomplete(Exception):
    """The report does not say how fast the clock is; the message says what it lacks."""


@dataclass(frozen=True)
class Hop:
    """One wire of a path and the cell behind it; the first hop is a register, the last one ends in a register's
    setup."""

    net: str  # as in the RTL; `~` before it: made by mapping out of the logic at that net
    cell: str  # the wire's end
    wire_ns: float
    cell_ns: float
    at_ns: float  # since the clock's edge, behind the cell
    place: str  # the cell's site


@dataclass(frozen=True)
class Timing:
    fmax_mhz: float
    path: list[Hop]

    @property
    def ns(self) -> float:
        return self.path[-1].at_ns

    @property
    def wire_ns(self) -> float:
        return sum(hop.wire_ns for hop in self.path)


def timing(report: dict[str, Any]) -> Timing:
    """The clock's frequency, and the register-to-register path that limits it."""
    if len(report["fmax"]) != 1:
        raise ReportIncomplete(f"one clock expected in nextpnr's report, not {sorted(report['fmax'])}")
    ((clock, figures),) = report["fmax"].items()
    for path in report["critical_paths"]:
        if path["from"].split()[-1] == path["to"].split()[-1] == clock:
            return Timing(round(figures["achieved"], 2), hops(path["path"]))
    raise ReportIncomplete(f"no path from {clock} to {clock} in nextpnr's report")


def hops(parts: list[dict[str, Any]]) -> list[Hop]:
    """Wires and the cells behind them, a carry chain as one cell."""
    found: list[Hop] = []
    net, wire, at = rtl_name(parts[0]["from"]["cell"]), 0.0, 0.0
    for part in parts:
        at += part["delay"]
        if part["type"] == "routing":
            net, wire = rtl_name(part["net"]), part["delay"]
            continue
        end = part["to"]
        place = "/".join(f"{axis}{value}" for axis, value in zip("XY", end["loc"], strict=False))
        kind = {"clk-to-q": "register", "setup": "setup"}.get(part["type"]) or cell_kind(part)
        last = found[-1] if found else None
        if last and kind == last.cell == "carry" and wire == 0.0:
            found[-1] = Hop(last.net, kind, last.wire_ns, last.cell_ns + part["delay"], at, place)
        else:
            found.append(Hop(net, kind, wire, part["delay"], at, place))
        wire = 0.0
    return found


def cell_kind(part: dict[str, Any]) -> str:
    """By the ports that a delay leads from and to: nextpnr's cells keep no type in its report."""
    ports = (part["from"]["port"], part["to"]["port"])
    if any(port.startswith(("FCI", "FCO")) for port in ports):
        return "carry"
    if ports[1] in ("F", "OFX0", "OFX1", "OFX"):
        return "LUT"
    if re.fullmatch(r"P\d+", ports[1]):
        return "multiplier"
    return f"{ports[0]} to {ports[1]}"


def rtl_name(net: str) -> str:
    bit = re.search(r"\[\d+\]$", net)
    bare = net.removesuffix(bit[0]) if bit else net
    name = MAPPED.sub("", bare)
    if name != bare and not re.search(r"_TRELLIS_FF_Q(_\d+)?$", bare):
        return f"~{name}"
    return name + (bit[0] if bit else "")


def size(netlist: dict[str, Any], within: str = MODULE) -> dict[str, int]:
    """Cells of the module, without the harness's; of a module that was mapped without one, `within` is empty."""
    used = cells(netlist, within)
    return {name: used[cell] for name, cell in CELLS.items()}


def cells(netlist: dict[str, Any], within: str = MODULE) -> Counter[str]:
    """How many of each type the module has, without the harness's; as `size`."""
    modules = netlist["modules"]
    (top,) = (module for module in modules.values() if int(module["attributes"].get("top", "0"), 2))
    return _flat(modules, Counter(cell["type"] for name, cell in top["cells"].items() if name.startswith(within)))


def _flat(modules: dict[str, Any], used: Counter[str]) -> Counter[str]:
    """With what is in modules that stayed ones (`keep_hierarchy`) in their place."""
    found: Counter[str] = Counter()
    for kind, count in used.items():
        if kind not in modules or "blackbox" in modules[kind]["attributes"]:
            found[kind] += count
            continue
        inside = _flat(modules, Counter(cell["type"] for cell in modules[kind]["cells"].values()))
        found.update({cell: count * each for cell, each in inside.items()})
    return found
