# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Honest clients of a core whose backlog is full of handshakes that nobody goes on with (RFC 4987)."""

from __future__ import annotations

from typing import Any

import cocotb

from cocotb_tests.bench import generator, until
from cocotb_tests.bench.layout import number
from cocotb_tests.bench.widths import end_widths_in_soak, run_width
from cocotb_tests.core.core import Core
from cocotb_tests.core.peer import Peer

OPTIONS: list[tuple[str, object]] = [("MSS", 1460), ("NOP", None), ("WScale", 7)]
FLOWS = number("flows")


@end_widths_in_soak
def test_downbeat_syn_flood(width: int) -> None:
    run_width("Downbeat", __name__, width)


async def flooded(dut: Any, *, stall: float = 0.0) -> tuple[Core, list[Peer]]:
    core = await Core.create(dut, stall=stall)
    core.listen(80)
    await core.idle()
    silent = [Peer(core, port=2000 + index, core_port=80, sequence=index) for index in range(FLOWS // 2)]
    for peer in silent:
        peer.send("S", options=OPTIONS)
        reply = await peer.receive()
        assert dict(reply.options)["WScale"] == number("receiveWindowScale")
        peer.expected = (reply.seq + 1) % 2**32
    return core, silent


async def client(core: Core, port: int, data: bytes = b"") -> Peer:
    """Connects by a cookie; `data` goes with the ACK that brings it back."""
    peer = Peer(core, port=port, core_port=80)
    peer.send("S", options=OPTIONS)
    reply = await peer.receive()
    assert (reply.flags, reply.ack) == ("SA", peer.sequence)
    assert reply.options == [("MSS", number("ownMss"))], "nobody remembers more of the client"
    peer.expected = (reply.seq + 1) % 2**32
    peer.send("PA" if data else "A", data)
    return peer


@cocotb.test()
@cocotb.parametrize(stall=[0.0, 0.3])
async def a_client_gets_through_a_flood_and_all_its_bytes_too(dut: Any, stall: float) -> None:
    core, _ = await flooded(dut, stall=stall)
    draw = generator()
    request, reply = draw.randbytes(900), draw.randbytes(4000)
    peer = await client(core, 3000, request)
    accepted = await core.notified_of("established")
    flow = accepted["status_reference_flow"]
    assert (accepted["addresses_passive"], accepted["addresses_remotePort"]) == (1, 3000)
    await core.idle()
    assert await core.read(flow, len(request)) == request
    core.write(flow, reply)
    while len(peer.received) < len(reply):
        segment = await peer.receive()
        assert len(segment.data) <= 1460 and "S" not in segment.flags
        assert segment.ack == peer.sequence, "the first segment's data is taken"
        peer.accept(segment)
        if segment.data:
            peer.send("A")
    assert bytes(peer.received) == reply
    core.command("shutdown", flow=flow)
    fin = await peer.receive()
    assert "F" in fin.flags
    peer.accept(fin)
    peer.send("FA")
    await core.notified_of("timeWait")
    assert int(dut.counters_directory_cookiesSent.value) == int(dut.counters_directory_cookiesAccepted.value) == 1


@cocotb.test()
async def the_first_window_is_that_of_any_connection(dut: Any) -> None:
    """Ten segments at once, by the open parameters, and not one."""
    core, _ = await flooded(dut)
    peer = await client(core, 3000)
    accepted = await core.notified_of("established")
    core.write(accepted["status_reference_flow"], bytes(20 * 1460))
    for _ in range(10):
        assert len((await peer.receive()).data) == 1460
    await core.idle()
    assert core.wire_out.stream.pending() == []


@cocotb.test()
async def a_handshake_that_ends_makes_space_in_the_backlog(dut: Any) -> None:
    """By its ACK, or by a RST: the next SYN has its options agreed upon again."""
    core, silent = await flooded(dut)
    await client(core, 3000)
    silent[0].send("A")
    silent[1].send("R")
    for _ in range(2):
        await core.notified_of("established")
    await core.idle()
    for port in (3001, 3002):
        peer = Peer(core, port=port, core_port=80)
        reply = await peer.connect(OPTIONS)
        assert dict(reply.options)["WScale"] == number("receiveWindowScale")
        await core.notified_of("established")
    assert int(dut.counters_directory_cookiesSent.value) == 1


@cocotb.test()
async def every_flow_can_be_a_client_s_when_the_flood_is_over(dut: Any) -> None:
    """Cookies fill the other half; when silent peers are reset their flows come back."""
    core, silent = await flooded(dut)
    for index in range(FLOWS // 2):
        await client(core, 3000 + index)
        await core.notified_of("established")
    for peer in silent:
        peer.send("R")
    await core.idle()
    for index in range(FLOWS // 2):
        peer = Peer(core, port=4000 + index, core_port=80)
        await peer.connect(OPTIONS)
        await core.notified_of("established")
    await until(dut, lambda: dut.idle.value == 1, "the core to be idle")
    assert int(dut.counters_directory_cookiesAccepted.value) == FLOWS // 2
