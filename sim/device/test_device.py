# SPDX-License-Identifier: BSD-2-Clause-Patent
"""libdownbeat_sim.so through its C interface."""

from __future__ import annotations

import ctypes
import itertools
import random
import subprocess
from collections.abc import Callable

import pytest
from downbeat_toe.device import Device, DeviceError, nanoseconds
from downbeat_toe.structures import Error, State
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether

from sim.device.pair import IPS, MACS, Pair, would_block
from sim.lib import build, verilated

NOBODY = 99  # no connection has this name
SYN = 2  # a bit of the flags


def error_of(call: Callable[[], object]) -> Error:
    with pytest.raises(DeviceError) as caught:
        call()
    return caught.value.code


def test_each_error_has_a_text_of_its_own(library: ctypes.CDLL) -> None:
    texts = {library.downbeat_error_text(error) for error in Error}
    assert len(texts) == len(Error) and library.downbeat_error_text(-1000) not in texts


def test_another_preset_is_refused(library: ctypes.CDLL) -> None:
    assert library.downbeat_sim_preset() == verilated.PRESET.encode()
    assert error_of(lambda: Device(library, MACS[0], IPS[0], preset="other")) is Error.UNKNOWN_PRESET


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda device: device.accept(80), Error.NOT_LISTENING),
        (lambda device: device.listen(0), Error.INVALID_ARGUMENT),
        (lambda device: device.listen(80, steady=b"cubist"), Error.UNKNOWN_POLICY),
        (lambda device: device.connect(IPS[1], 0), Error.INVALID_ARGUMENT),
        (lambda device: device.connect(IPS[1], 80, initial_window=256), Error.INVALID_ARGUMENT),
        (lambda device: device.connect(IPS[1], 80, ecn=2), Error.INVALID_ARGUMENT),
        (lambda device: device.connect(IPS[1], 80, keep_alive=65536), Error.INVALID_ARGUMENT),
        (lambda device: device.connect(IPS[1], 80, user_timeout=65536), Error.INVALID_ARGUMENT),
        (lambda device: device.connect(IPS[1], 80, differentiated_services=64), Error.INVALID_ARGUMENT),
        (lambda device: device.connect(IPS[1], 80, time_to_live=256), Error.INVALID_ARGUMENT),
        (lambda device: (device.listen(80), device.listen(80)), Error.ADDRESS_IN_USE),
        (lambda device: device.send(NOBODY, b"x"), Error.UNKNOWN_CONNECTION),
        (lambda device: device.send(NOBODY, b"x", urgent=True), Error.UNKNOWN_CONNECTION),
        (lambda device: device.receive(NOBODY), Error.UNKNOWN_CONNECTION),
        (lambda device: device.shutdown(NOBODY), Error.UNKNOWN_CONNECTION),
        (lambda device: device.close(NOBODY), Error.UNKNOWN_CONNECTION),
        (lambda device: device.unlisten(80), Error.NOT_LISTENING),
        (lambda device: device.abort(NOBODY), Error.UNKNOWN_CONNECTION),
        (lambda device: device.info(NOBODY), Error.UNKNOWN_CONNECTION),
        (lambda device: device.put_frame(bytes(13), 0), Error.FRAME_SIZE),
        (lambda device: device.put_frame(bytes(9000), 0), Error.FRAME_SIZE),
        (lambda device: device.waves("x.fst"), Error.NO_WAVES),
    ],
)
def test_misuse_is_an_error_code(device: Device, call: Callable[[Device], object], error: Error) -> None:
    assert error_of(lambda: call(device)) is error


def test_nothing_is_sent_before_the_peer_answers(device: Device) -> None:
    device.add_neighbour(IPS[1], MACS[1])
    connection = device.connect(IPS[1], 80)
    device.advance(nanoseconds(100_000))
    assert device.info(connection).state == State.SYN_SENT
    assert error_of(lambda: device.send(connection, b"x")) is Error.WOULD_BLOCK
    assert len(device.frames()) == 1


def test_an_idle_device_needs_no_time(device: Device) -> None:
    device.advance(nanoseconds(10_000))
    clocks = device.counters().clocks
    device.advance(nanoseconds(1e12))
    assert device.counters().clocks == clocks


def test_a_megabyte_each_way_is_equal(pair: Pair) -> None:
    random_bytes = random.Random(1).randbytes
    out, accepted = pair.connected()
    ends = [(pair.client, out, random_bytes(1_000_000)), (pair.server, accepted, random_bytes(1_000_000))]
    sent, received = [0, 0], [bytearray(), bytearray()]

    def move_one(index: int) -> None:
        device, name, data = ends[index]
        start = sent[index]
        if start < len(data):
            sent[index] += would_block(lambda: device.send(name, data[start : start + 65536])) or 0
        received[index] += would_block(lambda: device.receive(name)) or b""

    def move() -> bool:
        move_one(0)
        move_one(1)
        return len(received[0]) == len(ends[1][2]) and len(received[1]) == len(ends[0][2])

    pair.run(move)
    assert received[0] == ends[1][2] and received[1] == ends[0][2]


def test_urgent_data_stays_in_line_and_its_end_is_known(pair: Pair) -> None:
    """The second of three writes is urgent, and longer than one transfer to the core."""
    out, accepted = pair.connected()
    pair.run(lambda: pair.client.info(out).state == State.ESTABLISHED)
    writes = [bytes([mark]) * length for mark, length in enumerate((100, 20_000, 5_000))]
    for index, data in enumerate(writes):
        assert pair.client.send(out, data, urgent=index == 1) == len(data)
    pair.run(lambda: pair.server.info(accepted).received == 25_100)
    assert pair.server.info(accepted).urgent_left == 20_100
    read = b""
    while len(read) < 25_100:
        read += pair.server.receive(accepted, 10_000)
        assert pair.server.info(accepted).urgent_left == max(0, 20_100 - len(read))
    assert read == b"".join(writes)
    packets = [packet for _, frame in pair.carried if TCP in (packet := Ether(frame))]
    segments = [packet[TCP] for packet in packets if packet[IP].dst == "10.0.0.2"]
    first = next(segment.seq for segment in segments if segment.flags & SYN) + 1
    ends = {(segment.seq + segment.urgptr - first) % 2**32 for segment in segments if "U" in segment.flags}
    assert max(ends) == 20_100 and min(ends) > 100
    assert all("U" not in segment.flags for segment in segments if 20_100 <= (segment.seq - first) % 2**32 < 2**31)


def test_shutdown_ends_one_direction(pair: Pair) -> None:
    out, accepted = pair.connected()
    pair.run(lambda: pair.client.info(out).state == State.ESTABLISHED)
    pair.client.send(out, b"last words")
    pair.client.shutdown(out)
    assert error_of(lambda: pair.client.send(out, b"x")) is Error.SHUT_DOWN
    pair.run(lambda: bool(pair.server.info(accepted).peer_finished) and pair.server.info(accepted).received == 10)
    pair.run(lambda: would_block(lambda: pair.server.receive(accepted)) == b"last words")
    assert pair.server.receive(accepted) == b""
    pair.server.send(accepted, b"reply")
    pair.run(lambda: would_block(lambda: pair.client.receive(out)) == b"reply")


def test_a_silent_peer_gets_all_data_and_then_fin_on_the_last_segment(pair: Pair) -> None:
    """RFC 9293 3.10.4: neither a shutdown nor a close waits to hear anything; both go out again together."""
    for port, end in enumerate((Device.shutdown, Device.close), start=5001):
        pair.cut = False
        out, _ = pair.connected(port)
        pair.run(lambda: pair.client.info(out).state == State.ESTABLISHED)  # noqa: B023
        pair.run(lambda: not pair.client.frames(), limit_ns=1e6)
        pair.cut = True
        begun = pair.client.now
        pair.client.send(out, bytes(range(250)) * 20)
        end(pair.client, out)
        pair.client.advance(begun + nanoseconds(1e6))
        sent = [segment for _, segment in segments_to(pair.client.frames(), port)]
        segments = sent[:4]
        ends = [segment.seq + len(segment.payload) for segment in sent]
        assert set(ends[4:]) <= {ends[3]}, "a tail loss probe has the last bytes"
        assert b"".join(bytes(segment.payload) for segment in segments) == bytes(range(250)) * 20
        assert ["F" in segment.flags for segment in segments] == [False] * 3 + [True] and segments[-1].payload
        pair.client.advance(begun + nanoseconds(400e9))
        again = [segment for _, segment in segments_to(pair.client.frames(), port) if "F" in segment.flags]
        assert all(segment.payload and segment.seq == segments[-1].seq for segment in again)


def segments_to(frames: list[tuple[bytes, int]], port: int) -> list[tuple[int, TCP]]:
    """Those of the frames that go to this port, each with its SFD."""
    packets = [(departure, Ether(frame)[IP]) for frame, departure in frames if frame[12:14] == b"\x08\x00"]
    trimmed = [(departure, IP(bytes(packet)[: packet.len])[TCP]) for departure, packet in packets]
    return [(departure, segment) for departure, segment in trimmed if segment.dport == port]


def test_a_close_with_data_that_was_not_read_resets(pair: Pair) -> None:
    """RFC 2525 2.17, wherever the data is by then: in the core, on its way, or in the device."""
    for step in range(12):
        out, accepted = pair.connected()
        pair.run(lambda: pair.client.info(out).state == State.ESTABLISHED)  # noqa: B023
        pair.server.send(accepted, bytes(3000))
        pair.run(lambda: pair.client.info(out).received > 250 * step)  # noqa: B023
        pair.client.close(out)
        pair.run(lambda: pair.server.info(accepted).error != 0)  # noqa: B023
        assert pair.server.info(accepted).error == Error.RESET
        pair.server.close(accepted)


def test_closing_both_ends_leaves_nobody(pair: Pair) -> None:
    out, accepted = pair.connected()
    pair.run(lambda: pair.client.info(out).state == State.ESTABLISHED)
    pair.client.close(out)
    assert error_of(lambda: pair.client.info(out)) is Error.UNKNOWN_CONNECTION
    pair.run(lambda: bool(pair.server.info(accepted).peer_finished))
    pair.server.close(accepted)
    pair.run(lambda: pair.client.next_deadline == pair.server.next_deadline == (1 << 64) - 1, limit_ns=200e9)


def test_nobody_listening_is_refused(pair: Pair) -> None:
    out = pair.client.connect(IPS[1], 81)
    pair.run(lambda: pair.client.info(out).error != 0)
    assert pair.client.info(out).error == Error.REFUSED
    assert error_of(lambda: pair.client.send(out, b"x")) is Error.REFUSED


def test_abort_resets_the_peer(pair: Pair) -> None:
    out, accepted = pair.connected()
    pair.run(lambda: pair.client.info(out).state == State.ESTABLISHED)
    pair.client.abort(out)
    pair.run(lambda: pair.server.info(accepted).error != 0)
    assert error_of(lambda: pair.server.receive(accepted)) is Error.RESET


def test_silence_times_out(pair: Pair) -> None:
    pair.cut = True
    pair.client.add_neighbour(IPS[1], MACS[1])
    out = pair.client.connect(IPS[1], 80)
    pair.run(lambda: pair.client.info(out).error != 0, limit_ns=1800e9)
    assert pair.client.info(out).error == Error.TIMED_OUT


def test_a_neighbour_that_does_not_answer_is_unreachable(pair: Pair) -> None:
    """Three requests a second apart, then a second for the last answer."""
    pair.cut = True
    out = pair.client.connect(IPS[1], 80)
    pair.run(lambda: pair.client.info(out).error != 0, limit_ns=3.01e9)
    assert pair.client.info(out).error == Error.UNREACHABLE
    assert pair.client.now >= nanoseconds(3e9)


def test_another_network_is_reached_by_the_gateway_or_not_at_all(library: ctypes.CDLL) -> None:
    far = 0xC0000207
    with Device(library, MACS[0], IPS[0], netmask=0xFFFFFF00, gateway=IPS[1]) as device:
        device.add_neighbour(IPS[1], MACS[1])
        device.connect(far, 80)
        device.advance(nanoseconds(100_000))
        [(frame, _)] = device.frames()
        assert frame[:6] == MACS[1] and frame[30:34] == far.to_bytes(4, "big")
    with Device(library, MACS[0], IPS[0], netmask=0xFFFFFF00) as device:
        connection = device.connect(far, 80)
        device.advance(nanoseconds(100_000))
        assert device.info(connection).error == Error.UNREACHABLE


def test_more_opens_at_once_than_requests_have_names_are_refused(device: Device) -> None:
    """16 bits, of which zero names none."""
    for number in range(0xFFFF):
        device.connect(IPS[1], 80, 1 + number)
    with pytest.raises(DeviceError) as caught:
        device.connect(IPS[1], 81)
    assert caught.value.code is Error.OUT_OF_RESOURCES


@pytest.mark.parametrize("link_rate", [10_000_000, 1_000_000_000])
def test_the_link_serialises(library: ctypes.CDLL, link_rate: int) -> None:
    """A frame takes its bytes and 24 more (IEEE 802.3: preamble, SFD, FCS, gap), at least 84."""
    with Device(library, MACS[0], IPS[0], link_rate=link_rate) as client, Device(library, MACS[1], IPS[1]) as server:
        pair = Pair(client, server)
        out, _ = pair.connected()
        pair.run(lambda: client.info(out).state == State.ESTABLISHED)
        client.send(out, bytes(20_000))
        client.advance(client.now + nanoseconds(20e6))
        frames = client.frames()
        assert len(frames) >= 10
        for (frame, departure), (_, following) in itertools.pairwise(frames):
            duration = (max(len(frame), 60) + 24) * 8 * 1e9 / link_rate
            assert following - departure >= nanoseconds(duration) - 1


def test_the_example_runs() -> None:
    done = subprocess.run([build.example() / "example"], text=True, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "equal" in done.stdout


def test_a_listener_can_be_taken_back_and_set_again(pair: Pair) -> None:
    """Accepted connections go on, others are reset (RFC 9293 3.10.7.1 for later SYNs)."""
    out, accepted = pair.connected()
    pair.run(lambda: pair.client.info(out).state == State.ESTABLISHED)
    waiting = pair.client.connect(IPS[1], 5001)
    pair.run(lambda: pair.client.info(waiting).state == State.ESTABLISHED)
    pair.server.unlisten(5001)
    late = pair.client.connect(IPS[1], 5001)
    pair.run(lambda: pair.client.info(waiting).error != 0 and pair.client.info(late).error != 0)
    assert pair.client.info(waiting).error == Error.RESET
    assert pair.client.info(late).error == Error.REFUSED
    assert pair.server.send(accepted, b"still here") == 10
    pair.run(lambda: would_block(lambda: pair.client.receive(out)) == b"still here")
    assert error_of(lambda: pair.server.accept(5001)) is Error.NOT_LISTENING
    pair.listening.discard(5001)
    pair.connected()


def test_a_handshake_that_outlives_its_listener_is_reset(pair: Pair) -> None:
    pair.server.listen(5001)
    out = pair.client.connect(IPS[1], 5001)
    pair.run(lambda: any(TCP in Ether(frame) and Ether(frame)[TCP].flags == "SA" for _, frame in pair.carried))
    pair.server.unlisten(5001)
    pair.run(lambda: pair.client.info(out).error == Error.RESET)
    pair.client.close(out)
    pair.run(lambda: pair.client.next_deadline == pair.server.next_deadline == (1 << 64) - 1, limit_ns=200e9)
