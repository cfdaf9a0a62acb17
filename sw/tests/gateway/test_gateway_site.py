# SPDX-License-Identifier: BSD-2-Clause-Patent
"""libdownbeat_site opens without a gateway and without a route, and finds the gateway when there is one."""

from __future__ import annotations

import ctypes
import ipaddress
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from downbeat_toe.estimator import Method, Pace, Phase
from downbeat_toe.estimator.structures import CAddress, COptions, CRequest, CStart
from downbeat_toe.gateway import keys, wire
from downbeat_toe.gateway.process import Site, program
from downbeat_toe.structures import PathReport

from sw.tests.estimator.equations import liss
from sw.tests.gateway.speaker import Speaker

GATEWAY = 2  # DOWNBEAT_SOURCE_GATEWAY
PREFIX, REMOTE = "192.0.2.0/24", "192.0.2.9"
MSS, MS, SECOND = 1000, 10**6, 10**9
NAMES = ("reports", "reports_dropped", "queries", "responses", "refused", "none", "own", "gateway")


class Status(ctypes.Structure):
    """downbeat_site_status."""

    _fields_ = (
        ("connected", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
        *((name, ctypes.c_uint64) for name in NAMES),
    )


class Host:
    """A host of the library."""

    def __init__(self, uri: str | None, key: str, flush: int = 0) -> None:
        self.library = ctypes.CDLL(str(program("libdownbeat_site.so")))
        self.library.downbeat_site_create.restype = ctypes.c_void_p
        options = COptions()
        self.library.downbeat_site_defaults(ctypes.byref(options))
        problem = ctypes.c_char_p()
        place = uri.encode() if uri is not None else None
        words = (ctypes.byref(options), place, key.encode(), ctypes.c_uint64(flush), ctypes.byref(problem))
        made = self.library.downbeat_site_create(*words)
        assert made, problem.value
        self.site = ctypes.c_void_p(made)

    @property
    def remote(self) -> CAddress:
        return CAddress((ctypes.c_uint8 * 16)(*ipaddress.IPv6Address(f"::ffff:{REMOTE}").packed))

    def report(self, connection: int, now: int, **fields: int) -> None:
        """Opens the connection to REMOTE with its first report."""
        remote, report = self.remote, PathReport(time=now, smoothed_rtt=50 * MS, segment_size=MSS, **fields)
        words = (self.site, ctypes.c_uint64(now), ctypes.c_uint64(connection), ctypes.byref(remote))
        self.library.downbeat_site_open(*words)
        assert self.library.downbeat_site_report(*words, ctypes.byref(report)) == 0

    def connected(self) -> bool:
        status = Status()
        self.library.downbeat_site_run(self.site)
        self.library.downbeat_site_get_status(self.site, ctypes.byref(status))
        return bool(status.connected)

    def start(self, method: Method, *, round_trip: int = 0, now: int = 0) -> tuple[bool, CStart]:
        """The start of a connection of 100 KB to REMOTE, and whether the gateway gave it; times in ns."""
        remote = self.remote
        self.library.downbeat_site_expect(self.site, ctypes.byref(remote), ctypes.c_uint64(5 * SECOND))
        request = CRequest(remote, 0, 100 * MSS, round_trip, method, MSS)
        start = CStart()
        words = (self.site, ctypes.c_uint64(now), ctypes.byref(request), ctypes.byref(start))
        return self.library.downbeat_site_request(*words) == GATEWAY, start


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize("scheme", ["unix", "udp"])
def test_a_host_opens_before_its_gateway_starts_and_after_it_has_gone(tmp_path: Path, scheme: str) -> None:
    site = Site(home=tmp_path)
    host = Host(site.uri if scheme == "udp" else f"unix://{tmp_path}/gateway.sock", keys.issue(site.keys, 1))
    assert not host.connected()
    with site:
        until(host.connected)


def test_a_host_opens_before_it_has_a_route() -> None:
    """In a network of its own, where nothing is up."""
    if shutil.which("unshare") is None or subprocess.run(["unshare", "-rn", "true"], check=False).returncode:
        pytest.skip("no network namespace can be made here")
    line = f"host 1 1 {'0' * 64}"
    script = f"from {__name__} import Host; print(Host('udp://192.0.2.1:4780', {line!r}).connected())"
    done = subprocess.run(["unshare", "-rn", sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout == "False\n", done.stderr


def host_of(site: Site, *items: bytes) -> Host:
    """A host that is connected to a gateway to which another has reported that of PREFIX."""
    with Speaker(site.udp, site.keys, 7) as other:
        other.report(*items)
        other.request(PREFIX)
    host = Host(site.uri, keys.issue(site.keys, 1))
    until(host.connected)
    return host


STEADY, SLOW, OLDEST = 3, 8_000, 14_500  # connections, bytes in start-up, bytes of the oldest one's window


def test_a_start_by_the_states_is_the_share_of_liss(tmp_path: Path) -> None:
    """[Yu, p. 25]; JS sends that share in one round trip, evenly, and without a round trip has no start."""
    share = liss(SLOW, STEADY, OLDEST)
    assert share is not None
    with Site(home=tmp_path) as site:
        host = host_of(site, wire.state(PREFIX, STEADY, SLOW, OLDEST))
        ours, start = host.start(Method.LISS, now=7 * SECOND)
        assert ours and start.known and abs(start.ssthresh - share) <= 1
        assert (start.initial_window, start.pace, start.gap, start.round_trip) == (10, Pace.NONE, 0, 0)
        assert start.until == 8 * SECOND  # it holds for a second
        assert start.reason.startswith(b"gateway: 3.55 connections of 1 hosts, oldest w = 14.50: ssthresh 11.")
        assert not host.start(Method.JS)[0] and not host.start(Method.SPAND)[0] and not host.start(Method.RESUME)[0]
        ours, start = host.start(Method.JS, round_trip=55 * MS)
        window = int(share) // MSS
        assert ours and (start.initial_window, start.pace) == (window, Pace.EVEN)
        assert start.gap == 55 * MS // window and start.round_trip == 55 * MS


def test_a_start_by_transfers_takes_their_round_trip_unless_it_has_one(tmp_path: Path) -> None:
    with Site(home=tmp_path) as site:
        states = wire.state(PREFIX, STEADY, SLOW, OLDEST)
        host = host_of(site, *[wire.transfer(PREFIX, 40 * MSS, 0.04, 2.0)] * 3, states)
        ours, start = host.start(Method.SPAND)
        assert ours and (start.pace, start.round_trip) == (Pace.BUCKET, 40 * MS)
        assert start.ssthresh == start.initial_window * MSS and start.gap == 40 * MS // start.initial_window
        said = f"gateway: 3 reports of 1 hosts, window 40.0, b = 2.00: window {start.initial_window}"
        assert start.reason.decode() == said
        assert host.start(Method.JS)[1].round_trip == 40 * MS
        assert host.start(Method.JS, round_trip=9 * MS)[1].round_trip == 9 * MS


@pytest.mark.parametrize(("saved", "jump"), [(90_000, 45_000), (20_000, 0), (20_002, 10_001), (2e8, 65_535 * MSS)])
def test_a_start_by_saved_parameters_jumps_to_at_most_half_of_them(tmp_path: Path, saved: float, jump: int) -> None:
    """(RFC 9959 2.4) and only above the initial window of ten segments."""
    with Site(home=tmp_path) as site:
        ours, start = host_of(site, wire.saved(PREFIX, saved, 0.25)).start(Method.RESUME)
    assert ours == bool(jump) and start.jump == jump
    if jump:
        assert (start.saved_window, start.saved_rtt, start.round_trip) == (saved, 250 * MS, 250 * MS)
        assert start.reason.startswith(b"gateway: saved by 1 hosts: %d bytes, round trip 250.00 ms" % saved)


def test_an_end_sends_the_states_that_wait_for_others(tmp_path: Path) -> None:
    """Two steady connections, the older one with 14 segments, and one in start-up with 7: L + S/w = 2.5 (LISS)."""
    with Site(home=tmp_path) as site:
        host = Host(site.uri, keys.issue(site.keys, 1), flush=60 * SECOND)
        until(host.connected)
        host.report(1, SECOND, cwnd=14 * MSS, phase=Phase.AVOIDANCE)
        host.report(2, SECOND + 1, cwnd=9 * MSS, phase=Phase.AVOIDANCE)
        host.report(3, SECOND + 2, cwnd=7 * MSS, phase=Phase.STARTUP)
        with Speaker(site.udp, site.keys, 7) as other:
            assert other.request(PREFIX)[0].reporters == (0, 0, 0)
            host.library.downbeat_site_destroy(host.site)
            end = time.monotonic() + 5
            while not (known := other.request(PREFIX)[0]).reporters[1]:
                assert time.monotonic() < end
    assert known.reporters == (0, 1, 0) and (known.oldest, known.connections) == (14 * MSS, 2.5)


def test_a_start_by_states_as_large_as_a_report_may_be(tmp_path: Path) -> None:
    """2^20 connections, and as many in start-up, each with the largest window, beside one of a byte."""
    largest = 65_535 << 14
    with Site(home=tmp_path) as site:
        ours, start = host_of(site, wire.state(PREFIX, 1 << 20, float(largest << 20), 1)).start(Method.LISS)
    assert ours and start.ssthresh == 2 * MSS  # the least (RFC 5681 3.1)


@pytest.mark.parametrize("uri", [None, ""])
def test_a_host_without_a_gateway_has_its_own_estimates(uri: str | None) -> None:
    """By the product's options: an initial window of 10 (RFC 6928), no window above what 16 bits hold."""
    host = Host(uri, "")
    assert not host.connected() and host.library.downbeat_site_descriptor(host.site) == -1
    ours, start = host.start(Method.LISS)
    assert not ours and not start.known and start.initial_window == 10
    host.report(1, SECOND, cwnd=65_535 * MSS, phase=Phase.AVOIDANCE)
    ours, start = host.start(Method.LISS, now=SECOND)
    assert not ours and start.known and start.ssthresh == 65_535 * MSS // 2
    host.library.downbeat_site_destroy(host.site)
