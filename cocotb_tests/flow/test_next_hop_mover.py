# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A neighbour's new MAC address reaches the connections that it is the next hop of (RFC 1122 2.3.2.1)."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

from cocotb_tests.bench import Beat
from cocotb_tests.bench.runner import run_module
from cocotb_tests.flow.directory import GATEWAY, LISTENING, LOCAL_IP, NETMASK, listening, segment
from cocotb_tests.flow.model import FLOWS

OTHER_NETWORK = 0x0B000000


def test_next_hop_mover() -> None:
    run_module("FlowDirectoryFewTimeWaits", __name__)


def next_hop(ip: int) -> int:
    return GATEWAY if (ip ^ LOCAL_IP) & NETMASK else ip


@cocotb.test()
async def a_connection_takes_the_new_mac_of_its_next_hop_and_no_other_does(dut: Any) -> None:
    """On our network the peer's, otherwise the gateway's; each VLAN has its own."""
    bench = await listening(dut, stall=0.2)
    draw = bench.random
    macs: dict[int, int] = {}  # by flow
    hops: dict[int, tuple[int, int]] = {}  # address and VLAN of each flow's next hop
    for number in range(FLOWS):
        ip = draw.choice((0x0A000007, 0x0A000008, OTHER_NETWORK + 7, OTHER_NETWORK + 8, GATEWAY))
        vlan = draw.choice((0, 0, 1))
        beat = segment(draw, (ip, 1000 + number, LISTENING[0]), "syn", vlan=vlan)
        bench.segment(beat)
        await bench.check()
        flow = bench.made[-1]["reference_flow"]
        bench.established(flow)
        macs[flow], hops[flow] = beat["remoteMac"], (next_hop(ip), vlan)
    for _ in range(12):
        moved = (draw.choice((0x0A000007, 0x0A000008, 0x0A000009, GATEWAY, OTHER_NETWORK + 7)), draw.choice((0, 1)))
        mac = draw.getrandbits(48)
        bench.hops.put({"ip": moved[0], "vlan": moved[1], "mac": mac})
        await bench.idle()
        macs |= {flow: mac for flow, hop in hops.items() if hop == moved}
        assert {flow: await bench.mac(flow, flow % 2) for flow in macs} == macs
    assert {flow: await bench.mac(flow) for flow in macs} == macs


@cocotb.test()
async def a_connection_that_opens_meanwhile_keeps_the_mac_of_its_own(dut: Any) -> None:
    """The flow has just been another one's, whose next hop moves while the new connection's SYN is looked up."""
    bench = await listening(dut)
    draw = bench.random
    first = (0x0A000007, 1000, LISTENING[0])
    await bench.connect(first, *((0x0A000009, 2000 + i, LISTENING[0]) for i in range(FLOWS - 1)))
    flow = bench.model.table[first].number
    bench.release(flow)
    await bench.check()
    for delay in range(48):
        syn: Beat = segment(draw, (0x0A000008, 3000 + delay, LISTENING[0]), "syn")
        bench.segment(syn)
        for _ in range(delay):
            await RisingEdge(dut.clk)
        bench.hops.put({"ip": 0x0A000007, "vlan": 0, "mac": draw.getrandbits(48)})
        await bench.check()
        assert await bench.mac(flow) == syn["remoteMac"], f"{delay} clocks"
        bench.established(flow)
        bench.release(flow)
        await bench.check()
        bench.segment(segment(draw, (0x0A000007, 3000 + delay, LISTENING[0]), "syn"))
        await bench.check()
        bench.established(flow)
        bench.release(flow)
        await bench.check()
