# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The driver's own suite over the real core, which talks with itself over its wire."""

from __future__ import annotations

import os
import time
from itertools import pairwise

import pytest
from downbeat_toe.driver import Error, Options
from downbeat_toe.driver.nic_status import device
from downbeat_toe.structures import Parameters, StartValues
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether

from sw.tests.driver.conftest import SELF, Host
from sw.tests.driver.process import Nic
from sw.tests.driver.raw_client import ENTRIES, HEAD, NOTIFICATION_HEAD, TAIL, RawClient
from sw.tests.driver.socket_programs import PROGRAMS, sides
from sw.tests.driver.test_driver_connections import (
    test_a_port_has_one_listener as test_a_port_has_one_listener,
)
from sw.tests.driver.test_driver_connections import (
    test_a_start_needs_that_nothing_is_in_flight as test_a_start_needs_that_nothing_is_in_flight,
)
from sw.tests.driver.test_driver_connections import test_abort_resets_the_peer as test_abort_resets_the_peer
from sw.tests.driver.test_driver_connections import (
    test_bad_options_are_refused_at_once as test_bad_options_are_refused_at_once,
)
from sw.tests.driver.test_driver_connections import (
    test_bytes_of_every_size_are_equal_both_ways as test_bytes_of_every_size_are_equal_both_ways,
)
from sw.tests.driver.test_driver_connections import (
    test_close_takes_along_what_was_sent as test_close_takes_along_what_was_sent,
)
from sw.tests.driver.test_driver_connections import (
    test_more_than_the_backlog_is_reset as test_more_than_the_backlog_is_reset,
)
from sw.tests.driver.test_driver_connections import test_no_flow_left as test_no_flow_left
from sw.tests.driver.test_driver_connections import (
    test_no_more_is_committed_or_consumed_than_there_is as test_no_more_is_committed_or_consumed_than_there_is,
)
from sw.tests.driver.test_driver_connections import (
    test_open_tells_what_the_device_is as test_open_tells_what_the_device_is,
)
from sw.tests.driver.test_driver_connections import (
    test_ready_names_the_connection_and_its_bits as test_ready_names_the_connection_and_its_bits,
)
from sw.tests.driver.test_driver_connections import (
    test_refused_without_a_listener as test_refused_without_a_listener,
)
from sw.tests.driver.test_driver_connections import (
    test_shutdown_ends_one_direction as test_shutdown_ends_one_direction,
)
from sw.tests.driver.test_driver_connections import (
    test_stamps_name_the_bytes_up_to_each_segments_end as test_stamps_name_the_bytes_up_to_each_segments_end,
)
from sw.tests.driver.test_driver_connections import (
    test_the_descriptor_is_readable_while_anybody_has_news as test_the_descriptor_is_readable_while_anybody_has_news,
)
from sw.tests.driver.test_driver_connections import (
    test_threads_use_connections_of_one_device as test_threads_use_connections_of_one_device,
)
from sw.tests.driver.test_driver_connections import test_unreachable as test_unreachable
from sw.tests.driver.test_driver_nic import (
    test_a_killed_program_leaves_nothing as test_a_killed_program_leaves_nothing,
)
from sw.tests.driver.test_driver_nic import (
    test_a_nic_that_goes_is_reported_and_can_be_opened_again as test_a_nic_that_goes_is_reported_and_can_be_opened_again,
)
from sw.tests.driver.test_driver_nic import (
    test_a_port_s_next_program_is_not_taken_for_the_last_one as test_a_port_s_next_program_is_not_taken_for_the_last_one,
)
from sw.tests.driver.test_driver_nic import (
    test_what_a_program_closed_at_its_end_is_sent as test_what_a_program_closed_at_its_end_is_sent,
)

SIZE = 20_000  # bytes
TIME_UNIT = 2**30  # ns
TIMESTAMPS = 12  # bytes of each segment, RFC 7323


def test_flows_are_free_again(host: Host) -> None:
    """More connections, one after another, than the core has flows."""
    listener = host.listening(5001)
    for _ in range(host.device.info.flows + 2):
        out, peer = host.joined(listener, 5001)
        out.abort()
        assert host.ended(peer) is Error.RESET
        peer.close()
    assert host.device.statistics.errors == 0


def test_connections_live_on_when_the_time_wraps(model: str) -> None:
    """Times of 64 bits in 2^-16 ns; the core's are 48 in ns. Bytes go both ways across the wrap."""
    host = Host(f"sim:{model}")
    with host.device:
        ends = host.pair()
        sent = [os.urandom(SIZE) for _ in ends]
        before = (1 << 64) - (100_000 << 16)  # 100 us
        while host.device.now < before:
            host.device.advance(min(host.device.now + (1 << 62), before))
        written, got = [0, 0], [b"", b""]

        def through() -> bool:
            for side, end in enumerate(ends):
                if written[side] < SIZE:
                    written[side] += end.send(sent[side][written[side] :])
                got[side] += end.receive() or b""
            return all(len(each) == SIZE for each in got)

        host.until(through)
        assert got == [sent[1], sent[0]]
        assert host.device.now < 1 << 40  # 17 s after the wrap at most
        assert host.device.statistics.errors == 0


def test_a_core_of_other_policies_takes_their_numbers(host: Host) -> None:
    """The preset has fewer of them than the library was built with. Each has its number in every build."""
    host.listening(5001)
    with pytest.raises(Exception, match="the core has others, use numbers"):
        host.device.connect(SELF, 5001, options=Options(Parameters(b"hystart", b"cubic")))
    out = host.device.connect(SELF, 5001, options=Options(Parameters(b"2", b"3")))  # paced, cubic
    host.until(lambda: out.info.established)
    assert (out.info.startup, out.info.steady) == (b"2", b"3")
    assert out.set_policies(Parameters(b"0", b"0"))
    host.step()
    assert out.info.policy_error == Error.OK
    assert out.set_policies(Parameters(b"0", b"1"))  # aimd is absent
    host.step()
    assert out.info.policy_error == Error.UNKNOWN_POLICY


def test_a_start_sets_the_window_that_the_path_reports(host: Host) -> None:
    """Its ssthresh is below, so the window grows by less than a segment with the ACK."""
    out, peer = host.pair()
    mss = host.device.info.mss - TIMESTAMPS
    window = 20 * mss
    assert out.start(Parameters(ssthresh=window // 2, start=StartValues(window=20)))
    assert out.send(bytes(mss)) == mss
    host.until(lambda: peer.info.received == mss and out.info.path_acknowledged == mss)
    assert window <= out.info.cwnd < window + mss
    assert (out.info.ssthresh, out.info.phase, out.info.losses) == (window // 2, 1, 0)
    assert 0 < out.info.smallest_rtt <= out.info.smoothed_rtt
    assert out.info.policy_error == Error.OK and host.device.statistics.errors == 0


@pytest.mark.parametrize(
    ("keep_alive", "user_timeout", "units", "waits"),
    [(0, 2, 2, 1), (3, 0, 3 + 9 * 69, 10)],
    ids=["user timeout", "keep-alive"],
)
def test_times_of_an_open_connection_end_it(
    model: str, keep_alive: int, user_timeout: int, units: int, waits: int
) -> None:
    """The peer is silent from then on: data is lost, or nine probes 75 s (69 units) apart. Each wait takes up to a unit
    more, as one has begun (RFC 9293 3.8.3, 3.8.4)."""
    host = Host(f"sim:{model}")
    with host.device:
        out, _ = host.pair()
        assert out.set_times(keep_alive, user_timeout)
        get_frame = host.device.get_frame

        def swallowed() -> None:
            while get_frame():
                pass

        host.device.get_frame = swallowed  # type: ignore[method-assign]
        begun = host.device.now
        if user_timeout:
            assert out.send(b"lost") == 4
        assert host.ended(out) is Error.TIMED_OUT
        passed = (host.device.now - begun) / 2**16 / TIME_UNIT
        assert units - 0.01 <= passed <= units + waits + 0.01


def test_rtt_variation_is_that_of_rfc_6298(model: str) -> None:
    """A sample for each segment; SRTT shows each to 8 ns, so RTTVAR is known to 4."""
    host, seen = Host(f"sim:{model}"), []
    with host.device:
        out, peer = host.pair()
        for number in range(1, 13):
            assert out.send(bytes(100)) == 100

            def acknowledged(wanted: int = 100 * number) -> bool:
                return bool(out.info.path_acknowledged == wanted)

            host.until(acknowledged)
            peer.receive()
            seen.append((out.info.smoothed_rtt, out.info.rtt_variation))
    for (srtt, variation), (next_srtt, next_variation) in pairwise(seen):
        error = 8 * (next_srtt - srtt)
        assert error and abs(next_variation - (3 / 4 * variation + abs(error) / 4)) <= 4, seen


def test_a_paced_transfers_stamps_are_those_of_the_wire(model: str) -> None:
    """Each data frame that left the simulated wire has its stamp, to 2^-16 ns, and the gaps are the pacer's within
    8 ns."""
    host, rate, count = Host(f"sim:{model}"), 100_000_000, 20
    left: list[tuple[int, int]] = []  # bytes up to the frame's end, stamp
    get_frame = host.device.get_frame

    def tapped() -> tuple[bytes, int] | None:
        frame = get_frame()
        packet = Ether(frame[0]) if frame else None
        if frame and packet and TCP in packet and packet[TCP].dport == 5001:
            ended = left[-1][0] if left else 0
            length = packet[IP].len - 20 - 4 * packet[TCP].dataofs
            left.extend([(ended + length, frame[1])] if length else [])
        return frame

    host.device.get_frame = tapped  # type: ignore[method-assign]
    with host.device:
        listener = host.listening(5001)
        out = host.device.connect(SELF, 5001, options=Options(rate=rate))
        out.keep_stamps()
        peer = host.accepted(listener)
        host.until(lambda: out.info.established)
        mss = host.device.info.mss - TIMESTAMPS
        taken = 0
        while peer.info.consumed < count * mss:
            taken += out.send(bytes(count * mss - taken)) if taken < count * mss else 0
            host.step()
            peer.receive()
        stamps, lost = out.stamps()
    sent = [(stamp.bytes, stamp.time) for stamp in stamps if not stamp.received]
    assert sent == left and lost == 0
    assert [end for end, _ in sent] == [number * mss for number in range(1, count + 1)]
    gaps = [(later - earlier) / 2**16 for (_, earlier), (_, later) in pairwise(sent)]
    paced = mss * 8e9 / rate  # ns
    assert max(abs(gap - paced) for gap in gaps) <= 8, (paced, gaps)


@pytest.mark.parametrize("program", PROGRAMS)
def test_calls_to_the_core_s_own_address_are_those_of_linux(nic: Nic, program: str) -> None:
    """The core opens no connection to itself; the program's own listeners are reached all the same."""
    said = sides(nic, program)
    assert said[0][0] == 0, said[0][2]
    assert said[1] == said[0]


def test_a_flood_of_doorbells_leaves_the_nic_on_time(nic: Nic) -> None:
    """The device is idle after each turn of them, and an idle device catches up at no cost."""
    with RawClient(nic.socket) as greedy:
        end = time.monotonic() + 1
        while time.monotonic() < end:
            while greedy.get(TAIL) - greedy.get(HEAD) < ENTRIES:
                greedy.put(NOTIFICATION_HEAD, 0)
            greedy.wake()
            time.sleep(0.001)
        assert device(nic.socket)["behind_ns"] < 300_000_000
