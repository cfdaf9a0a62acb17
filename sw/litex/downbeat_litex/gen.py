# SPDX-License-Identifier: BSD-2-Clause-Patent
"""One Verilog file for a configuration, as liteeth_gen writes for LiteEth: the core, its memory, and a board's PHY.

`python -m downbeat_litex.gen core.yml [--output downbeat_core.v]`. Keys of the configuration, and their defaults:

board: required, a platform of litex-boards
phy: rgmii or gmii; by default what the board's pins are
port: 0, which of the board's Ethernet ports
bus: wishbone or axi-lite
verilog: build/rtl/DownbeatHostGmii.v
memory_bytes: 65536
"""

from __future__ import annotations

import argparse
import difflib
import logging
import sys
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import yaml

from downbeat_litex.boards import hint
from downbeat_litex.verilog import CoreRefused

CSR, REGISTERS = 0x0000_0000, 0x0001_0000
BUSES = ("wishbone", "axi-lite")


@dataclass(frozen=True)
class Configuration:
    board: str = ""
    phy: str = ""
    port: int = 0
    bus: str = "wishbone"
    verilog: str = "build/rtl/DownbeatHostGmii.v"
    memory_bytes: int = 64 * 1024


def read(path: Path) -> Configuration:
    """Raises CoreRefused for what is no configuration."""
    try:
        given = yaml.safe_load(path.read_text())
    except OSError as error:
        raise CoreRefused(f"{path}: {error.strerror}") from None
    except yaml.YAMLError as error:
        raise CoreRefused(f"{path}: no YAML: {' '.join(str(error).split())}") from None
    if not isinstance(given, dict):
        raise CoreRefused(f"{path}: no keys in it; board: NAME is the least")
    kinds = {field.name: type(field.default) for field in fields(Configuration)}
    for name, value in given.items():
        if name not in kinds:
            raise CoreRefused(f"{path}: {name}: no such key{hint(difflib.get_close_matches(str(name), kinds, n=1))}")
        if type(value) is not kinds[name]:
            raise CoreRefused(f"{path}: {name}: {value!r} is no {'text' if kinds[name] is str else 'whole number'}")
    configuration = Configuration(**given)
    if not configuration.board:
        raise CoreRefused(f"{path}: no board; name a platform of litex-boards")
    if configuration.bus not in BUSES:
        raise CoreRefused(f"{path}: bus {configuration.bus}: use {' or '.join(BUSES)}")
    return configuration


def generate(configuration: Configuration, output: Path) -> None:
    """Writes the file. Pins: `sys_clock`, `sys_reset`, `transmit_clock` (125 MHz) where the PHY takes it, the bus,
    `interrupt`, and those of the board's PHY. Raises CoreRefused before it writes anything."""
    from litex.build.generic_platform import Pins
    from litex.gen import LiteXModule
    from litex.soc.integration.soc_core import SoCMini
    from litex.soc.interconnect import axi, wishbone
    from migen import ClockDomain

    from downbeat_litex.boards import phy_of, platform_of
    from downbeat_litex.soc import add_downbeat

    platform = platform_of(configuration.board)
    pins = ("sys_clock", "sys_reset", "transmit_clock", "interrupt")
    platform.add_extension([(name, 0, Pins(1)) for name in pins])
    transmit_clock = platform.request("transmit_clock")
    phy = phy_of(platform, configuration.board, configuration.phy, configuration.port, transmit_clock)

    class Clocks(LiteXModule):  # type: ignore[misc]
        def __init__(self) -> None:
            self.cd_sys = ClockDomain("sys")
            self.comb += self.cd_sys.clk.eq(platform.request("sys_clock"))
            self.comb += self.cd_sys.rst.eq(platform.request("sys_reset"))

    class Core(SoCMini):  # type: ignore[misc]
        def __init__(self) -> None:
            self.mem_map = {
                "csr": CSR,
                "downbeat": REGISTERS,
                "downbeat_memory": max(0x0010_0000, configuration.memory_bytes),
            }
            super().__init__(platform, clk_freq=int(62.5e6), bus_standard=configuration.bus)
            self.crg = Clocks()
            self.ethphy = phy
            downbeat = add_downbeat(
                self,
                phy=phy,
                verilog=configuration.verilog,
                memory_bytes=configuration.memory_bytes,
                with_timing_constraints=False,
            )
            self.comb += platform.request("interrupt").eq(downbeat.ev.irq)
            if configuration.bus == "wishbone":
                bus: Any = wishbone.Interface(data_width=32, address_width=32, addressing="word")
            else:
                bus = axi.AXILiteInterface(data_width=32, address_width=32)
            platform.add_extension(bus.get_ios("bus"))
            self.comb += bus.connect_to_pads(platform.request("bus"), mode="slave")
            self.bus.add_master(name="bus", master=bus)

    soc = Core()
    soc.finalize()
    fragment = soc.get_fragment()
    platform.finalize(fragment)
    written = platform.get_verilog(fragment, name=output.stem)
    text = f"{written.main_source}\n{Path(configuration.verilog).read_text()}"
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(text)


def main() -> int:
    parser = argparse.ArgumentParser(prog="litex_downbeat_gen", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("configuration", type=Path, help="a YAML file; the head of this module lists its keys")
    parser.add_argument("--output", type=Path, default=Path("downbeat_core.v"))
    options = parser.parse_args()
    logging.disable(logging.INFO)  # LiteX tells each region
    try:
        generate(read(options.configuration), options.output)
    except CoreRefused as refused:
        print(f"litex_downbeat_gen: {refused}", file=sys.stderr)
        return 2
    print(f"{options.output}: module {options.output.stem}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
