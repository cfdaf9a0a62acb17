# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Memory for payload and rings: the core's two AXI4 ports on one side, the processor's bus on the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from litex.gen import LiteXModule
from litex.soc.interconnect import axi, wishbone
from migen import Array, Case, If, Memory, Mux, NextState, NextValue, Signal
from migen.genlib.fsm import FSM

WIDTH = 64  # bits of the core's ports


class BlockPayload(LiteXModule):  # type: ignore[misc]
    """Block RAM of `size` bytes, a power of two: `masters` share its first port, `bus` (Wishbone, 64 bits) has the
    second.

    A burst moves a beat a clock. Reads and writes of a master take turns, and so do masters: all wait for one burst at
    most for each of the others. Addresses count modulo `size`. A write's response says that `bus` sees it.
    """

    def __init__(self, masters: Sequence[axi.AXIInterface], size: int) -> None:
        memory = Memory(WIDTH, size // (WIDTH // 8))
        port = memory.get_port(write_capable=True, we_granularity=8)
        self.specials += port
        self.ram = wishbone.SRAM(memory, bus=wishbone.Interface(data_width=WIDTH, address_width=32, addressing="word"))
        self.bus = self.ram.bus

        turns = 2 * len(masters)  # master m: 2 m reads, 2 m + 1 writes
        turn, word, left = Signal(max=turns), Signal(len(port.adr)), Signal(8)
        wants = Array([channel.valid for master in masters for channel in (master.ar, master.aw)])
        self.fsm = fsm = FSM(reset_state="IDLE")

        def place(channel: Any) -> Any:
            return channel.addr[3 : 3 + len(port.adr)]

        def begin(index: int) -> list[Any]:
            master = masters[index // 2]
            channel, state = (master.aw, "WRITE") if index % 2 else (master.ar, "READ")
            fetch = [] if index % 2 else [port.adr.eq(place(channel))]
            latch = [NextValue(word, place(channel)), NextValue(left, channel.len), NextState(state)]
            return [channel.ready.eq(1), *fetch, *latch]

        fsm.act(
            "IDLE",
            If(wants[turn], Case(turn, {index: begin(index) for index in range(turns)})).Else(
                NextValue(turn, Mux(turn == turns - 1, 0, turn + 1))
            ),
        )
        onward = NextValue(turn, Mux(turn == turns - 1, 0, turn + 1))
        # The word at `word` is at the memory's output.
        fsm.act(
            "READ",
            port.adr.eq(word),
            Case(
                turn,
                {
                    2 * index: [
                        master.r.valid.eq(1),
                        master.r.last.eq(left == 0),
                        If(
                            master.r.ready,
                            port.adr.eq(word + 1),
                            NextValue(word, word + 1),
                            NextValue(left, left - 1),
                            If(left == 0, onward, NextState("IDLE")),
                        ),
                    ]
                    for index, master in enumerate(masters)
                },
            ),
        )
        fsm.act(
            "WRITE",
            port.adr.eq(word),
            Case(
                turn,
                {
                    2 * index + 1: [
                        master.w.ready.eq(1),
                        port.dat_w.eq(master.w.data),
                        If(
                            master.w.valid,
                            port.we.eq(master.w.strb),
                            NextValue(word, word + 1),
                            If(master.w.last, NextState("RESPOND")),
                        ),
                    ]
                    for index, master in enumerate(masters)
                },
            ),
        )
        respond = {
            2 * index + 1: [master.b.valid.eq(1), If(master.b.ready, onward, NextState("IDLE"))]
            for index, master in enumerate(masters)
        }
        fsm.act("RESPOND", Case(turn, respond))
        for master in masters:
            self.comb += master.r.data.eq(port.dat_r)
            self.sync += [
                If(master.ar.valid & master.ar.ready, master.r.id.eq(master.ar.id)),
                If(master.aw.valid & master.aw.ready, master.b.id.eq(master.aw.id)),
            ]


class DramPayload(LiteXModule):  # type: ignore[misc]
    """`size` bytes at the end of LiteDRAM's memory, past the processor's caches: a port of the crossbar for each master
    and one for `bus`. `origin` is the region's address on the SoC's bus."""

    def __init__(self, masters: Sequence[axi.AXIInterface], size: int, soc: Any, origin: int) -> None:
        from litedram.frontend.axi import LiteDRAMAXI2Native
        from litedram.frontend.wishbone import LiteDRAMWishbone2Native

        base = origin - (soc.bus.regions["main_ram"].size - size)
        for index, master in enumerate(masters):
            port = soc.sdram.crossbar.get_port(data_width=WIDTH)
            self.add_module(f"axi{index}", LiteDRAMAXI2Native(master, port, base_address=base))
        self.bus = wishbone.Interface(data_width=WIDTH, address_width=32, addressing="word")
        port = soc.sdram.crossbar.get_port(data_width=WIDTH)
        self.wishbone = LiteDRAMWishbone2Native(self.bus, port, base_address=base)
