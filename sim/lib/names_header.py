# SPDX-License-Identifier: BSD-2-Clause-Patent
"""downbeat_build.h: what a build of the device is called and what its core's names are."""

from __future__ import annotations

import re
from typing import Any


def names_header(preset: str, tap: str, layout: dict[str, Any], verilog: str) -> str:
    """Its text: names of preset and tap, those behind the layout's numbers, and the core's counters, from its ports."""
    lines = ["// SPDX-License-Identifier: BSD-2-Clause-Patent", "#pragma once", f'#define DOWNBEAT_PRESET "{preset}"']
    lines.append(f'#define DOWNBEAT_TAP "{tap}"\n#define DOWNBEAT_TAP_{tap.upper()}')
    for name, elements in {**layout["enums"], **layout["policies"]}.items():
        texts = ", ".join(f'"{element}"' for element in _by_number(elements))
        words = re.sub("([a-z])([A-Z])", r"\1_\2", name).upper()
        lines.append(f"#define DOWNBEAT_{words}_NAMES {{{texts}}}")
    for family, policies in layout["arguments"].items():
        words = re.sub("([a-z])([A-Z])", r"\1_\2", family).upper()
        numbers = layout["policies"][family]
        each = ", ".join(_arguments_table(policies[name]) if name else "{}" for name in _by_number(numbers))
        lines.append(f"#define DOWNBEAT_{words}_ARGUMENTS {{{each}}}")
    counters = re.findall(r"output\s+wire\s+\[31:0\]\s+counters_(\w+)", verilog)
    lines.append(f"#define DOWNBEAT_CORE_COUNTERS(each) {' '.join(f'each({name})' for name in counters)}")
    return "\n".join([*lines, ""])


def _by_number(numbers: dict[str, int]) -> list[str]:
    """Names at the places of their numbers; empty at that of a policy that the build lacks."""
    of = {number: name for name, number in numbers.items()}
    return [of.get(number, "") for number in range(max(of) + 1)]


def _arguments_table(arguments: dict[str, Any]) -> str:
    """One policy's arguments as an initialiser (sim/device/core/policy_arguments.cpp)."""
    fields = arguments["fields"]
    rows = (
        f'{{"{name}", {field["offset"]}, {field["width"]}, {field["min"]}ull, {field["max"]}ull}}'
        for name, field in fields.items()
    )
    pairs = (
        f"{{{list(fields).index(lesser)}, {list(fields).index(greater)}}}" for lesser, greater in arguments["notAbove"]
    )
    return f"{{{arguments['bits']}, {str(arguments['needed']).lower()}, {{{', '.join(rows)}}}, {{{', '.join(pairs)}}}}}"
