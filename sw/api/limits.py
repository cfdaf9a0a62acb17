# SPDX-License-Identifier: BSD-2-Clause-Patent
"""downbeat_parameters.h: limits of a connection's parameters, from the layout of the core's commands."""

from __future__ import annotations

import json
import re
from typing import Any

from sw.api.model import ROOT

LAYOUT = ROOT / "sw" / "python" / "downbeat_toe" / "downbeat_layout.json"
HEADER = "sw/include/downbeat_parameters.h"
PREFIX, START = "parameters_", "start_"
BY_NAME = ("startup", "steady", "startupArgument", "steadyArgument")  # checked with the policies, not as numbers
COUNTERS = ("acked", "acks")
TIME = "time_ns"


def words(name: str) -> str:
    """`initialWindow` as `initial_window`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def largest(parsed: Any, field: Any) -> int:
    """The largest value of a field of the layout."""
    return len(parsed["enums"][field["enum"]]) - 1 if "enum" in field else (1 << field["width"]) - 1


def header() -> str:
    """The header's text."""
    parsed = json.loads(LAYOUT.read_text())
    fields = {
        name.removeprefix(PREFIX): field
        for name, field in parsed["bundles"]["Command"]["fields"].items()
        if name.startswith(PREFIX) and name.removeprefix(PREFIX) not in BY_NAME
    }
    reports = parsed["bundles"]["PathReport"]["fields"]
    lines = [
        "// SPDX-License-Identifier: BSD-2-Clause-Patent",
        "// Numbers of downbeat_parameters: member, field of the core's command, largest value. Generated from the RTL by",
        "// `make generate`; do not edit.",
        "#pragma once",
        "",
        "#include <cstdint>",
        "",
    ]
    for macro, of_start in (("DOWNBEAT_PARAMETERS", False), ("DOWNBEAT_START_PARAMETERS", True)):
        rows = [f"#define {macro}(each)"]
        for name, field in fields.items():
            if name.startswith(START) is not of_start:
                continue
            member = words(name.removeprefix("service_").removeprefix("recovery_").replace(START, "start.", 1))
            rows.append(f"  each({member}, {(PREFIX + words(name)).upper()}, {largest(parsed, field)}u)")
        lines += [f"{row:<119}\\" for row in rows[:-1]] + [rows[-1], ""]
    starts = {name: field for name, field in fields.items() if name.startswith(START)}
    lines += ["namespace downbeat {", "", "// Largest values of the host start's numbers."]
    for name, field in starts.items():
        camel = "".join(part[0].upper() + part[1:] for part in name.split("_"))
        lines.append(f"inline constexpr std::uint64_t max{camel} = {largest(parsed, field)}u;")
    lines += ["", "// Bits of counters in a path report."]
    lines += [f"inline constexpr unsigned {name}Bits = {reports[name]['width']};" for name in COUNTERS]
    lines += ["", "// The core's time in a path report, ns."]
    lines.append(f"inline constexpr std::uint64_t coreTimeMask = {largest(parsed, reports[TIME])}u;")
    return "\n".join([*lines, "", "} // namespace downbeat", ""])
