# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A build's area before anything is built, from the areas that docs/reference/figures/records has.

It begins with the recorded netlist of the same preset. Each policy more or less counts by its area alone, without what
any policy of its family carries along; each calculation unit that the policies share counts once, and of those that
are programs the largest alone. Payload memory and flows' tables count by their bits. The standard library alone: `make`
asks before set-up.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scripts.synth.sources import Build, build, calculators, policies, shared
from scripts.synth.targets import PARTS, TARGETS

ROOT = Path(__file__).resolve().parents[2]
RECORDS = ROOT / "docs" / "reference" / "figures" / "records"
CORE = "Downbeat"
ERROR = 15  # per cent of LUTs and flip-flops by which an estimate may be wrong
ROUTES = 75  # per cent of the LUTs; fuller designs do not route
BLOCK_BYTES = 2048  # payload in a DP16KD
FIRST = ("standard", "reno")  # a build keeps them
# LUTs in the engine beside policies and units. For each bit of policy state: memory, and the choice among policies. For
# calculations: their queue, and the choice of request and response.
STATE, CALCULATIONS = 8, 2500


@dataclass(frozen=True)
class Area:
    lut: float = 0
    ff: float = 0
    bram: float = 0
    dsp: float = 0
    state_bits: float = 0  # a flow

    def __add__(self, other: Area) -> Area:
        return Area(*(mine + its for mine, its in zip(self.parts(), other.parts(), strict=True)))

    def __sub__(self, other: Area) -> Area:
        return Area(*(mine - its for mine, its in zip(self.parts(), other.parts(), strict=True)))

    def parts(self) -> tuple[float, ...]:
        return self.lut, self.ff, self.bram, self.dsp, self.state_bits


def estimate(name: str) -> Area | None:
    """The core in the build of that name; None: no netlist of its preset is recorded."""
    wanted = build(name)
    for recorded, area in _cores():
        base = build(recorded)
        if (base.preset, base.event_spacing, base.external) == (wanted.preset, wanted.event_spacing, wanted.external):
            policy_area = _policies(wanted.policies) - _policies(base.policies)
            area += policy_area + _flows(wanted.flows) - _flows(base.flows) + _payload(wanted) - _payload(base)
            return replace(area, state_bits=_policies(wanted.policies).state_bits)
    return None


def on_board(name: str) -> Area | None:
    """All that a board's FPGA has in it with this build of the core: as recorded but for the core."""
    recorded = [entry["figures"] for entry in _read("bitstream-ecpix5-tcp") if entry["figures"].get("area")]
    core, before = estimate(name), estimate(recorded[0]["preset"]) if recorded else None
    if core is None or before is None:
        return None
    area = Area(*(recorded[0]["area"][part] for part in PARTS)) + core - before
    return replace(area, state_bits=core.state_bits)


def refusal(area: Area, name: str) -> str:
    """One line, if the device cannot have it; with the policies to leave out."""
    device = TARGETS["ecp5"]
    share = 100 * area.lut / device.there["lut"]
    if share <= ROUTES and area.bram <= device.there["bram"]:
        return ""
    have, out, lut = build(name).policies, list[str](), area.lut
    while lut > ROUTES / 100 * device.there["lut"] and (may := [each for each in have if each not in FIRST]):
        costs = {each: _policies(have).lut - _policies([other for other in have if other != each]).lut for each in may}
        dearest = max(may, key=lambda each: costs[each])
        have, lut = [each for each in have if each != dearest], lut - costs[dearest]
        out.append(dearest)
    if area.bram > device.there["bram"]:
        return f"{area.bram:.0f} block RAMs of {device.there['bram']}: take fewer flows or smaller buffers"
    return f"{share:.0f} % of the LUTs, and above {ROUTES} % does not route: leave out {', '.join(out)}"


def shown(area: Area) -> str:
    """Beside what the device has."""
    there = TARGETS["ecp5"].there
    parts = zip(PARTS, PARTS.values(), area.parts(), strict=False)
    each = (f"{name} {used:,.0f} of {there[part]:,} ({100 * used / there[part]:.0f} %)" for part, name, used in parts)
    return f"estimate: {', '.join(each)}, policies' state {area.state_bits:.0f} bits a flow"


def wrong(estimated: Area, lut: int, ff: int) -> str:
    """One line, if the netlist differs by more than the stated error."""
    off = {"LUTs": 100 * (estimated.lut / lut - 1), "flip-flops": 100 * (estimated.ff / ff - 1)}
    far = [f"{part} {each:+.0f} %" for part, each in off.items() if abs(each) > ERROR]
    return f"the estimate is off by more than {ERROR} %: {', '.join(far)}" if far else ""


def _policies(names: list[str]) -> Area:
    """Beyond what any policy takes."""
    known = {row["name"]: row for entry in _read("policies") for row in entry["figures"]}
    total, states = Area(), {"startup": [0], "steady": [0]}
    for name in names:
        family = "startup" if name in policies("startup") else "steady"
        rows = [row for row in known.values() if row["kind"] == family]
        row = known.get(name) or max(rows, key=lambda each: int(each["lut"]))  # from outside the tree: as the largest
        common = known["standard" if family == "startup" else "reno"]
        total += Area(
            row["lut"] - common["lut"], max(0, row["ff"] - common["ff"]), 0, max(0, row["dsp"] - common["dsp"])
        )
        states[family].append(row["state_bits"])
    units = {row["name"]: row for entry in _read("core") for row in entry["figures"]["modules"]}
    wanted = {each for name in names for each in calculators(name)}
    programs = shared(wanted)
    one = {max(programs, key=lambda each: int(units[_unit(each)]["lut"]))} if programs else set[str]()
    for calculator in wanted - programs | one:
        row = units[_unit(calculator)]
        total += Area(row["lut"], row["ff"], row["bram"], row["dsp"])
    bits = max(states["startup"]) + max(states["steady"])
    return total + Area(lut=STATE * bits + (CALCULATIONS if wanted else 0), state_bits=bits)


def _unit(calculator: str) -> str:
    return "DeliveryBench" if calculator == "deliverybench" else f"Calculator{calculator.capitalize()}"


def _flows(flows: int) -> Area:
    """By the recorded builds of more and more flows; between two of them on a straight line in their logarithm."""
    runs = {}
    for entry in _read("synth"):
        if entry["figures"]["preset"] == "lean":
            rows = entry["figures"]["modules"]
            runs[entry["figures"]["flows"]] = Area(*(sum(row[part] for row in rows) for part in PARTS))
    known = sorted(runs)
    at = min(max(flows, known[0]), known[-1])
    low = max(each for each in known if each <= at)
    high = min(each for each in known if each >= at)
    if low == high:
        return runs[low]
    share = math.log(at / low) / math.log(high / low)
    return Area(*(a + share * (b - a) for a, b in zip(runs[low].parts(), runs[high].parts(), strict=True)))


def _payload(of: Build) -> Area:
    return Area() if of.external else Area(bram=2 * of.flows * of.buffer_bytes / BLOCK_BYTES)


def _cores() -> Iterable[tuple[str, Area]]:
    for entry in _read("core"):
        rows = entry["figures"]["modules"]
        if entry["figures"]["target"] == "ecp5" and [row["name"] for row in rows] == [CORE]:
            yield entry["figures"]["preset"], Area(*(rows[0][part] for part in PARTS))


@functools.cache
def _read(name: str) -> list[dict[str, Any]]:
    file = RECORDS / f"{name}.json"
    return json.loads(file.read_text()) if file.exists() else []
