# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Four flows of the core on a board, from the RGMII pins to its own source and sink; the host's program is on the
UART."""

from __future__ import annotations

from collections import deque
from typing import Any

import cocotb
import pytest
from cocotb.task import bridge
from cocotb.triggers import ClockCycles, Event, Timer
from downbeat_toe.board.device import PHY_STATES
from downbeat_toe.board.traffic import TrafficBoard

from cocotb_tests.addresses import CORE_IP, CORE_MAC, PEER_IP, PEER_MAC
from cocotb_tests.bench import generator
from cocotb_tests.bench.frames import Frame
from cocotb_tests.board.pins import Pins, described, run_board
from cocotb_tests.core.core import mac_number
from cocotb_tests.core.peer import Peer

MSS = 1460
BUFFER = 4096  # bytes each way, of the preset `board`


@pytest.mark.soak
def test_traffic_board() -> None:
    run_board("TrafficBoard", __name__)


class Wire(Pins):
    """The part of a core that Peer uses: frames in and out, at the pins."""

    stamp = 0

    def __init__(self, dut: Any) -> None:
        super().__init__(dut)
        self._frames: deque[bytes] = deque()
        self._came = Event()
        self.wire_in = self.wire_out = self
        cocotb.start_soon(self._run())

    def put(self, data: bytes, **_: int) -> None:
        self._frames.append(data)
        self._came.set()

    async def receive(self, clocks: int = 20_000) -> Frame:
        departed = await self.sink.receive(clocks)
        assert departed.fcs_right
        return Frame(departed.frame, {"user": 0})

    async def _run(self) -> None:
        while True:
            while self._frames:
                await self.source.send(self._frames.popleft())
            self._came.clear()
            await self._came.wait()


async def running(dut: Any) -> tuple[TrafficBoard, Any]:
    """The board with addresses, its link up, its peer known."""
    wire = Wire(dut)
    await wire.start(cable=False)

    def set_up() -> TrafficBoard:
        files = ("traffic_registers", "core_registers", "downbeat_layout")
        board = TrafficBoard(wire.host, *map(described, files))
        board.address(CORE_MAC, f"{CORE_IP}/24")
        peer = mac_number(PEER_MAC)
        board.core.write("neighbourIp", int.from_bytes(bytes(map(int, PEER_IP.split(".")))))
        board.core.write("neighbourHigh", mac=peer >> 32)
        board.core.write("neighbourMacLow", peer & 0xFFFFFFFF)
        while board.phys()[0] != PHY_STATES[3]:
            pass
        return board

    return await bridge(set_up)(), wire


async def opened(board: TrafficBoard, wire: Any, port: int) -> Peer:
    peer = Peer(wire, port=port)
    await bridge(board.open)(PEER_IP, port)
    await peer.accept_connection([("MSS", MSS)])
    return peer


def pattern(first: int, count: int) -> bytes:
    """The source's bytes: each the low byte of its sequence number."""
    return bytes((first + i) & 255 for i in range(count))


@cocotb.test()
async def the_source_sends_the_number_given_and_closes(dut: Any) -> None:
    """More than the buffer: it goes on as the peer acknowledges, and never too far."""
    board, wire = await running(dut)
    peer = await opened(board, wire, 5001)
    first, count = peer.expected, 2 * BUFFER + 777
    await bridge(board.supply)(0, count, closes=True)
    finished = False
    while not finished:
        segment = await peer.receive()
        assert (segment.seq + len(segment.data) - peer.expected) % 2**32 <= BUFFER
        peer.accept(segment)
        finished = "F" in segment.flags
        peer.send("A")
    assert bytes(peer.received) == pattern(first, count)
    peer.send("FA")
    assert (await peer.receive()).ack == peer.sequence
    flow = await bridge(board.flow)(0)
    assert flow is not None
    assert (flow.supply, flow.sent) == (0, 0)


@cocotb.test()
async def the_sink_reads_whatever_comes_and_closes_with_its_peer(dut: Any) -> None:
    """Five times the buffer: the window stays open because the sink reads."""
    board, wire = await running(dut)
    await bridge(board.listen)(80)
    peer = Peer(wire, port=40_000, core_port=80)
    await peer.connect([("MSS", MSS)])
    size, pairs = 1300, 8
    for _ in range(pairs):
        peer.send("A", generator().randbytes(size))
        peer.send("PA", generator().randbytes(size))
        await Timer(60, "us")  # a small window update is not sent, and one segment's ACK may be delayed
        while not wire.sink.frames.empty():
            await peer.receive()
    count = 2 * size * pairs
    assert count > 5 * BUFFER
    assert await bridge(board.received)() == count
    peer.send("FA")
    while True:
        segment = await peer.receive()
        if "F" in segment.flags:
            break
    assert segment.ack == peer.sequence
    assert await bridge(board.read)("damagedFrames") == 0


@cocotb.test()
async def four_flows_send_at_once_and_a_fifth_is_refused(dut: Any) -> None:
    board, wire = await running(dut)
    peers = [await opened(board, wire, 6000 + i) for i in range(4)]
    await bridge(board.open)(PEER_IP, 6004)
    await ClockCycles(dut.clk, 500)
    assert await bridge(board.refusals)() == (1, "outOfResources")
    firsts = [peer.expected for peer in peers]

    def supply() -> None:
        for flow in range(4):
            board.supply(flow, 3000)

    task = cocotb.start_soon(bridge(supply)())
    by_port = {peer.port: peer for peer in peers}
    while any(len(peer.received) < 3000 for peer in peers):
        segment = await peers[0].receive(100_000)
        peer = by_port[segment.dport]
        peer.accept(segment)
        peer.send("A")
    await task
    assert [bytes(peer.received) for peer in peers] == [pattern(first, 3000) for first in firsts]


@cocotb.test()
async def the_time_goes_on_and_nothing_sets_it(dut: Any) -> None:
    board, _ = await running(dut)

    def times() -> list[int]:
        return [board.core.read("timeLow") | board.core.read("timeHigh") << 32 for _ in range(3)]

    first, second, third = await bridge(times)()
    assert first < second < third
    assert not any(
        name.startswith(("jump", "slew", "pulse", "external")) for name in described("core_registers")["registers"]
    )
