# SPDX-License-Identifier: BSD-2-Clause-Patent
"""libdownbeat_site opens without a gateway and without a route, and finds the gateway when there is one."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from downbeat_toe.estimator.structures import COptions
from downbeat_toe.gateway import keys
from downbeat_toe.gateway.process import Site, program

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

    def __init__(self, uri: str, key: str) -> None:
        self.library = ctypes.CDLL(str(program("libdownbeat_site.so")))
        self.library.downbeat_site_create.restype = ctypes.c_void_p
        options = COptions()
        self.library.downbeat_site_defaults(ctypes.byref(options))
        problem = ctypes.c_char_p()
        words = (ctypes.byref(options), uri.encode(), key.encode(), ctypes.c_uint64(0), ctypes.byref(problem))
        made = self.library.downbeat_site_create(*words)
        assert made, problem.value
        self.site = ctypes.c_void_p(made)

    def connected(self) -> bool:
        status = Status()
        self.library.downbeat_site_run(self.site)
        self.library.downbeat_site_get_status(self.site, ctypes.byref(status))
        return bool(status.connected)


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
