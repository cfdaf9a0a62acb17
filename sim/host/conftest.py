# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The driver's fixtures over the Verilated DownbeatHost: a device in this process (sim:) and ports of a NIC process
(simd:)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from sim.lib import verilated
from sw.tests.driver.conftest import Host, build_driver
from sw.tests.driver.process import Nic

SIZE = 2_000_000 if os.environ.get("SOAK") else 20_000


@pytest.fixture(scope="session")
def model() -> str:
    """The library of the preset `host`, which opens as `sim:` and `--preset` by its path."""
    if not verilated.verilog("host", verilated.HOST_TESTS).exists():
        pytest.skip("no Verilog of DownbeatHost: make test builds it")
    build_driver()
    return str(verilated.host(verilated.HOST_TESTS) / verilated.host_library(verilated.HOST_TESTS))


@pytest.fixture
def size() -> int:
    return SIZE


@pytest.fixture
def nic(model: str, tmp_path: Path) -> Iterator[Nic]:
    with Nic(tmp_path / "nic.sock", "--preset", model, "--loop", "10.0.0.2") as nic:
        yield nic


@pytest.fixture(params=["sim", "simd"])
def host(request: pytest.FixtureRequest, model: str) -> Iterator[Host]:
    uri = f"sim:{model}" if request.param == "sim" else request.getfixturevalue("nic").uri
    made = Host(uri, SIZE)
    with made.device:
        yield made
