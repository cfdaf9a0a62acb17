# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The core as a peer and an application see it. RFC numbers name the rule."""

from __future__ import annotations

from typing import Any

import cocotb

from cocotb_tests.bench import AXI_STREAM, StreamSink, generator
from cocotb_tests.bench.layout import number, unpack
from cocotb_tests.bench.widths import end_widths, run_width
from cocotb_tests.core.core import Core
from cocotb_tests.core.peer import Peer

PORT = 5001


@end_widths
def test_downbeat(width: int) -> None:
    run_width("Downbeat", __name__, width)


def segment_size() -> int:
    """The peer's MSS: ten such segments fit in the send buffer."""
    return min(1460, number("sendBufferBytes") // 10)


def offered() -> list[tuple[str, object]]:
    """The peer's options on its SYN."""
    return [("MSS", segment_size()), ("NOP", None), ("WScale", 7)]


async def opened(dut: Any, *, stall: float = 0.0, **parameters: Any) -> tuple[Core, Peer, int]:
    """A connection that the core has opened: core, peer, flow."""
    core = await Core.create(dut, stall=stall)
    peer = Peer(core, port=PORT)
    core.connect(port=PORT, **parameters)
    await peer.accept_connection(offered())
    established = await core.notified_of("established")
    return core, peer, established["status_reference_flow"]


@cocotb.test()
async def active_open_offers_mss_and_window_scale(dut: Any) -> None:
    core = await Core.create(dut)
    peer = Peer(core, port=PORT)
    core.connect(port=PORT, request=77)
    opening = await core.notified_of("synSent")
    assert opening["addresses_request"] == 77
    syn = await peer.accept_connection(offered())
    assert dict(syn.options)["MSS"] == number("ownMss")
    assert dict(syn.options)["WScale"] == number("receiveWindowScale")
    established = await core.notified_of("established")
    assert established["addresses_request"] == 77


@cocotb.test()
async def a_syn_without_ack_has_acknowledgment_number_zero(dut: Any) -> None:
    core = await Core.create(dut)
    peer = Peer(core, port=PORT)
    core.connect(port=PORT)
    syn = await peer.receive()
    assert syn.flags == "S" and syn.ack == 0


@cocotb.test()
async def passive_open_is_accepted_once_established(dut: Any) -> None:
    core = await Core.create(dut)
    core.listen(80)
    await core.idle()
    peer = Peer(core, port=PORT, core_port=80)
    await peer.connect(offered())
    accepted = await core.notified()
    assert accepted["status_state"] == "established"
    assert accepted["addresses_passive"] == 1
    assert accepted["addresses_remotePort"] == PORT


@cocotb.test()
@cocotb.parametrize(stall=[0.0, 0.3])
async def data_goes_out_in_full_segments(dut: Any, stall: float) -> None:
    core, peer, flow = await opened(dut, stall=stall)
    size = segment_size()
    data = generator().randbytes(5 * size + size // 2)
    core.write(flow, data)
    while len(peer.received) < len(data):
        segment = await peer.receive()
        assert len(segment.data) == min(size, len(data) - len(peer.received))
        peer.accept(segment)
        peer.send("A")
    assert peer.received == data


@cocotb.test()
@cocotb.parametrize(stall=[0.0, 0.3])
async def received_data_is_acknowledged_and_read(dut: Any, stall: float) -> None:
    core, peer, flow = await opened(dut, stall=stall)
    random = generator()
    data = b""
    for length in [1, 7, 8, 9, 100, 1460, 536, 3]:
        part = random.randbytes(length)
        data += part
        peer.send("PA", part)
        await core.wire_in.drained()
        assert await core.jump() < 500_000_000  # RFC 9293 3.8.6.3
        acknowledgment = await peer.receive()
        assert acknowledgment.flags == "A"
        assert acknowledgment.ack == peer.sequence
    assert await core.read(flow, len(data)) == data


@cocotb.test()
async def a_slow_reader_of_path_reports_gets_the_newest_of_a_connection(dut: Any) -> None:
    """Behind the report that it has not taken; nothing stays awake for it."""
    core, peer, flow = await opened(dut)
    reports = StreamSink(dut, "m_axis_path_report", naming=AXI_STREAM, stall=1)
    for _ in range(4):
        core.write(flow, bytes(100))
        peer.accept(await peer.receive())
        await core.idle()
        core.now += 1_000_000  # ns: a round trip, after which there is a report
        peer.send("A")
    await core.idle()
    reports.stall = 0
    found = [unpack("PathReport", (await reports.receive())["data"]) for _ in range(2)]
    assert [report["reference_flow"] for report in found] == [flow] * 2
    assert [report["acked"] for report in found] == [100, 400]
    await core.idle()
    assert not dut.m_axis_path_report_tvalid.value, "no third one"


@cocotb.test()
async def close_by_the_core_passes_fin_wait_and_goes_on_in_time_wait_without_a_flow(dut: Any) -> None:
    core, peer, flow = await opened(dut)
    core.write(flow, b"last words")
    await core.writes.drained()
    core.command("close", flow=flow)
    segment = await peer.receive()
    peer.accept(segment)
    if "F" not in segment.flags:
        segment = await peer.receive()
        peer.accept(segment)
    assert "F" in segment.flags
    assert peer.received == b"last words"
    peer.send("A")
    await core.notified_of("finWait2")
    peer.send("FA")
    acknowledgment = await peer.receive()
    assert acknowledgment.ack == peer.sequence
    closed = await core.notified_of("closed")
    assert closed["status_reason"] == "finished"
    assert await core.jump() > 1_000_000_000
    peer.sequence -= 1
    peer.send("FA")
    assert (await peer.receive()).flags == "R", "2 MSL are over"


@cocotb.test()
async def close_by_the_peer_passes_close_wait_and_last_ack(dut: Any) -> None:
    core, peer, flow = await opened(dut)
    peer.send("FA")
    acknowledgment = await peer.receive()
    assert acknowledgment.ack == peer.sequence
    notification = await core.notified_of("closeWait")
    assert notification["status_peerFinished"] == 1
    core.write(flow, b"and goodbye")
    await core.writes.drained()
    core.command("close", flow=flow)
    finished = False
    while not finished:
        segment = await peer.receive()
        peer.accept(segment)
        finished = "F" in segment.flags
    assert peer.received == b"and goodbye"
    peer.send("A")
    closed = await core.notified_of("closed")
    assert closed["status_reason"] == "finished"


@cocotb.test()
async def reset_in_line_ends_the_connection(dut: Any) -> None:
    """RFC 9293 3.5.3."""
    core, peer, _ = await opened(dut)
    peer.send("R")
    closed = await core.notified_of("closed")
    assert closed["status_reason"] == "reset"


@cocotb.test()
async def syn_to_a_closed_port_is_refused(dut: Any) -> None:
    """RFC 9293 3.10.7.1."""
    core = await Core.create(dut)
    peer = Peer(core, port=PORT, core_port=81)
    peer.send("S")
    reset = await peer.receive()
    assert reset.flags == "RA"
    assert reset.ack == peer.sequence


@cocotb.test()
async def lost_segment_is_sent_again_after_the_timeout(dut: Any) -> None:
    """RFC 6298."""
    core, peer, flow = await opened(dut)
    core.write(flow, b"x" * 100)
    first = await peer.receive()
    assert await core.jump() > 900_000_000
    again = await peer.receive()
    assert again.seq == first.seq
    assert again.data == first.data
    assert await core.jump() > 1_900_000_000  # backed off
    third = await peer.receive()
    assert third.seq == first.seq


@cocotb.test()
async def third_duplicate_acknowledgment_is_answered_at_once(dut: Any) -> None:
    """RFC 6582."""
    core, peer, flow = await opened(dut)
    core.write(flow, bytes(8 * segment_size()))
    segments = [await peer.receive() for _ in range(8)]
    peer.accept(segments[0])
    for _ in range(1 + 3):
        peer.send("A")
    again = await peer.receive()
    assert again.seq == segments[1].seq
    assert len(again.data) == segment_size()


@cocotb.test()
async def partial_acknowledgment_is_answered_with_the_next_hole(dut: Any) -> None:
    """RFC 6582 3.2 step 3."""
    core, peer, flow = await opened(dut)
    core.write(flow, bytes(10 * segment_size()))
    segments = [await peer.receive() for _ in range(10)]
    peer.accept(segments[0])
    for _ in range(1 + 3):
        peer.send("A")
    assert (await peer.receive()).seq == segments[1].seq
    for segment in segments[1:4]:
        peer.accept(segment)
    peer.send("A")
    assert (await peer.receive()).seq == segments[4].seq


@cocotb.test()
async def a_shut_window_is_probed_with_one_byte(dut: Any) -> None:
    """RFC 9293 3.8.6.1."""
    core = await Core.create(dut)
    peer = Peer(core, port=PORT)
    peer.window = 0
    core.connect(port=PORT)
    await peer.accept_connection(offered())
    flow = (await core.notified_of("established"))["status_reference_flow"]
    core.write(flow, b"abcdef")
    assert await core.jump() > 900_000_000
    probe = await peer.receive()
    assert probe.data == b"a"
    peer.window = 1000
    peer.send("A")  # the byte was not taken
    segment = await peer.receive()
    assert segment.seq == probe.seq
    assert segment.data == b"abcdef"


@cocotb.test()
async def a_full_receive_buffer_shuts_the_window_and_reading_opens_it(dut: Any) -> None:
    core, peer, flow = await opened(dut)
    size = number("receiveBufferBytes")
    data = generator().randbytes(size)
    windows = []
    for at in range(0, size, 2048):  # an ACK for every second segment (RFC 5681 4.2)
        peer.send("A", data[at : at + 1024])
        peer.send("A", data[at + 1024 : at + 2048])
        windows.append((await peer.receive()).window << number("receiveWindowScale"))
    assert windows[-1] == 0
    assert sorted(windows, reverse=True) == windows
    peer.send("A", b"x", advance=False)
    assert (await peer.receive()).ack == peer.sequence, "a byte beyond the window was taken"
    assert await core.read(flow, size) == data
    assert (await peer.receive()).window << number("receiveWindowScale") >= size // 2


@cocotb.test()
async def half_closed_connection_still_receives(dut: Any) -> None:
    """RFC 9293 3.6 case 1."""
    core, peer, flow = await opened(dut)
    core.command("shutdown", flow=flow)
    fin = await peer.receive()
    assert "F" in fin.flags
    peer.accept(fin)
    peer.send("A")
    await core.notified_of("finWait2")
    peer.send("PA", b"still here")
    await core.jump()  # to the delayed ACK (RFC 9293 3.8.6.3)
    await peer.receive()
    assert await core.read(flow, 10) == b"still here"


@cocotb.test()
async def close_with_unread_data_resets(dut: Any) -> None:
    """RFC 1122 4.2.2.13."""
    core, peer, flow = await opened(dut)
    peer.send("PA", b"nobody reads this")
    await core.jump()  # to the delayed ACK (RFC 9293 3.8.6.3)
    await peer.receive()
    core.command("close", flow=flow)
    assert "R" in (await peer.receive()).flags


@cocotb.test()
async def reset_elsewhere_in_the_window_is_challenged(dut: Any) -> None:
    """RFC 5961 3.2."""
    core, peer, flow = await opened(dut)
    peer.send("R", sequence=peer.sequence + 100)
    challenge = await peer.receive()
    assert challenge.flags == "A"
    assert challenge.ack == peer.sequence
    core.write(flow, b"alive")
    assert (await peer.receive()).data == b"alive"


@cocotb.test()
async def reset_to_a_syn_refuses_the_connection(dut: Any) -> None:
    core = await Core.create(dut)
    peer = Peer(core, port=PORT)
    core.connect(port=PORT)
    syn = await peer.receive()
    peer.core_port, peer.expected = syn.sport, syn.seq + 1
    peer.send("RA", sequence=0)
    closed = await core.notified_of("closed")
    assert closed["status_reason"] == "refused"


@cocotb.test()
async def unanswered_syn_backs_off_and_gives_up(dut: Any) -> None:
    """RFC 9293 3.8.3."""
    core = await Core.create(dut)
    peer = Peer(core, port=PORT)
    core.connect(port=PORT)
    first = await peer.receive()
    waits = []
    for _ in range(15):
        waits.append(round(await core.jump() / 1e9))
        again = await peer.receive()
        assert (again.flags, again.seq) == ("S", first.seq)
    assert waits[:7] == [1, 2, 4, 8, 16, 32, 60]
    await core.jump()
    closed = await core.notified_of("closed")
    assert closed["status_reason"] == "timedOut"


@cocotb.test()
async def paced_segments_are_launched_at_their_spacing(dut: Any) -> None:
    """To 2^-16 ns, the remainder carried."""
    nanoseconds_per_byte = 10 + 1 / 3
    core, peer, flow = await opened(dut, spacing=int(nanoseconds_per_byte * 2**32))
    core.write(flow, bytes(10 * segment_size()))
    for _ in range(10):
        segment = await peer.receive(clocks=40_000)
        peer.accept(segment)
        peer.send("A")
    data = peer.launches[1:]  # behind the SYN
    for i, launch in enumerate(data[1:], start=1):
        assert abs(launch - data[0] - i * segment_size() * nanoseconds_per_byte) < 2**-14
