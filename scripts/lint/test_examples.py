# SPDX-License-Identifier: BSD-2-Clause-Patent
"""docs/examples: each passes Verilator's warnings beside the core's ports, and connects each of them that it names.

The core stands here as its ports alone; test_verilog.py reads what is inside.
"""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from scripts.lint.tools import ROOT, VERILOG, passes

EXAMPLES = ROOT / "docs" / "examples"
WAIVERS = Path("scripts/lint/waivers.vlt")
# Example, module in build/rtl, its name to the example, and ports of the core that must go to the example.
JOINED = (
    ("ddr", "DownbeatExternalMemory", "Downbeat", "m_axi_"),
    ("pcie", "DownbeatAxi", "DownbeatAxi", "s_axil_"),
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


# ---- LiteX, by stand-ins for what the example takes of it


class Signal:
    def __init__(self, bits: int = 1) -> None:
        self.bits = bits

    def __getitem__(self, part: slice) -> Signal:
        return Signal(part.stop)

    def eq(self, _value: Any) -> None:
        pass


class Interface:
    """A stand-in for any channels and signals; the widths are those of LiteX's AXI interfaces."""

    def __init__(self, data_width: int, address_width: int = 0, user_width: int = 0, dest_width: int = 0) -> None:
        self.widths = {"data": data_width, "addr": address_width, "user": user_width, "dest": dest_width}
        self.widths |= {"keep": data_width // 8, "strb": data_width // 8, "prot": 3, "resp": 2}

    def __getattr__(self, name: str) -> Any:
        return self if name in ("aw", "w", "b", "ar", "r") else Signal(self.widths.get(name, 1))


class Statements:
    def __init__(self) -> None:
        self.all: list[Any] = []

    def __iadd__(self, statement: Any) -> Statements:
        self.all.append(statement)
        return self


class LiteXModule:
    @property
    def comb(self) -> Statements:
        return self.__dict__.setdefault("_comb", Statements())  # type: ignore[no-any-return]

    @comb.setter
    def comb(self, _: Statements) -> None: ...

    @property
    def specials(self) -> Statements:
        return self.__dict__.setdefault("_specials", Statements())  # type: ignore[no-any-return]

    @specials.setter
    def specials(self, _: Statements) -> None: ...


def litex(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """docs/examples/litex_downbeat.py with the stand-ins."""
    migen: dict[str, Any] = {"Signal": Signal, "ClockSignal": Signal, "ResetSignal": Signal}
    migen["Instance"] = lambda module, **connections: (module, connections)
    axi = {"AXILiteInterface": Interface, "AXIStreamInterface": Interface}
    stand_ins = {
        "migen": migen,
        "litex.gen": {"LiteXModule": LiteXModule},
        "litex.soc.interconnect": {"axi": type("axi", (), axi)},
    }
    for name, contents in stand_ins.items():
        module = ModuleType(name)
        vars(module).update(contents)
        monkeypatch.setitem(sys.modules, name, module)
    for name in ("litex", "litex.soc"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    specification = importlib.util.spec_from_file_location("litex_downbeat", EXAMPLES / "litex_downbeat.py")
    assert specification and specification.loader
    example = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(example)
    return example


def test_the_litex_module_connects_the_ports_of_the_core(monkeypatch: pytest.MonkeyPatch) -> None:
    declared = ports((VERILOG / "DownbeatAxi.v").read_text(), "DownbeatAxi")
    sources: list[str] = []
    platform = type("Platform", (), {"add_source": staticmethod(sources.append)})
    built = litex(monkeypatch).DownbeatAxi(platform, "DownbeatAxi.v")
    ((module, connections),) = built.specials.all
    assert module == "DownbeatAxi" and sources == ["DownbeatAxi.v"]
    for name, signal in connections.items():
        port = declared[name[2:]]
        assert (port.direction[0], port.width) == (name[0], signal.bits), name
    inputs = {f"i_{name}" for name, port in declared.items() if port.direction == "input"}
    assert inputs <= connections.keys()
    left_open = {name for name in declared if f"o_{name}" not in connections and f"i_{name}" not in connections}
    assert all(re.match("idle|nextDeadline|trace_|counters_", name) for name in left_open)
