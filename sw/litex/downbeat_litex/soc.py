# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`add_downbeat`: the core's registers, memory and interrupt in a SoC."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from litex.soc.integration.soc import SoCRegion

from downbeat_litex.core import DownbeatCore
from downbeat_litex.memory import BlockPayload, DramPayload
from downbeat_litex.verilog import CoreRefused


def add_downbeat(
    soc: Any,
    name: str = "downbeat",
    phy: Any = None,
    phy_cd: str = "eth",
    verilog: str | Path = "build/rtl/DownbeatHostGmii.v",
    memory: str = "block",
    memory_bytes: int = 64 * 1024,
    with_timing_constraints: bool = True,
) -> DownbeatCore:
    """Adds the regions NAME (registers) and NAME_memory (payload and rings, not cached) and the interrupt NAME.

    `memory`: block, block RAM; dram, the end of LiteDRAM's memory. `memory_bytes`: a power of two,
    downbeat_bare_bytes() of the build at least. Raises CoreRefused.
    """
    if memory not in ("block", "dram"):
        raise CoreRefused(f"memory {memory}: use block or dram")
    if memory_bytes < 4096 or memory_bytes & (memory_bytes - 1):
        raise CoreRefused(f"memory_bytes {memory_bytes}: use a power of two, 4096 or more")
    if memory == "dram" and not hasattr(soc, "sdram"):
        raise CoreRefused("memory dram: this SoC has no LiteDRAM; call add_sdram first, or use block")
    soc.check_if_exists(name)
    core = DownbeatCore(soc.platform, phy, verilog, phy_cd)
    soc.add_module(name=name, module=core)
    region = SoCRegion(origin=soc.mem_map.get(name), size=core.register_bytes, cached=False)
    soc.bus.add_slave(name=name, slave=core.bus, region=region)

    place = f"{name}_memory"
    region = SoCRegion(origin=soc.mem_map.get(place), size=memory_bytes, cached=False)
    soc.bus.add_region(place, region)
    if memory == "dram":
        payload: Any = DramPayload(core.masters, memory_bytes, soc, soc.bus.regions[place].origin)
    else:
        payload = BlockPayload(core.masters, memory_bytes)
    soc.add_module(name=place, module=payload)
    soc.bus.add_slave(name=place, slave=payload.bus)

    if soc.irq.enabled:
        soc.irq.add(name, use_loc_if_exists=True)
    if with_timing_constraints and hasattr(phy, "crg"):
        clocks = [getattr(phy.crg, f"cd_eth_{way}").clk for way in ("rx", "tx")]
        for clock in clocks:
            soc.platform.add_period_constraint(clock, 1e9 / getattr(phy, "tx_clk_freq", 125e6))
        soc.platform.add_false_path_constraints(soc.crg.cd_sys.clk, *clocks)
    return core
