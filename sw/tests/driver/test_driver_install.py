# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Files of `make install` in a prefix: the example is built by pkg-config against it, shared and static, and
runs."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from sw.tests.driver.conftest import ROOT, Host
from sw.tests.driver.process import Nic

SOURCES = ROOT / "sw" / "driver"
LIMIT = 20.0  # seconds


@pytest.mark.skipif(shutil.which("pkg-config") is None, reason="no pkg-config")
@pytest.mark.parametrize("kind", ["shared", "static"])
def test_the_example_runs_from_a_prefix(nic: Nic, tmp_path: Path, kind: str) -> None:
    prefix, program = tmp_path / "prefix", tmp_path / "example"
    out = os.environ["DOWNBEAT_DRIVER"]
    subprocess.run(["make", "-s", "-C", str(SOURCES), "install", f"OUT={out}", f"PREFIX={prefix}"], check=True)
    asked = os.environ | {"PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")}
    found = subprocess.run(
        ["pkg-config", "--cflags", "--libs", *(["--static"] if kind == "static" else []), "downbeat"],
        env=asked,
        capture_output=True,
        text=True,
        check=True,
    )
    words = found.stdout.split()
    if kind == "static":
        words = [str(prefix / "lib" / "libdownbeat.a") if word == "-ldownbeat" else word for word in words]
        words.append("-lstdc++")
    command = [
        "gcc",
        "-std=gnu11",
        "-Wall",
        "-Wextra",
        "-Werror",
        str(SOURCES / "example.c"),
        *words,
        "-o",
        str(program),
    ]
    subprocess.run(command, check=True)

    host = Host(nic.uri)
    with host.device:
        listener = host.listening(5001)
        environment = os.environ | {"LD_LIBRARY_PATH": str(prefix / "lib")}
        asks = [str(program), nic.uri, "10.0.0.1", "5001"]
        pipe = subprocess.PIPE
        with subprocess.Popen(asks, stdin=pipe, stdout=pipe, env=environment) as process:
            assert process.stdin and process.stdout
            process.stdin.write(b"from C")
            process.stdin.close()
            peer = host.accepted(listener)
            host.until(lambda: peer.info.peer_finished)
            peer.send(peer.receive() or b"")
            peer.close()
            assert process.stdout.read() == b"from C"
            assert process.wait(LIMIT) == 0
