# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Registers, interrupts and calls of VFIO, as sw/driver/test/mapped.cpp sees them."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from downbeat_toe.driver import Error
from downbeat_toe.driver.library import program

from sw.tests.driver.conftest import ROOT
from sw.tests.driver.mapped_core import (
    Core,
)


def _seen(case: str, *arguments: str) -> str:
    """Output of sw/driver/test/mapped.cpp."""
    done = subprocess.run([program("test-mapped"), case, *arguments], capture_output=True, text=True, check=True)
    return done.stdout


def test_no_exception_leaves_the_c_interface() -> None:
    assert _seen("exceptions") == f"{Error.OUT_OF_RESOURCES} stoi\n"


def test_numbers_of_an_argument_lie_where_the_layout_says() -> None:
    """A number that is too large is the largest."""
    layout = json.loads((ROOT / "sw/python/downbeat_toe/downbeat_layout.json").read_text())
    policies = layout["arguments"]["StartupPolicy"]
    expected = [
        f"{policy} {name} {value << field['offset']:032x}"
        for policy in ("resume", "paced")
        for name, field in policies[policy]["fields"].items()
        for value in (1 << field["fraction"], (1 << field["width"]) - 1)
    ]
    assert _seen("arguments").splitlines() == expected


def test_an_interrupt_of_uio_is_taken_and_enabled_again(core: Core) -> None:
    """uio_read gives four bytes alone; a word enables, also at the open: it may have been left masked."""
    assert _seen("uio-interrupt", core.uri).splitlines() == ["word 1", "1 1 0", "word 1"]


def test_a_lost_interrupt_delays_by_less_than_a_second(core: Core) -> None:
    assert _seen("lost-interrupt", core.uri) == "1 0\n"


def test_an_interrupt_of_vfio_is_taken(core: Core) -> None:
    assert _seen("vfio-interrupt", core.uri) == "1 1 0\n"


@pytest.fixture
def pci(tmp_path: Path) -> str:
    """The name of a PCI device with an IOMMU group."""
    devices = Path("/sys/bus/pci/devices")
    if not devices.exists():
        pytest.skip("no PCI")
    (tmp_path / "iommu_group").symlink_to("7")
    return f"{'../' * len(devices.parts)}{tmp_path}"


def test_too_few_huge_pages_are_refused(pci: str) -> None:
    free = re.search(r"^HugePages_Free:\s*(\d+)", Path("/proc/meminfo").read_text(), re.MULTILINE)
    if free and int(free[1]) >= 128:
        pytest.skip("there are enough")
    assert _seen("huge-pages", pci) == f"{Error.OUT_OF_RESOURCES} no huge pages: sysctl vm.nr_hugepages=128\n"


@pytest.mark.parametrize(
    ("case", "problem"),
    [("no-registers", "VFIO gives no BAR 0"), ("no-configuration", "VFIO lets the device reach no memory")],
)
def test_a_device_of_vfio_has_registers_and_a_configuration(pci: str, case: str, problem: str) -> None:
    assert _seen(case, pci) == f"{Error.NO_DEVICE} {pci}: {problem}\n"


def test_a_device_of_vfio_may_reach_memory(pci: str) -> None:
    """vfio-pci clears bus master at its open; what else is in the command register stays (here memory space)."""
    assert _seen("bus-master", pci) == "1 6\n"
