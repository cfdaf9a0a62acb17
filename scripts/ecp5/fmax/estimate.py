# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make fmax ESTIMATE=1`: a module's longest paths by its netlist alone, minutes before anything is placed.

Cells are as slow as nextpnr has them on speed grade 8: the slowest corner of Project Trellis's database
(YosysHQ/prjtrellis-db, ECP5/timing/speed_8/cells.json, revision 4dda149). Wires are by how many inputs they lead to,
for how far is not known yet: about the median of what nextpnr routed (its --sdf), in SegmentParser and Pacer 0.5 ns to
one input, 0.7 to 0.8 to five to eight, 1.0 and 1.7 to hundreds; in a large module they are longer. So this ranks paths
and shows what to shorten, and `make fmax` says how fast
the module is: SegmentParser 4.4 ns, Pacer 6.5 and TournamentTree 4.8 (grade 8, seed 1), where the estimate is 5.9, 8.5
and 4.6.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from scripts.ecp5.fmax.report import rtl_name
from scripts.ecp5.fmax.tools import ROOT, ToolFailed, elaborate, synthesise

# ns, with the database's cell and pins
CLOCK_TO_REGISTER = 0.395  # SLOGICB, CLK to Q0
CLOCK_TO_BLOCK_RAM = {"A": 4.099, "B": 4.263}  # DP16KD without output register, CLKA to DOA, CLKB to DOB
CLOCK_TO_OUTPUT_REGISTER = 0.718  # DP16KD with one, CLKB to DOB
LUT, LUT_RAM = 0.180, 0.180  # SLOGICB, A0 to F0; SDPRAME, RAD0 to F0
TWO_LUTS, FOUR_LUTS, LUTS_SELECT = 0.126, 0.180, 0.193  # SLOGICB, A1 to OFX0 less A1 to F1; FXB to OFX1; M0 to OFX0
INTO_CARRY, CARRY, OUT_OF_CARRY = 0.355, 0.056, 0.349  # SCCU2C, two bits: A0 to FCO, FCI to FCO, FCI to F1
INTO_SUM, INTO_NEXT_SUM = 0.180, 0.500  # SCCU2C, A0 to F0, A0 to F1
MULTIPLIER = 3.066  # MULT18X18D without registers, A to P
# By the beginning of a port's name; of a block RAM's two ports the slower. Others have none.
SETUP = {
    "TRELLIS_FF": {"LSR": 0.287},
    "TRELLIS_DPR16X4": {"WRE": 0.266},
    "DP16KD": {"AD": 0.202, "DI": 0.179, "CE": 0.256, "WE": 0.129, "OCE": 0.196, "RST": 0.449, "CS": 0.027},
}
WIRE, WIRE_DOUBLED, WIRE_FAR = 0.52, 0.11, 0.25
FAR = 40  # inputs
CLOCKS = ("CLK", "CLKA", "CLKB", "WCK")


@dataclass(frozen=True)
class Arc:
    """From an input of a cell to an output of it; `wired` unless the two cells are neighbours by their nature."""

    source: int
    ns: float
    cell: str
    wired: bool = True


@dataclass
class Paths:
    """A net is a number, as in Yosys's netlist."""

    arcs: dict[int, list[Arc]] = field(default_factory=lambda: defaultdict(list))
    starts: dict[int, float] = field(default_factory=dict)
    ends: list[tuple[int, str, float]] = field(default_factory=list)  # net, what it ends at, setup
    fanout: Counter[int] = field(default_factory=Counter)
    names: dict[int, str] = field(default_factory=dict)
    arrivals: dict[int, tuple[float, Arc | None]] = field(default_factory=dict)

    def wire(self, net: int) -> float:
        inputs = max(self.fanout[net], 1)
        return WIRE + WIRE_DOUBLED * math.log2(inputs) + (WIRE_FAR if inputs >= FAR else 0)

    def arrival(self, net: int) -> float:
        """When it is stable after a clock's edge. Not recursive: carry chains are long."""
        waiting = [net]
        while waiting:
            at = waiting[-1]
            before = [arc.source for arc in self.arcs.get(at, ()) if arc.source not in self.arrivals]
            if before:
                waiting += before
                continue
            options = [(self._through(arc), arc) for arc in self.arcs.get(at, ())]
            self.arrivals[at] = max(options, key=lambda option: option[0], default=(self.starts.get(at, 0.0), None))
            waiting.pop()
        return self.arrivals[net][0]

    def _through(self, arc: Arc) -> float:
        return self.arrivals[arc.source][0] + arc.ns + (self.wire(arc.source) if arc.wired else 0)

    def back(self, net: int) -> Iterator[tuple[int, str]]:
        """Nets from the end to the start, each with the cell that drives it."""
        _, arc = self.arrivals[net]
        while arc:
            yield net, arc.cell
            net = arc.source
            _, arc = self.arrivals[net]
        yield net, "register"

    def longest(self) -> list[tuple[float, int, str]]:
        """The longest path to each register or memory, all its bits as one; the longest first."""
        worst: dict[str, tuple[float, int, str]] = {}
        for net, end, setup in self.ends:
            # A cell that drives one register alone is placed beside it.
            wire = self.wire(net) if self.fanout[net] > 1 or net in self.starts else 0.0
            path = (self.arrival(net) + wire + setup, net, end)
            worst[end] = max(worst.get(end, path), path)
        return sorted(worst.values(), reverse=True)


def paths(netlist: dict[str, Any]) -> Paths:
    (top,) = (module for module in netlist["modules"].values() if int(module["attributes"].get("top", "0"), 2))
    found = Paths()
    for name, net in sorted(top["netnames"].items(), key=lambda item: (-item[1].get("hide_name", 0), -len(item[0]))):
        found.names |= {bit: name for bit in net["bits"] if isinstance(bit, int)}
    for name, cell in top["cells"].items():
        ports = {port: [b for b in bits if isinstance(b, int)] for port, bits in cell["connections"].items()}
        inputs = {port: bits for port, bits in ports.items() if cell["port_directions"].get(port) == "input"}
        found.fanout.update(bit for bits in inputs.values() for bit in bits)
        for bit in (bit for port in ports.keys() - inputs.keys() for bit in ports[port]):
            found.names.setdefault(bit, name)  # a copy's net (scripts/ecp5/netlist/fan_out.py) has no name of its own
        _add(found, name, cell, ports, inputs)
    return found


def _add(
    found: Paths, name: str, cell: dict[str, Any], ports: dict[str, list[int]], inputs: dict[str, list[int]]
) -> None:
    def arcs(outputs: str, sources: str, ns: float, kind: str, wired: bool = True) -> None:
        for output in (net for port, nets in ports.items() if re.fullmatch(outputs, port) for net in nets):
            for port, nets in inputs.items():
                if re.fullmatch(sources, port):
                    found.arcs[output] += [Arc(net, ns, kind, wired) for net in nets]

    def ends(at: str) -> None:
        for port, nets in inputs.items():
            if port not in CLOCKS:
                setup = next((ns for begin, ns in SETUP[kind].items() if port.startswith(begin)), 0.0)
                found.ends += [(net, at, setup) for net in nets]

    match kind := cell["type"]:
        case "LUT4":
            arcs("Z", "[A-D]", LUT, "LUT")
        case "PFUMX":
            arcs("Z", "[AB]LUT", TWO_LUTS, "wider LUT", wired=False)
            arcs("Z", "C0", LUTS_SELECT, "wider LUT")
        case "L6MUX21":
            arcs("Z", "D[01]", FOUR_LUTS, "wider LUT", wired=False)
            arcs("Z", "SD", LUTS_SELECT, "wider LUT")
        case "CCU2C":
            arcs("COUT", "[A-D][01]", INTO_CARRY, "carry")
            arcs("COUT", "CIN", CARRY, "carry", wired=False)
            arcs("S0", "[A-D]0", INTO_SUM, "carry")
            arcs("S1", "[A-D]0", INTO_NEXT_SUM, "carry")
            arcs("S1", "[A-D]1", INTO_SUM, "carry")
            arcs("S[01]", "CIN", OUT_OF_CARRY, "carry", wired=False)
        case "TRELLIS_DPR16X4":
            arcs("DO", "RAD", LUT_RAM, "LUT RAM")
            ends(_plain(name))
        case "MULT18X18D":
            arcs(r"P\d+", r"[AB]\d+", MULTIPLIER, "multiplier")
        case "TRELLIS_FF":
            found.starts |= dict.fromkeys(ports["Q"], CLOCK_TO_REGISTER)
            ends(_plain(found.names[ports["Q"][0]]))
        case "DP16KD":
            for port in (port for port in ports if port.startswith("DO")):
                registered = cell["parameters"].get(f"REGMODE_{port[2]}") == "OUTREG"
                ns = CLOCK_TO_OUTPUT_REGISTER if registered else CLOCK_TO_BLOCK_RAM[port[2]]
                found.starts |= dict.fromkeys(ports[port], ns)
            ends(_plain(name))


def _plain(name: str) -> str:
    """Without a bit's index, and without which of a memory's blocks it is."""
    return re.sub(r"_DO[AB]\d+$|\.\d+\.\d+$|\[\d+\]$|_\d+$", "", rtl_name(name).lstrip("~")).removeprefix("dut.")


def text(found: Paths, count: int) -> str:
    lines = []
    for ns, net, end in found.longest()[:count]:
        hops = list(found.back(net))[::-1]
        steps: list[list[str]] = []
        for at, cell in hops:
            step = [_plain(found.names.get(at, "")), cell]
            if not steps or steps[-1] != step:
                steps.append(step)
        lines.append(f"{ns:6.2f} ns, {len(hops) - 1} cells: to {end}")
        lines += [f"            {cell:10} {name}" for name, cell in steps]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="make fmax ESTIMATE=1", description=__doc__)
    parser.add_argument("module")
    parser.add_argument("--preset", default="default")
    parser.add_argument("--paths", type=int, default=10)
    arguments = parser.parse_args()
    os.chdir(ROOT)
    try:
        netlist = synthesise(elaborate(arguments.module, arguments.preset))
    except subprocess.CalledProcessError:
        return 1  # it has said why
    except ToolFailed as failure:
        print(failure, file=sys.stderr)
        return 1
    print(text(paths(json.loads(netlist.read_text())), arguments.paths))
    return 0


if __name__ == "__main__":
    sys.exit(main())
