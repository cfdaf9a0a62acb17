# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Opening and releasing a device by uio: and vfio:."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from downbeat_toe.driver import Device, DriverError, Error

from sw.tests.driver.mapped_core import (
    CONTROL,
    NOTIFICATIONS,
    PORT_BLOCK,
    STATUS,
    Core,
    number,
)


def test_another_format_is_refused_with_both_named(core: Core) -> None:
    core.set(0x1004, 2)
    with pytest.raises(DriverError, match=r"host format 2/.*\(version 0\.2\.3\), this libdownbeat 1/") as refused:
        Device(f"uio:{core.uri}")
    assert refused.value.code is Error.WRONG_VERSION


@pytest.mark.parametrize(
    ("uri", "code", "problem"),
    [
        ("uio:/dev/uio99", Error.NO_DEVICE, "/dev/uio99: no such device"),
        ("vfio:0000:ff:1f.7", Error.NO_DEVICE, "no such PCI device"),
        (f"uio:/dev/{'x' * 300}", Error.NO_DEVICE, "no such device .File name too long"),
        ("uart:/dev/none", Error.NO_DEVICE, "/dev/none: no serial device"),
        ("sim:none", Error.UNKNOWN_PRESET, "no simulated device 'none'"),
        ("usb:1", Error.NO_DEVICE, "'usb:1' names no device"),
    ],
)
def test_no_such_device(uri: str, code: Error, problem: str) -> None:
    with pytest.raises(DriverError, match=problem) as refused:
        Device(uri)
    assert refused.value.code is code


def test_what_answers_is_no_core(core: Core) -> None:
    core.set(0, 0xFFFFFFFF)
    with pytest.raises(DriverError, match="is not a Downbeat core: its first register is 0xffffffff"):
        Device(f"uio:{core.uri}")


def test_registers_that_end_before_the_host_half(tmp_path: Path, core: Core) -> None:
    """A core without one: the first page alone."""
    short = tmp_path / "short"
    short.write_bytes(core.registers[:0x1000])
    memory = core.uri.partition("?")[2]
    with pytest.raises(DriverError, match=r"the device's registers end at 4096 bytes: it has no host half") as refused:
        Device(f"uio:{short}?{memory}")
    assert refused.value.code is Error.NO_DEVICE


def test_memory_that_is_no_file(core: Core) -> None:
    with pytest.raises(DriverError, match="the kernel maps no memory") as refused:
        Device(f"uio:{core.uri.split('?')[0]}?memory=/dev/null")
    assert refused.value.code is Error.NO_DEVICE


@pytest.mark.parametrize("scheme", ["uio", "vfio"])
def test_a_second_program_is_refused(core: Core, scheme: str) -> None:
    """It would reset the first one's core."""
    with Device(f"{scheme}:{core.uri}"):
        core.set(PORT_BLOCK + 0x20, 99)  # holdOff, which an open writes
        with pytest.raises(DriverError, match="bar: it is open already") as refused:
            Device(f"{scheme}:{core.uri}")
        assert refused.value.code is Error.NO_PORT
        assert core.get(PORT_BLOCK + 0x20) == 99
    with Device(f"{scheme}:{core.uri}"):
        pass


def test_a_release_stops_the_core(core: Core) -> None:
    """Its closed connections would go on, in memory that is others' then. The resets of the open ones leave first."""
    with Device(f"uio:{core.uri}"):
        assert core.get(CONTROL) == 1
        core.lag = 0.03
        while core.get(STATUS) & 2:
            time.sleep(0.001)
    assert core.get(CONTROL) == 0
    assert core.get(STATUS) & 1 == 0
    assert not core.cut


def test_an_open_waits_for_a_core_that_was_left_on(core: Core) -> None:
    """Its last writes are in memory before the rings are made."""
    core.lag, core.left = 0.03, True
    core.set(CONTROL, 1)
    core.set(PORT_BLOCK, 1)
    while not core.get(STATUS) & 1:
        time.sleep(0.001)
    with Device(f"uio:{core.uri}"):
        assert not core.left
        assert core.memory[NOTIFICATIONS + 63] == 0


def test_an_open_that_fails_stops_the_core(core: Core) -> None:
    core.refuses = True
    with pytest.raises(DriverError, match="port 0 does not start"):
        Device(f"uio:{core.uri}")
    assert core.get(CONTROL) == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [("FLOWS", 0), ("FLOWS", 0xFFFFFFFF), ("SEND_BUFFER_BYTES", 3000), ("RECEIVE_BUFFER_BYTES", 1 << 31)],
)
def test_sizes_that_no_core_has_are_refused(core: Core, name: str, value: int) -> None:
    core.set(number("downbeat_registers.h", f"DOWNBEAT_REG_{name}"), value)
    with pytest.raises(DriverError, match="no core has these sizes") as refused:
        Device(f"uio:{core.uri}")
    assert refused.value.code is Error.NO_DEVICE
