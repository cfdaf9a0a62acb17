# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What a device with a site's gateway makes of the core's path reports and of a start: the test is the core."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import pytest

from downbeat_toe.driver import Device
from downbeat_toe.driver.structures import Estimate, Source
from downbeat_toe.driver.test_driver_gateway import MSS, of_site
from downbeat_toe.driver.test_driver_gateway import site as site
from downbeat_toe.driver.test_driver_mapped import (
    FLOW,
    GENERATION,
    NOTIFICATIONS,
    PEER,
    Core,
    established,
    number,
)
from downbeat_toe.driver.test_driver_mapped import core as core
from downbeat_toe.gateway.process import Site

ROUND_TRIP = 1_000_000  # ns


@pytest.fixture
def device(core: Core, site: Site) -> Iterator[Device]:
    """It has lost its gateway, so its own table serves."""
    core.set(number("downbeat_registers.h", "DOWNBEAT_REG_OWN_MSS"), MSS)
    site.stop()
    with of_site(site, 1, f"uio:{core.uri}").device as device:
        yield device


def report(core: Core, *, acked: int, acks: int, window: int) -> None:
    """A path report of the one connection, in congestion avoidance."""
    at = NOTIFICATIONS + 64 * (core.tail % 1024)
    wide = b"".join(value.to_bytes(5, "little") for value in (ROUND_TRIP, ROUND_TRIP)) + bytes(12)
    head = struct.pack("<4BHBBII", 4, 1, 0, 0, FLOW, GENERATION, 0, window * MSS, window * MSS)
    tail = struct.pack("<H10x", MSS) + acked.to_bytes(6, "little") + bytes(4) + acks.to_bytes(3, "little")
    core.memory[at : at + 63] = head + wide + tail
    core.memory[at + 63] = 1
    core.tail += 1


def asked(device: Device) -> Estimate:
    """What a connection that nobody answers starts with."""
    connection = device.connect(PEER, 81)
    told = connection.estimate
    connection.abort()
    return told


def test_reports_count_on_when_the_cores_ack_counter_wraps(core: Core, device: Device) -> None:
    connection = device.connect(PEER, 80)
    established(core)
    report(core, acked=1 << 24, acks=(1 << 24) - 10, window=20)
    report(core, acked=(1 << 24) + 20 * MSS, acks=10, window=30)
    device.poll()
    connection.close()
    told = asked(device)
    assert told.source == Source.OWN and b"mean window 30" in told.reason, told.reason
