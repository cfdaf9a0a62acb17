# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The core with its MAC as a module: `DownbeatHostGmii`, whose payload and rings are in the SoC's memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from litex.gen import LiteXModule
from litex.soc.interconnect import axi
from litex.soc.interconnect.csr import CSRStorage
from litex.soc.interconnect.csr_eventmanager import EventManager, EventSourceLevel
from migen import ClockSignal, Instance, ResetSignal, Signal

from downbeat_litex.verilog import CoreRefused, ports_of

TOP = "DownbeatHostGmii"
FIELDS = {
    "aw": ("addr", "id", "len", "size", "burst", "prot"),
    "w": ("data", "strb", "last"),
    "b": ("id", "resp"),
    "ar": ("addr", "id", "len", "size", "burst", "prot"),
    "r": ("data", "id", "resp", "last"),
}
FORWARD = ("aw", "w", "ar")  # channels from master to slave


class DownbeatCore(LiteXModule):  # type: ignore[misc]
    """Clock domains: `sys`, and the PHY's, `PHY_CD_rx` and `PHY_CD_tx`, of 125 MHz.

    `bus`: AXI4-Lite to the registers, `register_bytes` bytes. `masters`: AXI4 to payload and rings, 64 bits.
    `phy`: a LiteEth PHY that takes and gives a byte in each clock (GMII, RGMII, 1000BASE-X), or GMII pads.
    `ev`: an interrupt for each host port. `time`: 64 bits, ns in bits 63 to 16.
    """

    def __init__(self, platform: Any, phy: Any, verilog: str | Path, phy_cd: str = "eth") -> None:
        verilog = Path(verilog).resolve()
        self._ports = ports_of(verilog, TOP)
        self._connections: dict[str, Any] = {"i_clk": ClockSignal("sys"), "i_reset": ResetSignal("sys")}
        address_bits = self._ports["s_axil_awaddr"].width
        self.register_bytes = 1 << address_bits
        self.bus = axi.AXILiteInterface(data_width=32, address_width=32)
        self.masters = [self._master("m_axi"), self._master("m_axi_host")]
        self._channels("s_axil", self.bus, to_core=True)

        self.time, self.core_reset = Signal(64), Signal()
        self._connections |= {"o_time_now": self.time, "o_core_reset": self.core_reset}
        self.link = CSRStorage(reset=1, description="1: the PHY has a link. Without one the MAC drops frames.")
        self._connections["i_link_up"] = self.link.storage & getattr(phy, "link_up", 1)
        self._wire(phy, phy_cd)

        interrupts = Signal(self._ports["interrupt"].width)
        self._connections["o_interrupt"] = interrupts
        self.ev = EventManager()
        for index in range(len(interrupts)):
            source = EventSourceLevel(name=f"port{index}", description=f"Host port {index} has unread notifications.")
            setattr(self.ev, f"port{index}", source)
            self.comb += source.trigger.eq(interrupts[index])
        self.ev.finalize()

        # The fabric's own streams are not used: what the core would give there is taken, nothing is offered.
        for name, port in self._ports.items():
            if port.direction == "input" and f"i_{name}" not in self._connections:
                self._connections[f"i_{name}"] = int(name.endswith("_tready"))
        self.specials += Instance(TOP, **self._connections)
        platform.add_source(str(verilog))

    def _master(self, prefix: str) -> axi.AXIInterface:
        id_bits = self._ports[f"{prefix}_awid"].width
        interface = axi.AXIInterface(data_width=64, address_width=32, id_width=id_bits)
        self._channels(prefix, interface, to_core=False)
        return interface

    def _channels(self, prefix: str, interface: Any, to_core: bool) -> None:
        for name, fields in FIELDS.items():
            channel = getattr(interface, name)
            there, back = ("i", "o") if (name in FORWARD) == to_core else ("o", "i")
            for direction, field in ((there, "valid"), (back, "ready"), *((there, field) for field in fields)):
                port = self._ports.get(f"{prefix}_{name}{field}")
                if port is None:
                    continue  # an AXI4-Lite channel has fewer
                signal = getattr(channel, field)
                if len(signal) != port.width:
                    signal = self._resized(signal, port.width, direction)
                self._connections[f"{direction}_{prefix}_{name}{field}"] = signal

    def _resized(self, signal: Any, width: int, direction: str) -> Signal:
        """Addresses: those of the SoC have 32 bits."""
        pin = Signal(width)
        self.comb += pin.eq(signal) if direction == "i" else signal.eq(pin)
        return pin

    def _wire(self, phy: Any, phy_cd: str) -> None:
        gmii = {"rx_clk": ClockSignal(f"{phy_cd}_rx"), "gtx_clk": ClockSignal(f"{phy_cd}_tx")}
        if hasattr(phy, "sink"):
            if getattr(phy, "dw", 8) != 8:
                raise CoreRefused(f"{type(phy).__name__}: a PHY of {phy.dw} bits; the core's MAC has GMII, 8 bits")
            gmii |= {"rxd": phy.source.data, "rx_dv": phy.source.valid, "rx_er": phy.source.error}
            gmii |= {"txd": phy.sink.data, "tx_en": phy.sink.valid}
            self.comb += phy.source.ready.eq(1)
        else:
            gmii |= {"rxd": phy.rx_data, "rx_dv": phy.rx_dv, "rx_er": phy.rx_er}
            gmii |= {"txd": phy.tx_data, "tx_en": phy.tx_en, "tx_er": phy.tx_er}
        for name, signal in gmii.items():
            self._connections[f"{'i' if self._ports[f'gmii_{name}'].direction == 'input' else 'o'}_gmii_{name}"] = (
                signal
            )
