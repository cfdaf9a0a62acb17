# SPDX-License-Identifier: BSD-2-Clause-Patent
"""From GMII pins to the application: core, registers and MAC in one top."""

from __future__ import annotations

import itertools
from typing import Any

import cocotb
from cocotb.triggers import ClockCycles
from scapy.layers.inet import ICMP, IP
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Raw

from cocotb_tests.addresses import CORE_IP, CORE_MAC, PEER_IP, PEER_MAC
from cocotb_tests.bench import generator, until
from cocotb_tests.bench.runner import run_module
from cocotb_tests.core.gmii_core import GmiiCore
from cocotb_tests.core.peer import Peer
from cocotb_tests.registers.bus import Registers
from cocotb_tests.registers.set_up import set_up

PORT = 5001
MSS = 1460
SLOW, FAST = 8001, 7999  # ps: 125 ppm apart from the core's clock


def test_downbeat_gmii() -> None:
    run_module("DownbeatGmii", __name__)


async def opened(core: GmiiCore, port: int = PORT, **parameters: Any) -> tuple[Peer, int]:
    peer = Peer(core, port=port)
    core.connect(port=port, **parameters)
    await peer.accept_connection([("MSS", MSS)])
    return peer, (await core.notified_of("established"))["status_reference_flow"]


async def both_ways(core: GmiiCore, registers: Registers) -> None:
    """20,000 bytes out and four segments back, and each frame is counted."""
    peer, flow = await opened(core)
    out, back = generator().randbytes(20_000), generator().randbytes(4 * MSS)
    core.write(flow, out)
    while len(peer.received) < len(out):
        peer.accept(await peer.receive())
        peer.send("A")
    assert peer.received == out
    for at in range(0, len(back), 2 * MSS):  # an ACK for every second segment (RFC 5681 4.2)
        peer.send("A", back[at : at + MSS])
        peer.send("PA", back[at + MSS : at + 2 * MSS])
        while (await peer.receive()).ack != peer.sequence:
            pass
    assert await core.read(flow, len(back)) == back
    for cause in ("badFcs", "rxError", "runt", "oversize", "overflow"):
        assert await registers.read(f"counter_mac_receive_{cause}") == 0
    assert await registers.read("counter_mac_transmit_frames") == len(core.wire_out.sfd_ps)


@cocotb.test()
@cocotb.parametrize(transmit=[SLOW, FAST])
async def data_goes_both_ways_with_clocks_apart(dut: Any, transmit: int) -> None:
    receive = SLOW + FAST - transmit
    core, registers = await GmiiCore.running(dut, transmit=transmit, receive=receive)
    await both_ways(core, registers)


@cocotb.test()
async def paced_segments_leave_their_spacing_apart_to_the_byte_time(dut: Any) -> None:
    """16 ns a byte: half the link. The spacing counts payload; each SFD is on the first byte time at or after its
    launch."""
    core, _ = await GmiiCore.running(dut)
    spacing_ns = 16
    peer, flow = await opened(core, spacing=spacing_ns << 32)
    core.write(flow, bytes(8 * MSS))
    start = len(core.wire_out.sfd_ps)
    for _ in range(8):
        peer.accept(await peer.receive())
    gaps = [after - before for before, after in itertools.pairwise(core.wire_out.sfd_ps[start:])]
    wanted = MSS * spacing_ns * 1000
    assert all(abs(gap - wanted) <= 8000 for gap in gaps), gaps
    assert abs(sum(gaps) - len(gaps) * wanted) <= 8000, "the remainder is carried, never dropped"


@cocotb.test()
async def the_core_asks_for_its_peer_and_answers_its_ping(dut: Any) -> None:
    core, _ = await GmiiCore.running(dut, knows_peer=False)
    core.connect(port=PORT)
    request = Ether((await core.wire_out.receive()).data)
    assert (request[ARP].op, request[ARP].psrc, request[ARP].pdst) == (1, CORE_IP, PEER_IP)
    reply = Ether(src=PEER_MAC, dst=CORE_MAC) / ARP(op=2, hwsrc=PEER_MAC, psrc=PEER_IP, hwdst=CORE_MAC, pdst=CORE_IP)
    core.wire_in.put(bytes(reply).ljust(60, b"\0"))
    await Peer(core, port=PORT).accept_connection()
    data = generator().randbytes(301)
    ping = Ether(src=PEER_MAC, dst=CORE_MAC) / IP(src=PEER_IP, dst=CORE_IP) / ICMP(id=7, seq=9) / Raw(data)
    core.wire_in.put(bytes(ping))
    reply = Ether((await core.wire_out.receive()).data)
    assert (reply[ICMP].type, reply[ICMP].id, reply[ICMP].seq) == (0, 7, 9)
    assert bytes(reply[Raw])[: len(data)] == data


@cocotb.test()
async def a_frame_that_the_mac_refuses_is_counted_and_the_connection_goes_on(dut: Any) -> None:
    core, registers = await GmiiCore.running(dut)
    peer, flow = await opened(core)
    broken = bytes(Ether(src=PEER_MAC, dst=CORE_MAC) / IP(src=PEER_IP, dst=CORE_IP)).ljust(60, b"\0")
    core.wire_in.phy.put(broken, check=b"\0\0\0\0")
    core.wire_in.phy.put(broken[:40])
    core.wire_in.phy.put(broken, errors=frozenset([20]))
    peer.send("A", b"after")
    peer.send("PA", b" them")  # the second segment is acknowledged at once
    assert (await peer.receive()).ack == peer.sequence
    assert await core.read(flow, 10) == b"after them"
    for cause in ("badFcs", "runt", "rxError"):
        assert await registers.read(f"counter_mac_receive_{cause}") == 1


@cocotb.test()
async def a_connection_outlives_a_link_that_goes_down_for_a_while(dut: Any) -> None:
    core, registers = await GmiiCore.running(dut)
    peer, flow = await opened(core)
    dut.link_up.value = 0
    await ClockCycles(dut.clk, 20)
    assert await registers.field("link", "up") == 0
    core.write(flow, b"lost on the way")
    await ClockCycles(dut.clk, 400)
    assert await registers.read("counter_mac_transmit_linkDown") == 1
    assert core.wire_out.phy.frames.empty()
    dut.link_up.value = 1
    await ClockCycles(dut.clk, 20)
    peer.send("A", b"x")
    peer.send("PA", b"y")  # the core's reply shows that it still knows the connection; its own data comes with the RTO
    reply = await peer.receive()
    assert reply.flags == "A"
    assert reply.ack == peer.sequence


@cocotb.test()
async def soft_reset_in_mid_traffic_leaves_a_core_that_works(dut: Any) -> None:
    core, registers = await GmiiCore.running(dut)
    _, flow = await opened(core)
    core.write(flow, bytes(10 * MSS))
    await ClockCycles(dut.clk, 1500)
    await registers.write("control", enable=1, softReset=1)
    await until(dut, lambda: dut.core_reset.value == 0, "the end of the soft reset")
    await ClockCycles(dut.clk, 2000)
    while not core.wire_out.phy.frames.empty():
        core.wire_out.phy.frames.get_nowait()
    await set_up(registers)
    peer, flow = await opened(core, port=PORT + 1)
    core.write(flow, b"again")
    peer.accept(await peer.receive())
    assert peer.received == b"again"
