# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The end of a connection at the core's edge: the order between data and what is asked for behind it is the core's
duty.

An application hands over its last beat and then its command, and waits for nothing.
"""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

from cocotb_tests.bench import generator, until
from cocotb_tests.bench.runner import run_module
from cocotb_tests.bench.widths import end_widths_in_soak, run_width
from cocotb_tests.core.core import Core
from cocotb_tests.core.peer import Peer
from cocotb_tests.memory.axi import outside_memory

PORT = 5001
MSS = 1460
OPTIONS: list[tuple[str, object]] = [("MSS", MSS), ("NOP", None), ("WScale", 7)]
SHUTDOWNS = ["shutdown", "close"]


@end_widths_in_soak
def test_memory_inside(width: int) -> None:
    run_width("Downbeat", __name__, width)


def test_slow_memory_outside() -> None:
    run_module("DownbeatExternalMemory", __name__, label="outside")


async def core_of(dut: Any) -> tuple[Core, Any]:
    """The core, and the write side of its memory if that is outside: then it is slow."""
    writes = outside_memory(dut, stall=0.7, late=200)[0] if hasattr(dut, "m_axi_awvalid") else None
    return await Core.create(dut), writes


async def opened(core: Core, port: int = PORT) -> tuple[Peer, int]:
    peer = Peer(core, port=port)
    core.connect(port=port)
    await peer.accept_connection(OPTIONS)
    return peer, (await core.notified_of("established"))["status_reference_flow"]


async def ends(core: Core, flow: int, data: bytes, kind: str) -> None:
    core.write(flow, data)
    await core.writes.drained()
    core.command(kind, flow=flow)
    await core.commands.drained()


@cocotb.test()
@cocotb.parametrize(kind=SHUTDOWNS)
async def fin_rides_on_the_last_segment(dut: Any, kind: str) -> None:
    """RFC 9293 3.10.4; nothing else goes out, though the peer says nothing."""
    core, _ = await core_of(dut)
    for number, length in enumerate([1, MSS, 3 * MSS, generator().randrange(2, 9 * MSS)]):
        peer, flow = await opened(core, PORT + number)
        data = generator().randbytes(length)
        await ends(core, flow, data, kind)
        segments = [await peer.receive() for _ in range((length + MSS - 1) // MSS)]
        assert ["F" in segment.flags for segment in segments] == [False] * (len(segments) - 1) + [True]
        for segment in segments:
            peer.accept(segment)
        assert peer.received == data
        await core.idle()
        assert core.wire_out.stream.beats.empty()
        peer.send("R")  # or this one is heard of again
        await core.idle()
        core.notifications.pending()


@cocotb.test()
@cocotb.parametrize(kind=SHUTDOWNS)
async def a_silent_peer_gets_data_and_fin_again(dut: Any, kind: str) -> None:
    """RFC 6298 5.5."""
    core, _ = await core_of(dut)
    peer, flow = await opened(core)
    await ends(core, flow, b"last words", kind)
    for wait in (0, 1, 2):
        if wait:
            assert round(await core.jump() / 1e9) == wait
        segment = await peer.receive()
        assert segment.data == b"last words" and "F" in segment.flags


@cocotb.test()
async def a_shutdown_waits_for_its_own_data_and_not_for_what_others_write_behind_it(dut: Any) -> None:
    """Four connections, each with a frame and a shutdown, without a pause: each FIN is with its data."""
    core, _ = await core_of(dut)
    ends_ = [await opened(core, PORT + number) for number in range(4)]
    data = [generator().randbytes(generator().randrange(1, 4 * MSS)) for _ in ends_]
    for (_, flow), bytes_ in zip(ends_, data, strict=True):
        await ends(core, flow, bytes_, "shutdown")
    peers = {peer.port: peer for peer, _ in ends_}
    finished = 0
    while finished < len(ends_):
        segment = await ends_[0][0].receive()
        peers[segment.dport].accept(segment)
        finished += "F" in segment.flags
        assert not segment.flags.F or len(segment.data) > 0, "a FIN alone"
    assert [peer.received for peer, _ in ends_] == data


@cocotb.test()
async def close_while_data_is_on_its_way_to_memory_resets(dut: Any) -> None:
    """RFC 2525 2.17: it was accepted and nobody reads it. Memory answers when the RST is out; then the flow comes
    back."""
    core, writes = await core_of(dut)
    peer, flow = await opened(core)
    if writes is not None:
        writes.b_channel.clear_pause_generator()
        writes.b_channel.pause = True
    peer.send("PA", generator().randbytes(MSS))
    if writes is not None:
        await until(dut, lambda: dut.m_axi_wlast.value and dut.m_axi_wvalid.value, "the last beat to memory", 50_000)
    else:
        await core.wire_in.drained()
        for _ in range(60):  # the segment is judged; its 183 words are still on their way
            await RisingEdge(dut.clk)
    core.command("close", flow=flow)
    reset = await peer.receive()
    assert "R" in reset.flags and reset.ack == peer.sequence - MSS
    if writes is not None:
        writes.b_channel.pause = False
    await core.idle()
    assert core.wire_out.stream.beats.empty()
    peer.send("PA", b"anybody there?")
    assert "R" in (await peer.receive()).flags


@cocotb.test()
async def data_that_was_asked_for_before_the_close_is_read(dut: Any) -> None:
    """It is delivered, and the close is orderly."""
    core, _ = await core_of(dut)
    peer, flow = await opened(core)
    data = generator().randbytes(3000)
    peer.send("PA", data[:MSS])
    peer.send("PA", data[MSS : 2 * MSS])
    peer.send("PA", data[2 * MSS :])
    received = 0
    while received < 3000:
        notification = await core.notified()
        received = (notification["status_received_value"] - (peer.sequence - 3000)) % 2**32
    core.command("receive", flow=flow, length=3000)
    core.command("close", flow=flow)
    assert (await core.reads.receive(50_000)).data == data
    segment = await peer.receive()
    while "F" not in segment.flags:
        assert segment.flags == "A"
        segment = await peer.receive()
