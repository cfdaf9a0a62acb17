# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The core as a sender when segments are lost, windows shrink and peers fall silent. RFC numbers name the rule."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import cocotb
from scapy.layers.inet import TCP

from cocotb_tests.bench import generator
from cocotb_tests.bench.widths import end_widths, run_width
from cocotb_tests.core.core import Core
from cocotb_tests.core.peer import Peer

PORT = 5001
MSS = 1460
PLAIN: list[tuple[str, object]] = [("MSS", MSS), ("NOP", None), ("WScale", 7)]
SELECTIVE: list[tuple[str, object]] = [*PLAIN, ("SAckOK", b"")]
WINDOW_SCALE = 7
# A number of segments makes a loss, and no time does (RFC 6675): a round trip is some microseconds here.
BY_NUMBER: dict[str, Any] = {f"parameters_recovery_{part}": 1 for part in ("noRack", "noTailLossProbe", "noPrr")}
TIME_UNIT = 1 << 30  # ns, of keep-alive and user timeout


@end_widths
def test_downbeat_loss(width: int) -> None:
    run_width("Downbeat", __name__, width)


class Receiver(Peer):
    """A peer that holds what comes out of order and says so (RFC 2018), one block for each run, the newest first."""

    def __init__(self, core: Core, *, selective: bool) -> None:
        super().__init__(core, port=PORT)
        self.selective = selective
        self.held: list[tuple[int, int]] = []
        self.store: dict[int, bytes] = {}  # bytes held, by the numbers of their segments

    def hold(self, segment: TCP) -> None:
        """Takes a segment and acknowledges at once."""
        left, right = segment.seq, segment.seq + len(segment.data)
        if left <= self.expected:
            self.received += segment.data[self.expected - left :]
            self.expected = max(self.expected, right)
            while self.expected in self.store:
                data = self.store.pop(self.expected)
                self.received += data
                self.expected += len(data)
            self.held = [run for run in self.held if run[0] > self.expected]
        else:
            self.store[left] = segment.data
            touching = [run for run in self.held if run[0] <= right and left <= run[1]]
            self.held = [run for run in self.held if run not in touching]
            self.held.insert(0, (min([left, *(r[0] for r in touching)]), max([right, *(r[1] for r in touching)])))
        self.tell()

    def tell(self) -> None:
        edges = tuple(edge for run in self.held[:4] for edge in run)
        sack: list[tuple[str, object]] = [("NOP", None), ("NOP", None), ("SAck", edges)]
        self.send("A", options=sack if self.selective and edges else None)


async def opened(dut: Any, *, selective: bool = False, **parameters: Any) -> tuple[Core, Receiver, int]:
    core = await Core.create(dut)
    peer = Receiver(core, selective=selective)
    core.connect(port=PORT, **parameters)
    await peer.accept_connection(SELECTIVE if selective else PLAIN)
    flow = (await core.notified_of("established"))["status_reference_flow"]
    peer.send("A")  # the window of a SYN is not scaled: from here on it stays as it is
    return core, peer, flow


async def segments(peer: Peer, count: int) -> list[TCP]:
    return [await peer.receive() for _ in range(count)]


async def quiet(core: Core) -> bool:
    """Nothing more comes out."""
    await core.idle()
    return core.wire_out.stream.beats.empty()


def numbers(found: Iterable[TCP], first: TCP) -> list[int]:
    """Sequence numbers in segments from `first` on."""
    return [(segment.seq - first.seq) // MSS for segment in found]


# ---- limited transmit


@cocotb.test()
@cocotb.parametrize(selective=[False, True])
async def the_first_two_duplicates_let_a_new_segment_go_each(dut: Any, selective: bool) -> None:
    """RFC 3042; with SACK by RFC 6675 5, (3.2)."""
    core, peer, flow = await opened(dut, selective=selective, **BY_NUMBER)
    core.write(flow, bytes(20 * MSS))
    sent = await segments(peer, 10)
    assert await quiet(core)
    for number in (1, 2):
        peer.hold(sent[number])
        assert numbers([await peer.receive()], sent[0]) == [9 + number]
        assert await quiet(core)
    peer.hold(sent[3])
    assert numbers([await peer.receive()], sent[0]) == [0]


# ---- recovery with SACK


@cocotb.test()
async def only_what_the_peer_lacks_is_sent_again(dut: Any) -> None:
    """RFC 6675 4, NextSeg (1): segments 0, 2 and 5 of twenty are lost."""
    core, peer, flow = await opened(dut, selective=True, initial_window=20)
    data = generator().randbytes(40 * MSS)
    core.write(flow, data)
    sent = await segments(peer, 20)
    lost = (0, 2, 5)
    again = []
    for number, segment in enumerate(sent):
        if number not in lost:
            peer.hold(segment)
    while len(peer.received) < len(data):
        segment = await peer.receive()
        if segment.seq - sent[0].seq < 20 * MSS:
            again += numbers([segment], sent[0])
        peer.hold(segment)
    assert again == list(lost)
    assert peer.received == data


@cocotb.test()
async def recovery_keeps_the_network_as_full_as_half_the_window(dut: Any) -> None:
    """RFC 6675 5, (C): cwnd - pipe decides. Of 20 segments the first is lost: ssthresh is 10 segments."""
    core, peer, flow = await opened(dut, selective=True, initial_window=20, **BY_NUMBER)
    core.write(flow, bytes(44 * MSS))
    sent = await segments(peer, 20)
    for segment in sent[1:]:
        peer.hold(segment)
    out: list[TCP] = []
    while not await quiet(core):
        out.append(await peer.receive())
    fresh = [segment for segment in out if segment.seq - sent[0].seq >= 20 * MSS]
    again = [segment for segment in out if segment.seq == sent[0].seq]
    assert len(again) == 1
    # 19 are held, so what is in the network is the one sent again and the new ones: ten segments.
    assert len(fresh) + len(again) == 10


@cocotb.test()
async def a_partial_acknowledgment_sends_the_next_hole_when_nothing_of_it_was_sent_again(dut: Any) -> None:
    """RFC 6582 3.2, step 3, where RFC 6675 has its rescue: a flight's last segments are lost, nothing is held beyond
    them."""
    core, peer, flow = await opened(dut, selective=True)
    core.write(flow, bytes(10 * MSS))
    sent = await segments(peer, 10)
    for number in (1, 2, 3, 4):  # 0, and 5 to 9, are lost
        peer.hold(sent[number])
    first = await peer.receive()
    assert numbers([first], sent[0]) == [0]
    peer.hold(first)
    assert numbers([await peer.receive()], sent[0]) == [5]


@cocotb.test()
async def a_duplicate_sack_is_no_sign_of_a_loss(dut: Any) -> None:
    """RFC 2883 4: it tells of data that came twice."""
    core, peer, flow = await opened(dut, selective=True)
    core.write(flow, bytes(10 * MSS))
    sent = await segments(peer, 10)
    for segment in sent[:5]:
        peer.accept(segment)
    peer.send("A")
    double = (sent[0].seq, sent[0].seq + MSS)
    before = int(dut.counters_duplicateSacks.value)
    for _ in range(5):
        peer.send("A", options=[("NOP", None), ("NOP", None), ("SAck", double)])
    assert await quiet(core)
    assert int(dut.counters_duplicateSacks.value) == before + 5


@cocotb.test()
async def after_a_timeout_all_is_sent_again(dut: Any) -> None:
    """RFC 2018 8: what was held counts no more."""
    core, peer, flow = await opened(dut, selective=True, initial_window=4, **BY_NUMBER)
    core.write(flow, bytes(4 * MSS))
    sent = await segments(peer, 4)
    peer.hold(sent[1])
    peer.hold(sent[2])
    await core.jump()
    first = await peer.receive()
    assert numbers([first], sent[0]) == [0]
    peer.expected = sent[1].seq  # it had thrown the others away
    peer.send("A")
    assert numbers(await segments(peer, 2), sent[0]) == [1, 2]


# ---- Nagle, and small windows


@cocotb.test()
async def a_small_segment_waits_for_what_is_outstanding(dut: Any) -> None:
    """RFC 9293 3.7.4."""
    core, peer, flow = await opened(dut)
    core.write(flow, b"first")
    first = await peer.receive()
    core.write(flow, b"second")
    core.write(flow, b"third")
    assert await quiet(core)
    peer.accept(first)
    peer.send("A")
    assert (await peer.receive()).data == b"secondthird"


@cocotb.test()
async def without_delay_a_small_segment_goes_at_once(dut: Any) -> None:
    """RFC 9293 3.7.4: an application must be able to turn Nagle's algorithm off."""
    core, peer, flow = await opened(dut, no_delay=1)
    core.write(flow, b"first")
    assert (await peer.receive()).data == b"first"
    core.write(flow, b"second")
    assert (await peer.receive()).data == b"second"


@cocotb.test()
async def the_last_small_segment_goes_with_the_end_of_the_stream(dut: Any) -> None:
    core, peer, flow = await opened(dut)
    core.write(flow, b"first")
    await peer.receive()
    core.write(flow, b"last")
    assert await quiet(core)
    core.command("shutdown", flow=flow)
    last = await peer.receive()
    assert (last.data, last.flags) == (b"last", "FPA")


@cocotb.test()
async def a_peer_with_a_small_window_gets_halves_of_it(dut: Any) -> None:
    """RFC 9293 3.8.6.2.1, (3)."""
    core = await Core.create(dut)
    peer = Receiver(core, selective=False)
    peer.window = 500  # unscaled
    core.connect(port=PORT)
    await peer.accept_connection([("MSS", MSS)])
    flow = (await core.notified_of("established"))["status_reference_flow"]
    core.write(flow, bytes(5 * MSS))
    first = await peer.receive()
    assert len(first.data) == 500
    peer.accept(first)
    peer.window = 249
    peer.send("A")
    assert await quiet(core)
    peer.window = 250
    peer.send("A")
    assert len((await peer.receive()).data) == 250


# ---- a window that shrinks


@cocotb.test()
@cocotb.parametrize(window=[0, 1, 10])
async def a_window_that_shrinks_below_the_flight_is_probed(dut: Any, window: int) -> None:
    """RFC 9293 3.8.6: a sender must be robust against it, and must probe what is shut."""
    core, peer, flow = await opened(dut)
    data = generator().randbytes(10 * MSS)
    core.write(flow, data)
    sent = await segments(peer, 10)
    peer.window = window  # times 128
    peer.expected = sent[0].seq
    peer.send("A")
    assert await quiet(core)
    for _ in range(3):
        assert await core.jump() > 900_000_000
        again = await peer.receive()
        assert again.seq == peer.expected
        assert len(again.data) == min(max(window << WINDOW_SCALE, 1), MSS)
        if window:
            peer.accept(again)
        peer.send("A")
    peer.window = 1000
    peer.send("A")
    while len(peer.received) < len(data):
        peer.accept(await peer.receive())
        peer.send("A")
    assert peer.received == data


# ---- silence


@cocotb.test()
async def probes_that_nobody_answers_end_the_connection(dut: Any) -> None:
    """RFC 9293 3.8.6.1 keeps a connection while probes are answered; a peer that is gone does not answer."""
    core, peer, flow = await opened(dut)
    peer.window = 0
    peer.send("A")
    core.write(flow, b"abc")
    for _ in range(6):
        await core.jump()
        assert (await peer.receive()).data == b"a"
        peer.send("A")  # alive, and shut
    for _ in range(15):
        await core.jump()
        assert (await peer.receive()).data == b"a"
    await core.jump()
    assert (await core.notified_of("closed"))["status_reason"] == "timedOut"


@cocotb.test()
async def the_user_timeout_ends_a_connection_without_progress(dut: Any) -> None:
    """RFC 9293 3.8.3: four units after the data went out, in whole ones, not when the expiries have run out."""
    core, peer, flow = await opened(dut, user_timeout=4)
    core.write(flow, b"abc")
    await peer.receive()
    begun = core.now // TIME_UNIT  # the unit in which it went out does not count
    while core.notifications.beats.empty():
        await core.jump()
        await core.idle()
    assert 0 <= core.now - (begun + 1 + 4) * TIME_UNIT < 1_000_000
    assert (await core.notified_of("closed"))["status_reason"] == "timedOut"


@cocotb.test()
async def progress_begins_the_user_timeout_again(dut: Any) -> None:
    core, peer, flow = await opened(dut, user_timeout=4)
    core.write(flow, bytes(2 * MSS))
    sent = await segments(peer, 2)
    await core.jump()  # one second
    await peer.receive()
    peer.accept(sent[0])
    peer.send("A")
    await core.idle()
    core.notifications.pending()
    passed = 0
    while core.notifications.beats.empty():
        passed += await core.jump()
        await core.idle()
    assert passed > 3.9 * TIME_UNIT
