# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A receiver that acknowledges what it should not gains nothing, whichever start-up policy the connection has.

Savage and others, "TCP congestion control with a misbehaving receiver", 1999.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge
from scapy.layers.inet import TCP

from cocotb_tests.bench import draws
from cocotb_tests.bench.widths import end_widths_in_soak, run_width
from cocotb_tests.core.core import Core
from cocotb_tests.core.peer import Peer
from sim.golden.congestion.startup import miss, paced, pairs, resume
from sim.golden.policies import STARTUP

PORT = 5001
MSS = 1460
INITIAL_WINDOW = 4
ROUND_TRIP = 10_000_000  # ns
TIMER = 200_000_000  # ns: what is further away than this is a timer, not a departure
PARTS = draws(3, 8)  # in which a segment is acknowledged
OPTIONS: list[tuple[str, object]] = [("MSS", MSS), ("NOP", None), ("WScale", 7)]
# The argument of each policy that needs one; all others have none.
ARGUMENTS = {
    "miss": miss.argument(1.0, 10_000_000_000),
    "paced": paced.argument(INITIAL_WINDOW, 1000),
    "pairs": pairs.argument(1000, 2000),
    "resume": resume.argument(10 * INITIAL_WINDOW, 10 * ROUND_TRIP),  # the path was another: no jump
}
POLICIES = sorted(STARTUP)
# `make test` has a transfer by each way to grow, `make soak` by each policy.
WAYS = ["hystart", "paced", "rapid", "resume", "spm", "spmastart", "standard", "vegasstart"]
TRANSFERS = draws(WAYS, POLICIES)
STILL = ("vegasstart",)  # it measures for a round trip, and leaves when the next is longer
GROWTH = {"rapid": 2}  # bytes for each byte acknowledged, where that is not one: the window triples in a round trip


@end_widths_in_soak
def test_downbeat_dishonest_acks(width: int) -> None:
    run_width("Downbeat", __name__, width)


class Windows:
    """cwnd and ssthresh of each flow as the trace last had them, bytes with 16 fraction bits."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.of: dict[int, tuple[int, int]] = {}
        self.opened: set[int] = set()
        cocotb.start_soon(self._watch())

    async def new_flow(self, core: Core) -> int:
        """The flow of a connection that has just been made; older ones still report."""
        while (flow := int((await core.notified_of("established"))["status_reference_flow"])) in self.opened:
            pass
        self.opened.add(flow)
        return flow

    async def _watch(self) -> None:
        trace = "trace_payload_"
        fields = ("reference_flow", "window_cwnd", "window_ssthresh")
        while True:
            await RisingEdge(self.dut.clk)
            if self.dut.trace_valid.value == 0:
                await RisingEdge(self.dut.trace_valid)
            else:
                flow, cwnd, ssthresh = (int(getattr(self.dut, trace + name).value) for name in fields)
                self.of[flow] = cwnd, ssthresh


@dataclass
class Connection:
    core: Core
    peer: Peer
    flow: int
    windows: Windows

    @staticmethod
    async def opened(core: Core, windows: Windows, policy: str, port: int) -> Connection:
        """With more to send than the test lets go."""
        peer = Peer(core, port=port)
        core.connect(
            port=port,
            startup=policy,
            startup_argument=ARGUMENTS.get(policy, 0),
            initial_window=INITIAL_WINDOW,
            ssthresh=64 * MSS,
        )
        await peer.accept_connection(OPTIONS)
        flow = await windows.new_flow(core)
        peer.send("A")  # the window of a SYN is not scaled: from here on it stays as it is
        core.write(flow, bytes(60_000))
        return Connection(core, peer, flow, windows)

    @property
    def window(self) -> tuple[int, int]:
        return self.windows.of[self.flow]

    async def sent(self) -> list[TCP]:
        """The segments that leave before only a timer could send another."""
        segments: list[TCP] = []
        while True:
            await self.core.idle()
            if not self.core.wire_out.stream.beats.empty():
                segments.append(await self.peer.receive())
            elif (int(self.core.dut.nextDeadline.value) - self.core.now) % 2**48 < TIMER:
                await self.core.jump()
            else:
                return segments

    async def acknowledge(self, number: int) -> None:
        self.peer.send("A", acknowledgment=number % 2**32)
        await self.core.wire_in.drained()
        await self.core.idle()


def end_of(segments: list[TCP]) -> int:
    return max(int(segment.seq) + len(segment.data) for segment in segments)


@cocotb.test()
@cocotb.parametrize(policy=POLICIES)
async def an_ack_of_unsent_data_moves_nothing(dut: Any, policy: str) -> None:
    windows, core = Windows(dut), await Core.create(dut)
    connection = await Connection.opened(core, windows, policy, PORT)
    segments = await connection.sent()
    end, before = end_of(segments), connection.window
    for beyond in (1, MSS, 10 * MSS, 1 << 30):
        await connection.acknowledge(end + beyond)
        assert connection.window == before
        assert not any(segment.data for segment in await connection.sent()), "data for an ACK of unsent data"
    await core.advance(core.now + ROUND_TRIP)
    await connection.acknowledge(min(segment.seq for segment in segments) + MSS)
    assert connection.window[0] > before[0] or policy in STILL, "an honest ACK still counts"


async def transfer(
    connection: Connection, rounds: int, parts: int, *, optimistic: bool = False, repeating: bool = False
) -> int:
    """Acknowledges so many windows, each segment in as many parts; returns how many bytes that were.

    An honest receiver's ACKs come a round trip later; an optimistic one's at once, each with one of unsent data behind
    it. One that repeats them sends each number again before the next, as if something had come out of order.
    """
    first = connection.peer.expected
    for _ in range(rounds):
        start, end = connection.peer.expected, end_of(await connection.sent())
        if not optimistic:
            await connection.core.advance(connection.core.now + ROUND_TRIP)
        for number in range(start + MSS, end + 1, MSS):
            if repeating:
                await connection.acknowledge(number - MSS)
            for part in range(1, parts + 1):
                await connection.acknowledge(number - MSS + part * MSS // parts)
            if optimistic:
                await connection.acknowledge(number + 40 * MSS)
        connection.peer.expected = end % 2**32
    await connection.sent()
    return (connection.peer.expected - first) % 2**32


@cocotb.test()
@cocotb.parametrize(policy=TRANSFERS)
async def divided_and_optimistic_acks_grow_the_window_no_more_than_honest_ones(dut: Any, policy: str) -> None:
    """The same transfer three times: with an ACK for each segment; with one for each part of it; with ACKs that are
    sent before their data can have come, and of data that has not been sent. The latter gain neither bytes nor
    window."""
    windows, core = Windows(dut), await Core.create(dut)
    honest = await Connection.opened(core, windows, policy, PORT)
    honest_bytes = await transfer(honest, rounds=2, parts=1)
    divided = await Connection.opened(core, windows, policy, PORT + 1)
    assert await transfer(divided, rounds=2, parts=PARTS) <= honest_bytes
    assert INITIAL_WINDOW * MSS << 16 < divided.window[0] <= honest.window[0], "it grows, and by no more"
    optimist = await Connection.opened(core, windows, policy, PORT + 2)
    assert await transfer(optimist, rounds=2, parts=1, optimistic=True) <= honest_bytes
    assert all(ours <= theirs for ours, theirs in zip(optimist.window, honest.window, strict=True))


@cocotb.test()
@cocotb.parametrize(policy=TRANSFERS)
async def repeated_acks_grow_the_window_by_what_is_acknowledged_at_most(dut: Any, policy: str) -> None:
    """A repeated number looks like the answer to the first half of an inverted pair; two in a row are not a loss
    yet."""
    windows, core = Windows(dut), await Core.create(dut)
    connection = await Connection.opened(core, windows, policy, PORT)
    acknowledged = await transfer(connection, rounds=2, parts=1, repeating=True)
    assert connection.window[0] <= INITIAL_WINDOW * MSS + GROWTH.get(policy, 1) * acknowledged << 16
    assert connection.window[0] > INITIAL_WINDOW * MSS << 16 or policy in STILL, "the window has grown at all"
