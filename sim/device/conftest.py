# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The built library, and two devices on one wire."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import pytest
from downbeat_toe.device import Device
from downbeat_toe.library import load

from sim.device.pair import IPS, MACS, Pair
from sim.lib import verilated


@pytest.fixture(scope="session")
def library() -> ctypes.CDLL:
    return load(verilated.library() / "libdownbeat_sim.so")


@pytest.fixture
def device(library: ctypes.CDLL) -> Iterator[Device]:
    with Device(library, MACS[0], IPS[0]) as device:
        yield device


@pytest.fixture
def pair(library: ctypes.CDLL) -> Iterator[Pair]:
    with Device(library, MACS[0], IPS[0]) as client, Device(library, MACS[1], IPS[1], secret=2) as server:
        yield Pair(client, server)
