# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A device with a site's gateway, its path reports and starts: the test is the core."""

from __future__ import annotations

import re
import struct
import time
from collections.abc import Iterator

import pytest
from downbeat_toe.driver import Device, DriverError, Options
from downbeat_toe.driver.binding import Connection
from downbeat_toe.driver.structures import Estimate
from downbeat_toe.gateway.process import Site
from downbeat_toe.structures import Parameters, Source

from sw.tests.driver.conftest import ROOT
from sw.tests.driver.mapped_core import (
    COMMANDS,
    DOORBELLS,
    FLOW,
    GENERATION,
    ISS,
    NOTIFICATIONS,
    PEER,
    PEER_ISS,
    Core,
    established,
    number,
)
from sw.tests.driver.test_driver_gateway import MSS, of_site
from sw.tests.driver.test_driver_gateway import programs as programs
from sw.tests.driver.test_driver_gateway import site as site

ROUND_TRIP = 1_000_000  # ns
CORE_TIME = 5_000_000_000  # ns, of the path reports
WINDOW = 100  # segments, of the connection that teaches
ACKED = (
    200_000  # segments that it has acknowledged a round trip later, so that two seconds later too its window is full
)
HOLD = 1_000_000_000  # ns that a start holds
RESPONSE, IN_FLIGHT, PASSIVE, OPEN, START = 2, 12, 1, 1, 8


@pytest.fixture
def device(core: Core, site: Site, request: pytest.FixtureRequest) -> Iterator[Device]:
    """Resumes, or what the parameter says. It has lost its gateway, so its own table serves."""
    core.set(number("downbeat_registers.h", "DOWNBEAT_REG_OWN_MSS"), MSS)
    site.stop()
    with of_site(site, 1, f"uio:{core.uri}", getattr(request, "param", "resume")).device as device:
        yield device


def report(
    core: Core, *, acked: int, acks: int, window: int = WINDOW, retreats: int = 0, at_time: int = CORE_TIME
) -> None:
    """A path report of the one connection, in congestion avoidance."""
    at = NOTIFICATIONS + 64 * (core.tail % 1024)
    head = struct.pack("<4BHBBII", 4, 1, 0, 0, FLOW, GENERATION, retreats, window * MSS, window * MSS)
    times = 2 * ROUND_TRIP.to_bytes(5, "little") + bytes(12)
    size = struct.pack("<H6s4x", MSS, at_time.to_bytes(6, "little"))
    tail = acked.to_bytes(6, "little") + bytes(4) + acks.to_bytes(3, "little")
    core.memory[at : at + 63] = head + times + size + tail
    core.memory[at + 63] = 1
    core.tail += 1


def taught(core: Core, device: Device, *, retreats: int = 0) -> None:
    """A connection has a window of its path acknowledged in a round trip, and ends."""
    connection = device.connect(PEER, 80)
    established(core, request=last_request(core), command_head=commands(core))
    report(core, acked=0, acks=0)
    device.poll()
    time.sleep(2 * ROUND_TRIP / 1e9)
    report(core, acked=ACKED * MSS, acks=ACKED)
    if retreats:
        report(core, acked=ACKED * MSS, acks=ACKED, retreats=retreats)
    device.poll()
    connection.close()


def commands(core: Core) -> int:
    """So many have been given."""
    return core.get(DOORBELLS + 0x10)


def last_command(core: Core) -> bytes:
    return core.memory[COMMANDS + 128 * (commands(core) - 1) : COMMANDS + 128 * commands(core)]


def last_request(core: Core) -> int:
    return int(struct.unpack_from("<H", last_command(core), 2)[0])


def asked(device: Device) -> Estimate:
    """What a connection that nobody answers starts with."""
    connection = device.connect(PEER, 81)
    estimate = connection.estimate
    connection.abort()
    return estimate


def resumes(command: bytes) -> None:
    """The start-up policy with saved_cwnd, max_jump and saved_rtt, until the start is too old."""
    names = re.findall(r'each\("(\w+)"\)', (ROOT / "sw/include/downbeat_policies.h").read_text())
    assert command[16] == names.index("resume")
    saved, max_jump = struct.unpack_from("<HH", command, 24)
    assert (saved, max_jump) == (WINDOW, WINDOW // 2)
    assert int.from_bytes(command[28:33], "little") == ROUND_TRIP and not any(command[33:40])
    (until,) = struct.unpack_from("<Q", command, 80)
    assert CORE_TIME + HOLD < until < CORE_TIME + HOLD + 60_000_000_000, "by the core's clock"


def test_the_delivery_rate_is_that_between_two_reports(core: Core, device: Device) -> None:
    """Times and bytes wrap at 2^48. A report without progress leaves the rate."""
    connection = device.connect(PEER, 80)
    established(core)
    for at_time, acked in ((2**48 - 1000, 2**48 - 500), (3000, 9500), (5000, 9500)):
        report(core, acked=acked, acks=0, at_time=at_time)
        device.poll()
    assert connection.info.delivery_rate == 10_000 * 10**9 // 4000
    connection.abort()


@pytest.mark.parametrize("device", ["spand"], indirect=True)
def test_reports_count_on_when_the_cores_ack_counter_wraps(core: Core, device: Device) -> None:
    connection = device.connect(PEER, 80)
    established(core)
    report(core, acked=1 << 24, acks=(1 << 24) - 10, window=20)
    report(core, acked=(1 << 24) + 20 * MSS, acks=10, window=30)
    device.poll()
    connection.close()
    estimate = asked(device)
    assert estimate.source == Source.OWN and b"mean window 30" in estimate.reason, estimate.reason


@pytest.mark.parametrize("device", ["spand"], indirect=True)
def test_a_window_of_the_estimator_goes_with_the_command_and_expires(core: Core, device: Device) -> None:
    """The start-up policy stays; window, pace, gap and `until` are the command's start values."""
    connection = device.connect(PEER, 80)
    established(core)
    report(core, acked=20 * MSS, acks=10, window=30)
    device.poll()
    connection.close()
    estimate = device.connect(PEER, 81).estimate
    command = last_command(core)
    pace, gap, until, window = struct.unpack_from("<BxQQH", command, 70)
    assert estimate.source == Source.OWN and command[16] == 0
    assert (window, gap, pace) == (estimate.initial_window, estimate.gap << 16, 2)
    assert int.from_bytes(command[20:24], "little") == estimate.ssthresh == window * MSS
    assert CORE_TIME < until < CORE_TIME + HOLD + 60_000_000_000


def test_resume_opens_with_the_saved_parameters_until_they_are_too_old(core: Core, device: Device) -> None:
    taught(core, device)
    connection = device.connect(PEER, 81)
    assert connection.estimate.source == Source.OWN and connection.info.startup == b"resume"
    assert last_command(core)[0] == OPEN
    resumes(last_command(core))


def test_saved_parameters_go_to_one_connection_at_a_time(core: Core, device: Device) -> None:
    """RFC 9959 3.2."""
    taught(core, device)
    first = device.connect(PEER, 81)
    request = last_request(core)
    estimate = asked(device)
    assert (estimate.source, estimate.reason) == (Source.NONE, b"another connection uses the saved parameters")
    established(core, flow=1, request=request, command_head=commands(core))
    device.poll()
    first.close()
    assert asked(device).source == Source.OWN


def test_after_a_safe_retreat_nobody_resumes(core: Core, device: Device) -> None:
    """RFC 9959 3.5."""
    taught(core, device, retreats=1)
    estimate = asked(device)
    assert (estimate.source, estimate.reason) == (Source.NONE, b"no saved parameters of this address")


def test_a_core_without_the_policy_resumes_nobody(core: Core, site: Site) -> None:
    core.set(number("downbeat_registers.h", "DOWNBEAT_REG_OWN_MSS"), MSS)
    core.set(0x100C, 1)
    site.stop()
    with of_site(site, 1, f"uio:{core.uri}", "resume").device as device:
        taught(core, device)
        estimate = asked(device)
        assert (estimate.source, estimate.reason) == (Source.NONE, b"the core's policies cannot start so")


def accepted(core: Core, device: Device, options: Options | None = None) -> Connection:
    """The core has accepted it on port 80, after another connection has taught the estimator."""
    listener = device.listen(80, options=options)
    taught(core, device)
    sequences = {"acknowledged": ISS, "written": ISS, "consumed": PEER_ISS, "received": PEER_ISS}
    names = {"flow": FLOW - 1, "generation": 3, "remote_ip": PEER, "remote_port": 4000, "local_port": 80}
    core.notify(1, state=3, flags=PASSIVE, command_head=commands(core), **names, **sequences)
    device.poll()
    connection = listener.accept()
    assert connection
    return connection


def test_an_accepted_connection_is_started_as_the_estimator_says(core: Core, device: Device) -> None:
    assert accepted(core, device).estimate.source == Source.OWN
    command = last_command(core)
    assert (command[0], *struct.unpack_from("<HB", command, 4)) == (START, FLOW - 1, 3)
    resumes(command)


def test_a_start_that_the_core_refuses_is_not_claimed(core: Core, device: Device) -> None:
    connection = accepted(core, device)
    core.notify(RESPONSE, request=last_request(core), reason=IN_FLIGHT)
    device.poll()
    assert connection.estimate.source == Source.NONE and connection.info.policy_error == 0


def test_a_listener_with_a_start_up_policy_of_its_own_keeps_it(core: Core, device: Device) -> None:
    connection = accepted(core, device, Options(Parameters(b"standard")))
    with pytest.raises(DriverError):
        _ = connection.estimate
    assert last_command(core)[0] != START
