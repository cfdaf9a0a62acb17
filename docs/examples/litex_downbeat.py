# SPDX-License-Identifier: BSD-2-Clause-Patent
"""DownbeatAxi in a LiteX SoC: its registers on the SoC's bus, its streams as endpoints, all in the clock domain sys.

self.downbeat = DownbeatAxi(platform, "build/rtl/DownbeatAxi.v")
self.bus.add_slave("downbeat", self.downbeat.bus, SoCRegion(origin=0x9000_0000, size=0x1000, cached=False))
self.comb += self.downbeat.now.eq(time)  # ns in bits 63..16
"""

from __future__ import annotations

from typing import Any

from litex.gen import LiteXModule
from litex.soc.interconnect import axi
from migen import ClockSignal, Instance, ResetSignal, Signal

# Stream: does the core take it; bits of TDATA, TUSER, TDEST (0: none); has it TKEEP and TLAST. Preset `default`.
STREAMS = {
    "wire_rx": (True, 64, 65, 0, True),
    "wire_tx": (False, 64, 82, 0, True),
    "departure": (True, 80, 0, 0, False),
    "bypass_rx": (False, 64, 65, 0, True),
    "bypass_tx": (True, 64, 0, 0, True),
    "command": (True, 576, 0, 0, False),
    "notification": (False, 344, 0, 0, False),
    "path_report": (False, 440, 0, 0, False),
    "tx": (True, 64, 1, 4, True),
    "rx": (False, 64, 1, 4, True),
}
ADDRESS_BITS = 12  # register addresses
CHANNELS = {"aw": ("prot",), "w": ("data", "strb"), "ar": ("prot",)}  # to the core
RESPONSES = {"b": ("resp",), "r": ("data", "resp")}


class DownbeatAxi(LiteXModule):  # type: ignore[misc]
    def __init__(self, platform: Any, verilog: str) -> None:
        self.bus = axi.AXILiteInterface(data_width=32, address_width=32)
        self.now, self.core_reset = Signal(64), Signal()
        ports = {"i_clk": ClockSignal(), "i_reset": ResetSignal(), "i_now": self.now, "o_core_reset": self.core_reset}
        for channels, to_core in ((CHANNELS, True), (RESPONSES, False)):
            there, back = ("i", "o") if to_core else ("o", "i")
            for name, fields in channels.items():
                channel = getattr(self.bus, name)
                ports[f"{there}_s_axil_{name}valid"] = channel.valid
                ports[f"{back}_s_axil_{name}ready"] = channel.ready
                ports |= {f"{there}_s_axil_{name}{field}": getattr(channel, field) for field in fields}
        for name in ("aw", "ar"):
            ports[f"i_s_axil_{name}addr"] = getattr(self.bus, name).addr[:ADDRESS_BITS]
        for name, (to_core, data, user, dest, packet) in STREAMS.items():
            stream = axi.AXIStreamInterface(data_width=data, user_width=user, dest_width=dest)
            setattr(self, name, stream)
            there, back, prefix = ("i", "o", f"s_axis_{name}_t") if to_core else ("o", "i", f"m_axis_{name}_t")
            ports |= {f"{there}_{prefix}valid": stream.valid, f"{there}_{prefix}data": stream.data}
            if name != "departure":  # it is always taken
                ports[f"{back}_{prefix}ready"] = stream.ready
            if packet:
                ports |= {f"{there}_{prefix}keep": stream.keep, f"{there}_{prefix}last": stream.last}
            if user:
                ports[f"{there}_{prefix}user"] = stream.user
            if dest:
                ports[f"{there}_{prefix}dest"] = stream.dest
        self.comb += self.departure.ready.eq(1)
        self.specials += Instance("DownbeatAxi", **ports)
        platform.add_source(verilog)
