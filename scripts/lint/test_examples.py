# SPDX-License-Identifier: BSD-2-Clause-Patent
"""docs/examples: each passes Verilator's warnings beside the core's ports, and connects each of them that it names.

The core stands here as its ports alone; test_verilog.py reads what is inside.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from scripts.lint.tools import ROOT, VERILOG, passes

EXAMPLES = ROOT / "docs" / "examples"
WAIVERS = Path("scripts/lint/waivers.vlt")
# Example, module in build/rtl, its name to the example, and ports of the core that must go to the example.
JOINED = (
    ("ddr", "DownbeatExternalMemory", "Downbeat", "m_axi_"),
    ("pcie", "DownbeatAxi", "DownbeatAxi", "s_axil_"),
    ("taxi", "Downbeat", "Downbeat", "[ms]_axis_(wire|departure)_"),
)


@dataclass(frozen=True)
class Port:
    direction: str  # input, output
    bits: str  # [63:0], or nothing

    @property
    def width(self) -> int:
        high = re.match(r"\[(\d+):0\]", self.bits)
        return int(high[1]) + 1 if high else 1


def ports(verilog: str, module: str) -> dict[str, Port]:
    """The ports of a module that declares them in its head; ranges are as written."""
    head = re.search(rf"^module {module}\b(?:\s*#\(.*?^\))?\s*\((.*?)^\);", verilog, re.DOTALL | re.MULTILINE)
    assert head
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", head[1])
    found, port = {}, Port("", "")
    for part in text.split(","):
        words = re.fullmatch(r"\s*(?:(input|output)\s+(?:wire|reg)\s*(\[[^\]]+\])?\s*)?(\w+)\s*", part)
        assert words, part
        port = Port(words[1], words[2] or "") if words[1] else port
        found[words[3]] = port
    return found


def core(module: str, name: str) -> str:
    """A module of that name with the ports of the elaborated one, and nothing inside."""
    declared = ports((VERILOG / f"{module}.v").read_text(), module)
    lines = ",\n".join(f"  {port.direction} wire {port.bits} {wire}" for wire, port in declared.items())
    return f"/* verilator lint_off UNDRIVEN */\nmodule {name} (\n{lines}\n);\nendmodule\n/* verilator lint_on UNDRIVEN */\n"


def lint(place: Path, text: str, top: str, *files: Path) -> None:
    source = place / "beside.v"
    source.write_text(text)
    passes("verilator", "--lint-only", "-Wall", "--top-module", top, WAIVERS, source, *files)


def test_the_nic_connects_each_input_of_the_core(tmp_path: Path) -> None:
    source = EXAMPLES / "nic.v"
    lint(tmp_path, core("Downbeat", "Downbeat"), "nic", source)
    declared = ports((VERILOG / "Downbeat.v").read_text(), "Downbeat")
    connected = set(re.findall(r"\.(\w+)\(", source.read_text()))
    assert not {name for name, port in declared.items() if port.direction == "input"} - connected


@pytest.mark.parametrize(("example", "module", "name", "named"), JOINED)
def test_an_example_and_the_core_fit(example: str, module: str, name: str, named: str, tmp_path: Path) -> None:
    """Every port that both have is one wire: widths are Verilator's to compare."""
    source = EXAMPLES / f"{example}.v"
    theirs = ports((VERILOG / f"{module}.v").read_text(), module)
    own = ports(source.read_text(), example)
    both = [wire for wire in theirs if wire in own]
    assert {wire for wire in theirs if re.match(named, wire)} <= set(both)
    opposite = {wire for wire in both if theirs[wire].direction != own[wire].direction}
    assert opposite == {wire for wire in both if wire not in ("clk", "reset", "now")} | ({"reset"} & opposite)
    wires = "".join(f"  wire {theirs[wire].bits} {wire};\n" for wire in both)
    connections = ", ".join(f".{wire}({wire})" for wire in both)
    text = (
        f"{core(module, name)}/* verilator lint_off PINMISSING */\n/* verilator lint_off UNDRIVEN */\n"
        f"module joined;\n{wires}  {name} core ({connections});\n  {example} example ({connections});\nendmodule\n"
    )
    lint(tmp_path, text, "joined", source)


def test_the_open_command_has_the_offsets_of_the_layout(tmp_path: Path) -> None:
    source = EXAMPLES / "open_command.v"
    lint(tmp_path, "", "open_command", source)
    command = json.loads((VERILOG / "downbeat_layout.json").read_text())["bundles"]["Command"]
    offsets = {re.sub("([A-Z])", r"_\1", name).upper(): field["offset"] for name, field in command["fields"].items()}
    written = {name: int(value) for name, value in re.findall(r"([A-Z_]+) = (\d+)", source.read_text())}
    assert written.pop("BITS") == -(-command["bits"] // 8) * 8
    assert written == {name: offsets[name] for name in written} and len(written) == 5


def test_a_port_of_another_width_is_found(tmp_path: Path) -> None:
    narrow = core("Downbeat", "Downbeat").replace("[127:0] secret", "[63:0] secret")
    with pytest.raises(pytest.fail.Exception, match="WIDTHTRUNC"):
        lint(tmp_path, narrow, "nic", EXAMPLES / "nic.v")
