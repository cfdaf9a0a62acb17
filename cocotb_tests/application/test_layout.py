# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The layout that programs read, against the bits of the bundles themselves."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import cocotb
from cocotb.triggers import Timer

from cocotb_tests.bench.layout import FILE, layout
from cocotb_tests.bench.runner import run_module


def test_layout() -> None:
    run_module("LayoutBench", __name__)


def test_the_header_says_what_the_json_says(tmp_path: Path) -> None:
    header = FILE.with_suffix(".h")
    subprocess.run(["cc", "-fsyntax-only", "-Wall", "-Wextra", "-pedantic", "-Werror", header], check=True)
    text = header.read_text()
    defined = {name: int(value) for name, value in re.findall(r"(?:#define| ) (DOWNBEAT_\w+)(?: =)? (\d+)", text)}
    expected: dict[str, int] = {upper(name): value for name, value in layout()["numbers"].items()}
    for name, bundle in layout()["bundles"].items():
        expected[f"{upper(name)}_BITS"] = bundle["bits"]
        for field, place in bundle["fields"].items():
            for key in ("offset", "width"):
                expected[f"{upper(name)}_{upper(field)}_{key.upper()}"] = place[key]
    for name, values in (layout()["enums"] | layout()["policies"]).items():
        expected |= {f"{upper(name)}_{upper(element)}": value for element, value in values.items()}
    assert defined == {f"DOWNBEAT_{name}": value for name, value in expected.items()}


def upper(name: str) -> str:
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).upper()


@cocotb.test()
@cocotb.parametrize(bundle=["Command", "Notification", "TraceRecord"])
async def each_field_lies_where_the_layout_says(dut: Any, bundle: str) -> None:
    port = bundle[0].lower() + bundle[1:]
    described = layout()["bundles"][bundle]
    fields = described["fields"]
    bits = getattr(dut, f"{port}Bits")
    assert len(bits) == described["bits"] == sum(place["width"] for place in fields.values())
    inputs = {field: getattr(dut, f"{port}_{field}") for field in fields}
    for handle in inputs.values():
        handle.value = 0
    for field, place in fields.items():
        assert len(inputs[field]) == place["width"], field
        ones = (1 << place["width"]) - 1
        inputs[field].value = ones
        await Timer(1, "ns")
        assert int(bits.value) == ones << place["offset"], field
        inputs[field].value = 0
