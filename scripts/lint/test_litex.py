# SPDX-License-Identifier: BSD-2-Clause-Patent
"""sw/litex without LiteX: the module connects the core's ports, by stand-ins for what it takes of LiteX, and the
firmware compiles."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from scripts.lint.test_examples import ports
from scripts.lint.tools import ROOT, VERILOG, passes
from sim.litex import firmware

LINES = 150  # the firmware has fewer
CSR = """#include <stdint.h>
static inline uint32_t uart_txfull_read(void) { return 0; }
static inline void uart_rxtx_write(uint32_t value) { (void)value; }
static inline void uart_ev_pending_write(uint32_t value) { (void)value; }
"""
MEMORY = "\n".join(
    f"#define DOWNBEAT_{name}" for name in ("BASE 0x80000000L", "MEMORY_BASE 0x80040000L", "MEMORY_SIZE 0x40000L")
)


class Signal:
    def __init__(self, bits: int = 1, **_: Any) -> None:
        self.bits = bits

    def __len__(self) -> int:
        return self.bits

    def __getitem__(self, _part: object) -> Signal:
        return Signal()

    def __and__(self, _other: object) -> Signal:
        return self

    def eq(self, _value: Any) -> None:
        pass


class Interface:
    """A stand-in for any channels and signals; the widths are those of LiteX's interfaces."""

    def __init__(self, **widths: int) -> None:
        data = widths.get("data_width", 8)
        self.widths = {"data": data, "addr": widths.get("address_width", 1), "id": widths.get("id_width", 1)}
        self.widths |= {"strb": data // 8, "prot": 3, "resp": 2, "len": 8, "size": 3, "burst": 2}

    def __getattr__(self, name: str) -> Any:
        if name in ("aw", "w", "b", "ar", "r", "source", "sink"):
            return self
        return Signal(self.widths.get(name, 1))


class Phy:
    """As those of LiteEth that give and take a byte in each clock."""

    def __init__(self) -> None:
        self.source, self.sink = Interface(), Interface()


class Statements:
    def __init__(self) -> None:
        self.all: list[Any] = []

    def __iadd__(self, statement: Any) -> Statements:
        self.all.append(statement)
        return self


class Module:
    def __init__(self) -> None:
        self.comb, self.specials = Statements(), Statements()

    def __new__(cls, *_: Any, **__: Any) -> Any:
        made = super().__new__(cls)
        Module.__init__(made)
        return made


@pytest.fixture
def core(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """downbeat_litex.core with the stand-ins."""
    source = type("Source", (), {"__init__": lambda self, **_: setattr(self, "trigger", Signal())})
    manager = type("EventManager", (), {"finalize": lambda self: None})
    storage = type("CSRStorage", (), {"__init__": lambda self, **_: setattr(self, "storage", Signal())})
    stand_ins: dict[str, dict[str, Any]] = {
        "litex": {},
        "litex.gen": {"LiteXModule": Module},
        "litex.soc": {},
        "litex.soc.integration": {},
        "litex.soc.integration.soc": {"SoCRegion": None},
        "litex.soc.interconnect": {
            "axi": type("axi", (), {"AXILiteInterface": Interface, "AXIInterface": Interface}),
            "wishbone": None,
        },
        "litex.soc.interconnect.csr": {"CSRStorage": storage},
        "litex.soc.interconnect.csr_eventmanager": {"EventManager": manager, "EventSourceLevel": source},
        "migen": dict.fromkeys(("Array", "Case", "If", "Memory", "Mux", "NextState", "NextValue"))
        | {name: lambda *_: Signal() for name in ("ClockSignal", "ResetSignal")}
        | {"Signal": Signal, "Instance": lambda module, **connections: (module, connections)},
        "migen.genlib": {},
        "migen.genlib.fsm": {"FSM": None},
    }
    for name, contents in stand_ins.items():
        module = ModuleType(name)
        vars(module).update(contents)
        monkeypatch.setitem(sys.modules, name, module)
    ours = [name for name in sys.modules if name.startswith("downbeat_litex")]
    for name in ours:
        monkeypatch.delitem(sys.modules, name)
    import downbeat_litex.core

    yield downbeat_litex.core
    for name in [name for name in sys.modules if name.startswith("downbeat_litex")]:
        monkeypatch.delitem(sys.modules, name, raising=False)


def test_the_module_connects_the_ports_of_the_core(core: ModuleType) -> None:
    declared = ports((VERILOG / "DownbeatHostGmii.v").read_text(), "DownbeatHostGmii")
    sources: list[str] = []
    platform = type("Platform", (), {"add_source": staticmethod(sources.append)})
    built = core.DownbeatCore(platform, Phy(), VERILOG / "DownbeatHostGmii.v")
    ((module, connections),) = built.specials.all
    assert module == "DownbeatHostGmii" and sources == [str(VERILOG / "DownbeatHostGmii.v")]
    for name, signal in connections.items():
        port = declared[name[2:]]
        assert port.direction[0] == name[0], name
        assert not isinstance(signal, Signal) or port.width == signal.bits, name
    inputs = {f"i_{name}" for name, port in declared.items() if port.direction == "input"}
    assert inputs <= connections.keys()
    given = {
        f"o_{name}" for name in declared if name.startswith(("m_axi_", "s_axil_", "gmii_tx")) if name != "gmii_tx_er"
    }
    assert {name for name in given if declared[name[2:]].direction == "output"} <= connections.keys()
    assert connections["i_m_axis_notification_tready"] == 1 and connections["i_s_axis_command_tvalid"] == 0


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("missing.v", "no such file; make rtl PRESET=board,hostPorts=2"),
        ("DownbeatHost.v", "no module DownbeatHostGmii"),
    ],
)
def test_another_verilog_is_refused_in_one_line(core: ModuleType, name: str, says: str) -> None:
    with pytest.raises(core.CoreRefused, match=says) as refused:
        core.DownbeatCore(None, Phy(), VERILOG / name)
    assert "\n" not in str(refused.value)


def test_a_phy_of_another_width_is_refused(core: ModuleType) -> None:
    phy = Phy()
    phy.dw = 64  # type: ignore[attr-defined]
    with pytest.raises(core.CoreRefused, match="Phy: a PHY of 64 bits; the core's MAC has GMII, 8 bits"):
        core.DownbeatCore(None, phy, VERILOG / "DownbeatHostGmii.v")


def test_the_firmware_is_short_and_compiles_over_the_headers(tmp_path: Path) -> None:
    """By the host's compiler, with stand-ins for the headers that LiteX generates."""
    (source,) = firmware.FIRMWARE.glob("*.c")
    assert len(source.read_text().splitlines()) < LINES
    (tmp_path / "generated").mkdir()
    for name, text in (
        ("generated/csr.h", CSR),
        ("generated/mem.h", MEMORY + "\n"),
        ("addresses.h", firmware.addresses()),
    ):
        (tmp_path / name).write_text(text)
    include = [f"-I{place}" for place in (tmp_path, *firmware.INCLUDE)]
    passes("gcc", "-fsyntax-only", *firmware.WARNINGS, "-Wno-int-to-pointer-cast", *include, source)
    assert f"capacity = 1 << {firmware.LARGEST_FILE.bit_length() - 1}" in source.read_text()


def test_the_driver_of_the_firmware_is_the_repository_s() -> None:
    assert {path.parent for path in firmware.SOURCES} == {ROOT / "sw" / "bare", firmware.FIRMWARE}
