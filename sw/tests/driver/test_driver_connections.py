# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The driver's calls, the same over a device in this process and over a NIC process."""

from __future__ import annotations

import os
import random
import select
import threading

import pytest
from downbeat_toe.driver import Device, DriverError, Error, Options, Ready
from downbeat_toe.driver.structures import CItem
from downbeat_toe.structures import Parameters, StartValues

from sw.tests.driver.conftest import MODEL, OWN, SELF, Host

SEED = int(os.environ.get("SEED", "1"))


def test_open_tells_what_the_device_is(host: Host) -> None:
    info = host.device.info
    assert info.ip == OWN and info.netmask == 0xFFFFFF00
    assert info.flows == 16 and info.send_bytes in (1 << 12, 1 << 14) and info.mss == 1460
    assert info.name.decode().startswith("sim")


def test_a_frame_of_no_size_is_refused() -> None:
    """A simulated device takes Ethernet frames without FCS: a header at least, 1,518 bytes with a VLAN tag at most."""
    with Device(f"sim:{MODEL}") as device:
        for size in (14, 60, 1518):
            device.put_frame(bytes(size), device.now)
        for size in (13, 1519):
            with pytest.raises(DriverError, match=f"no frame of this core's sizes: {size} bytes") as refused:
                device.put_frame(bytes(size), device.now)
            assert refused.value.code is Error.FRAME_SIZE


def test_bytes_of_every_size_are_equal_both_ways(host: Host) -> None:
    """Random pieces, by copies and in place, over rings and sequence numbers that wrap."""
    draw = random.Random(SEED)
    ends = host.pair()
    sent = [draw.randbytes(host.size) for _ in ends]
    written, got = [0, 0], [b"", b""]

    def write(side: int) -> None:
        piece = sent[side][written[side] :][: draw.choice((1, 7, 64, 1460, 5000, 20000))]
        if not piece:
            return
        if draw.random() < 0.5:
            written[side] += ends[side].send(piece)
            return
        spans = ends[side].reserve()
        if not spans:
            return
        taken = min(len(spans[0]), len(piece))
        spans[0][:taken] = piece[:taken]
        ends[side].commit(taken)
        written[side] += taken

    def read(side: int) -> None:
        maximum = draw.choice((1, 100, 1460, 16384))
        if draw.random() < 0.5:
            got[side] += ends[side].receive(maximum) or b""
            return
        spans = ends[side].peek()
        if spans:
            piece = bytes(spans[0][:maximum])
            got[side] += piece
            ends[side].consume(len(piece))

    def through() -> bool:
        for side in (0, 1):
            for _ in range(draw.randrange(4)):
                write(side)
            if draw.random() < 0.7:  # a slow reader fills the ring
                for _ in range(8):
                    read(side)
        return all(len(each) == host.size for each in got)

    host.until(through)
    assert got == [sent[1], sent[0]]
    assert host.device.statistics.errors == 0
    for end in ends:
        assert end.info.sent == end.info.consumed == host.size


def test_each_ring_wraps(host: Host) -> None:
    """More commands and notifications than their rings have entries."""
    listener = host.listening(5001)
    for _ in range(400):
        out, peer = host.joined(listener, 5001)
        out.abort()
        assert host.ended(peer) is Error.RESET
        peer.close()
    assert host.device.statistics.errors == 0 and host.device.statistics.notifications > 1024


def test_shutdown_ends_one_direction(host: Host) -> None:
    out, peer = host.pair()
    assert out.send(b"question") == 8 and out.shutdown()
    host.until(lambda: peer.info.peer_finished)
    assert peer.receive() == b"question" and peer.receive() == b""
    with pytest.raises(DriverError, match="shut down"):
        out.send(b"more")
    assert peer.send(b"answer") == 6 and peer.shutdown()
    host.until(lambda: out.info.peer_finished)
    assert out.receive() == b"answer" and out.receive() == b""
    assert host.ended(out) is Error.OK


def test_close_takes_along_what_was_sent(host: Host) -> None:
    out, peer = host.pair()
    out.send(b"last words")
    out.close()
    host.until(lambda: peer.info.peer_finished)
    assert peer.receive() == b"last words"
    peer.close()


def test_stamps_name_the_bytes_up_to_each_segments_end(host: Host) -> None:
    """Both ways, in order, the FIN as one byte, and only of connections that asked; each is taken once."""
    listener = host.listening(5001)
    out = host.device.connect(SELF, 5001)
    out.keep_stamps()
    peer = host.accepted(listener)
    host.until(lambda: out.info.established)
    assert out.send(bytes(4000)) == 4000
    host.until(lambda: len(peer.receive() or b"") and peer.info.consumed == 4000)
    assert peer.send(b"second") == 6 and out.shutdown() and peer.shutdown()
    host.until(lambda: out.info.peer_finished and peer.info.peer_finished)
    stamps, lost = out.stamps()
    sent = [stamp.bytes for stamp in stamps if not stamp.received]
    received = [stamp.bytes for stamp in stamps if stamp.received]
    assert sorted(set(sent))[-2:] == [4000, 4001] and len(set(sent)) >= 4  # a segment may be sent again
    assert {6, 7} <= set(received) <= {0, 6, 7} and lost == 0
    assert [stamp.time for stamp in stamps] == sorted(stamp.time for stamp in stamps)
    assert out.stamps() == ([], 0) and peer.stamps() == ([], 0)


def test_abort_resets_the_peer(host: Host) -> None:
    out, peer = host.pair()
    out.abort()
    assert host.ended(peer) is Error.RESET
    for asks in (lambda: peer.send(b"x"), peer.keep_stamps):
        with pytest.raises(DriverError, match="reset"):
            asks()


def test_refused_without_a_listener(host: Host) -> None:
    out = host.device.connect(SELF, 9)
    assert host.ended(out) is Error.REFUSED
    out.close()


def test_unreachable(host: Host) -> None:
    assert host.ended(host.device.connect(0x0A000063, 9)) is Error.UNREACHABLE


def test_no_flow_left(host: Host) -> None:
    listener = host.listening(5001)
    flows = host.device.info.flows
    for _ in range(flows // 2):
        host.joined(listener, 5001)
    assert host.ended(host.device.connect(SELF, 5001)) is Error.OUT_OF_RESOURCES


def test_closing_before_the_connection_is_there_aborts_it(host: Host) -> None:
    listener = host.listening(5001)
    host.device.connect(SELF, 5001).close()
    assert host.ended(host.accepted(listener)) is Error.RESET


def test_a_port_has_one_listener(host: Host) -> None:
    listener = host.listening(5001)
    with pytest.raises(DriverError, match="listens on port 5001") as refused:
        host.device.listen(5001)
    assert refused.value.code is Error.ADDRESS_IN_USE
    listener.close()
    assert host.ended(host.device.connect(SELF, 5001)) is Error.REFUSED
    host.listening(5001)


def test_more_than_the_backlog_is_reset(host: Host) -> None:
    host.listening(5001, backlog=1)
    outs = [host.device.connect(SELF, 5001) for _ in range(3)]
    host.until(lambda: sum(each.info.state == 0 for each in outs) == 2)
    assert sorted(each.info.error for each in outs) == [Error.RESET, Error.RESET, Error.OK]


def test_ready_names_the_connection_and_its_bits(host: Host) -> None:
    out, peer = host.pair()
    host.ready.clear()
    peer.send(b"hello")
    host.until(lambda: any(item.connection is out and Ready.RECEIVED in item.ready for item in host.ready))
    host.until(lambda: any(item.connection is peer and Ready.SPACE in item.ready for item in host.ready))


def test_the_descriptor_is_readable_while_anybody_has_news(host: Host) -> None:
    """Also for readiness of an accepted connection from before, and for what a poll had no place for."""

    def readable(seconds: float = 0) -> bool:
        return bool(select.select([host.device.descriptor], [], [], seconds)[0])

    listener = host.listening(5001)
    outs = [host.device.connect(SELF, 5001) for _ in range(2)]
    host.until(lambda: all(out.info.established for out in outs))
    assert [out.send(b"request") for out in outs] == [7, 7]
    host.until(lambda: all(out.info.acknowledged == 7 for out in outs))
    while readable(0.2):
        host.device.poll()
    accepted = [listener.accept() for _ in outs]
    given = (CItem * 1)()
    for _ in accepted:
        assert readable()
        assert host.device.library.downbeat_poll(host.device._device, given, 1) == 1
        assert Ready.RECEIVED in Ready(given[0].ready)
    assert not readable()


def test_a_simulated_device_s_descriptor_is_readable_by_an_event_alone() -> None:
    host = Host(f"sim:{MODEL}")
    with host.device:

        def readable() -> bool:
            return bool(select.select([host.device.descriptor], [], [], 0)[0])

        out, peer = host.pair()
        while readable():
            host.step()
        for _ in range(10):
            host.advance()
            assert not readable()
        out.send(b"bytes")
        for _ in range(10):
            host.advance()
        assert readable()
        host.device.poll()
        assert peer.receive() == b"bytes"


def test_policies_by_name(host: Host) -> None:
    listener = host.listening(5001)
    options = Options(Parameters(b"hystart", b"cubic"), rate=100_000_000)
    out = host.device.connect(SELF, 5001, options=options)
    host.accepted(listener)
    assert (out.info.startup, out.info.steady) == (b"hystart", b"cubic")
    assert out.set_policies(Parameters(b"standard", b"reno"))
    host.step()
    assert (out.info.startup, out.info.steady, out.info.policy_error) == (b"standard", b"reno", 0)


def test_a_start_needs_that_nothing_is_in_flight(host: Host) -> None:
    out, _ = host.pair()
    assert out.start(Parameters(ssthresh=100_000, start=StartValues(window=20)))
    host.step()
    assert out.info.policy_error == Error.OK
    if host.simulated:  # otherwise the bytes may have been acknowledged before the start
        assert out.send(b"in flight")  # a start before they have left counts
        errors = []
        for _ in range(4):
            assert out.start(Parameters(start=StartValues(window=2)))
            host.step()
            errors.append(out.info.policy_error)
        assert Error.IN_FLIGHT in errors


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (Options(Parameters(b"warp")), "no start-up policy 'warp'(: use standard, | is known: .* use numbers)"),
        (Options(Parameters(b"256")), "no start-up policy '256'"),
        (Options(Parameters(b"1x")), "no start-up policy '1x'"),
        (Options(Parameters(None, b"warp")), "no steady policy 'warp'(: use reno, | is known: .* use numbers)"),
        (Options(Parameters(initial_window=256)), "initial_window is 256: use at most 255"),
        (Options(Parameters(keep_alive=1 << 16)), "keep_alive is 65536"),
        (Options(Parameters(start=StartValues(window=1 << 16))), "start.window is 65536"),
        (Options(Parameters(start=StartValues(pace=3))), "start.pace is 3: use at most 2"),
        (Options(rate=1), "ns a byte"),
    ],
)
def test_bad_options_are_refused_at_once(host: Host, options: Options, problem: str) -> None:
    with pytest.raises(DriverError, match=problem):
        host.device.connect(SELF, 5001, options=options)


def test_no_more_is_committed_or_consumed_than_there_is(host: Host) -> None:
    out, _ = host.pair()
    space = sum(len(span) for span in out.reserve())
    for call, length in ((out.commit, space + 1), (out.consume, 1)):
        with pytest.raises(DriverError) as refused:
            call(length)
        assert refused.value.code is Error.INVALID_ARGUMENT
    assert host.device.statistics.errors == 0


def test_threads_use_connections_of_one_device(host: Host) -> None:
    """Four senders beside the thread that polls and reads."""
    listener = host.listening(5001)
    pairs = [host.joined(listener, 5001) for _ in range(4)]
    sent = [random.Random(SEED + number).randbytes(host.size // 4) for number in range(4)]
    got = [b""] * 4
    stop = threading.Event()

    def send(number: int) -> None:
        at = 0
        while at < len(sent[number]) and not stop.is_set():
            at += pairs[number][0].send(sent[number][at : at + 3000])

    def through() -> bool:
        for number, (_, peer) in enumerate(pairs):
            got[number] += peer.receive() or b""
        return all(len(each) == host.size // 4 for each in got)

    threads = [threading.Thread(target=send, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    try:
        host.until(through)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert got == sent
