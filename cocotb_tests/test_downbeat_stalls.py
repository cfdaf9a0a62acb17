# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Back-pressure at every port: it changes no byte, neither of connections nor of the frames of others."""

from __future__ import annotations

from typing import Any

import cocotb
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from cocotb_tests.bench import generator, until
from cocotb_tests.bench.runner import run_module
from cocotb_tests.bench.widths import end_widths, run_width
from cocotb_tests.core.core import CORE_IP, CORE_MAC, PEER_IP, PEER_MAC, Core
from cocotb_tests.core.crowd import LISTEN_PORT, Crowd
from cocotb_tests.memory.axi import outside_memory

BYTES = 6000  # at least, each way on each connection


@end_widths
def test_memory_inside(width: int) -> None:
    run_width("Downbeat", __name__, width)


def test_memory_outside() -> None:
    run_module("DownbeatExternalMemory", __name__, label="outside")


@cocotb.test()
@cocotb.parametrize(stall=[0.0, 0.3, 0.7])
async def stalls_on_every_stream_and_channel_change_no_byte(dut: Any, stall: float) -> None:
    if hasattr(dut, "m_axi_awvalid"):
        outside_memory(dut, stall=stall, late=60)
    core = await Core.create(dut, stall=stall)
    draw = generator()
    crowd = Crowd(core, draw, loss=0.0)
    core.listen(LISTEN_PORT)
    await core.idle()
    crowd.peer_connects()
    crowd.application_connects()
    await crowd.settle()
    connections = list(crowd.connections.values())
    assert [connection.state for connection in connections] == ["established"] * 2

    streams = [stream for connection in connections for stream in (connection.to_core, connection.to_peer)]
    passing: list[bytes] = []  # from the wire to the bypass
    leaving: list[bytes] = []  # from the bypass to the wire
    while min(len(stream.given) for stream in streams) < BYTES:
        for connection in connections:
            for _ in range(2):
                crowd.application_writes(connection)
            crowd.peer_sends(connection)
        datagram = Ether(src=PEER_MAC, dst=CORE_MAC) / IP(src=PEER_IP, dst=CORE_IP) / UDP() / Raw(draw.randbytes(700))
        passing.append(bytes(datagram))
        core.wire_in.put(passing[-1], user=0)
        datagram = Ether(src=CORE_MAC, dst=PEER_MAC) / IP(src=CORE_IP, dst=PEER_IP) / UDP() / Raw(draw.randbytes(900))
        leaving.append(bytes(datagram))
        core.bypass_in.put(leaving[-1])
        await crowd.settle()

    def all_acknowledged() -> bool:
        return all(connection.acknowledged == len(connection.to_core.given) for connection in connections)

    for _ in range(20):  # the core drops what it has no slot for: the peers send it again
        if all_acknowledged():
            break
        for connection in connections:
            crowd.speak(connection)
        await crowd.settle()
    assert all_acknowledged()
    # The core may be idle while the application still thinks about its next command.
    await until(
        dut, lambda: all(len(stream.arrived) >= len(stream.given) for stream in streams), "the last byte", 50_000
    )
    for stream in streams:
        assert stream.arrived == stream.given
    assert [(await core.bypass_out.receive()).data for _ in passing] == passing
    await until(dut, lambda: len(crowd.others) >= len(leaving), "the last frame of others", 50_000)
    assert crowd.others == leaving
