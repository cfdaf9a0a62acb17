# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The core with its registers: software sets it up, looks into it and resets it by `s_axil` alone."""

from __future__ import annotations

from typing import Any

import cocotb
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether

from cocotb_tests.bench import generator, until
from cocotb_tests.bench.layout import element
from cocotb_tests.bench.runner import run_module
from cocotb_tests.core.core import CORE_IP, CORE_MAC, PEER_IP, PEER_MAC, Core
from cocotb_tests.core.peer import Peer
from cocotb_tests.registers.bus import Registers
from cocotb_tests.registers.set_up import set_up

PORT = 5001


def test_downbeat_axi() -> None:
    run_module("DownbeatAxi", __name__)


async def enabled(dut: Any) -> tuple[Core, Registers]:
    registers = Registers(dut)
    core = await Core.begin(dut)
    await set_up(registers)
    await until(dut, lambda: dut.core_reset.value == 0, "the core to leave reset")
    await core.idle()
    return core, registers


async def opened(core: Core) -> tuple[Peer, int]:
    peer = Peer(core, port=PORT)
    core.connect(port=PORT)
    await peer.accept_connection()
    return peer, (await core.notified_of("established"))["status_reference_flow"]


@cocotb.test()
async def a_connections_dump_shows_what_its_segments_said(dut: Any) -> None:
    core, registers = await enabled(dut)
    peer, flow = await opened(core)
    core.write(flow, generator().randbytes(1000))
    while len(peer.received) < 1000:
        peer.accept(await peer.receive())
        peer.send("A")
    peer.send("PA", b"to the core")
    await core.wire_in.drained()
    await core.jump()  # to the delayed ACK
    await peer.receive()
    await core.idle()
    record = await registers.record(flow, log=False)
    assert record is not None
    assert record["state"] == element("TcpState", "established")
    assert record["reason"] == element("CloseReason", "none")
    assert record["acknowledged_value"] == record["nextSend_value"] == record["highestSent_value"] == peer.expected
    assert record["received_value"] == peer.sequence
    assert record["sendWindow"] == peer.window
    assert record["window_cwnd"] >> 16 >= 10 * 536
    assert 0 <= core.now - record["time_ns"] < 100_000
    assert await registers.record(flow + 1, log=False) is None


@cocotb.test()
async def the_log_ends_with_the_events_that_came_last(dut: Any) -> None:
    core, registers = await enabled(dut)
    peer, flow = await opened(core)
    await core.idle()
    before = await registers.read("logged")
    core.write(flow, b"x" * 100)
    peer.accept(await peer.receive())
    peer.send("A")
    await core.idle()
    added = await registers.read("logged") - before
    records = [await registers.record(age, log=True) for age in reversed(range(added))]
    kinds = [record["kind"] for record in records if record is not None]
    wanted = [element("EventKind", kind) for kind in ("written", "grant", "sent", "segment")]
    assert [kind for kind in kinds if kind in wanted] == wanted
    times = [record["time_ns"] for record in records if record is not None]
    assert times == sorted(times)


@cocotb.test()
async def a_dropped_frame_is_counted_by_its_cause(dut: Any) -> None:
    core, registers = await enabled(dut)
    frame = (
        Ether(src=PEER_MAC, dst=CORE_MAC) / IP(src=PEER_IP, dst=CORE_IP) / TCP(sport=1, dport=2, flags="S", chksum=1)
    )
    await core.wire_in.send(bytes(frame).ljust(60, b"\0"), user=core.now << 16)
    await core.idle()
    assert await registers.read("counter_receive_tcpChecksum") == 1
    assert await registers.read("counter_receive_ipChecksum") == 0


@cocotb.test()
async def soft_reset_forgets_connections_and_keeps_registers(dut: Any) -> None:
    """The peer of a forgotten connection gets a RST when it speaks, as RFC 9293 3.5.1 (1) has it."""
    core, registers = await enabled(dut)
    peer, flow = await opened(core)
    await core.idle()
    await registers.write("control", enable=1, softReset=1)
    await until(dut, lambda: dut.core_reset.value == 0, "the end of the soft reset")
    await core.idle()
    last = await registers.record(flow, log=False)
    assert last is not None and last["state"] == element("TcpState", "established"), "the dump outlives the reset"
    peer.send("PA", b"still there?")
    reset = await peer.receive()
    assert "R" in reset.flags
    await set_up(registers)  # its neighbours are forgotten too
    peer = Peer(core, port=PORT + 1)
    core.connect(port=PORT + 1)
    await peer.accept_connection()
    await core.notified_of("established")
