# SPDX-License-Identifier: BSD-2-Clause-Patent
"""docs/examples/nic.v does what its first lines say."""

from __future__ import annotations

from typing import Any

import cocotb
import pytest
from cocotb.triggers import RisingEdge
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Raw

from cocotb_tests.bench import start, until
from cocotb_tests.bench.runner import ROOT, run_module
from cocotb_tests.core.core import CORE_IP, CORE_MAC, PEER_IP, PEER_MAC, ip_number, mac_number

RESET_CLOCKS = 4
SWEEP_CLOCKS = 200


@pytest.mark.soak
def test_nic() -> None:
    run_module("Downbeat", __name__, around=[ROOT / "docs" / "examples" / "nic.v"])


async def nic(dut: Any) -> Any:
    inputs = {f"{side}_{name}": 0 for side in ("mac_rx", "nic_tx") for name in ("tdata", "tkeep", "tvalid", "tlast")}
    inputs |= {"mac_rx_tuser": 0, "mac_tx_tready": 1, "nic_rx_tready": 1, "secret": 1}
    inputs |= {"ip": ip_number(CORE_IP), "netmask": ip_number("255.255.255.0"), "gateway": 0}
    await start(dut, mac=mac_number(CORE_MAC), reset_clocks=RESET_CLOCKS, **inputs)
    for _ in range(SWEEP_CLOCKS):
        await RisingEdge(dut.clk)
    return dut


def port(dut: Any, side: str, name: str) -> Any:
    return getattr(dut, f"{side}_{name}")


async def put(dut: Any, side: str, frame: bytes) -> None:
    for at in range(0, len(frame), 8):
        part = frame[at : at + 8]
        port(dut, side, "tdata").value = int.from_bytes(part, "little")
        port(dut, side, "tkeep").value = (1 << len(part)) - 1
        port(dut, side, "tlast").value = int(at + 8 >= len(frame))
        port(dut, side, "tvalid").value = 1
        await until(dut, lambda: port(dut, side, "tready").value == 1, f"{side} to take a beat", 1000)
    port(dut, side, "tvalid").value = 0


async def get(dut: Any, side: str) -> bytes:
    frame = b""
    while True:
        await until(dut, lambda: port(dut, side, "tvalid").value == 1, f"a beat on {side}", 1000)
        count = int(port(dut, side, "tkeep").value).bit_length()
        frame += int(port(dut, side, "tdata").value).to_bytes(8, "little")[:count]
        if port(dut, side, "tlast").value == 1:
            return frame


@cocotb.test()
async def tcp_to_a_closed_port_is_answered_by_the_core(dut: Any) -> None:
    await nic(dut)
    syn = Ether(src=PEER_MAC, dst=CORE_MAC) / IP(src=PEER_IP, dst=CORE_IP) / TCP(sport=1000, dport=9, flags="S", seq=7)
    reply = cocotb.start_soon(get(dut, "mac_tx"))
    await put(dut, "mac_rx", bytes(syn).ljust(60, b"\0"))
    reset = Ether(await reply)[TCP]
    assert (reset.flags, reset.ack, reset.dport) == ("RA", 8, 1000)


@cocotb.test()
async def arp_and_ping_are_answered_by_the_core(dut: Any) -> None:
    await nic(dut)
    for request in (
        Ether(src=PEER_MAC, dst="ff:ff:ff:ff:ff:ff") / ARP(hwsrc=PEER_MAC, psrc=PEER_IP, pdst=CORE_IP),
        Ether(src=PEER_MAC, dst=CORE_MAC) / IP(src=PEER_IP, dst=CORE_IP) / ICMP(seq=3) / Raw(b"echo"),
    ):
        reply = cocotb.start_soon(get(dut, "mac_tx"))
        await put(dut, "mac_rx", bytes(request).ljust(60, b"\0"))
        assert Ether(await reply).answers(request)


@cocotb.test()
async def frames_of_others_pass_both_ways(dut: Any) -> None:
    await nic(dut)
    frame = bytes(Ether(src=PEER_MAC, dst=CORE_MAC) / IP(src=PEER_IP, dst=CORE_IP) / UDP() / Raw(b"hello" * 20))
    received = cocotb.start_soon(get(dut, "nic_rx"))
    await put(dut, "mac_rx", frame)
    assert await received == frame
    sent = cocotb.start_soon(get(dut, "mac_tx"))
    await put(dut, "nic_tx", frame)
    assert await sent == frame
