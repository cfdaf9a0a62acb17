# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Connects, requests of one byte and bytes a second of one client: by the kernel over a veth; over the simulated core
on the same veth; with the model of the rings in the core's place, both ends under a supervisor.

The ends of the veth are in two network namespaces, without offloads, which the core has not.
"""

from __future__ import annotations

import array
import ctypes
import fcntl
import json
import os
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from downbeat_toe.gap import veth

from sim.host.programs import over_core
from sim.linux.namespace import CORE_IP, CORE_MAC, LINUX_IP
from sw.tests.driver.process import Nic

PORT = 8100
BESIDE_IP = "10.0.0.3"  # the kernel's on the core's end
PROGRAM = [sys.executable, "-m", "sim.host.cost_program"]
LIMIT = 300.0  # seconds
SIOCETHTOOL = 0x8946
OFFLOADS = (0x17, 0x1F, 0x24)  # ETHTOOL_STXCSUM, STSO, SGSO


def _without_offloads(interface: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        for command in OFFLOADS:
            value = array.array("I", [command, 0])
            request = struct.pack("16sP", interface.encode(), value.buffer_info()[0])
            fcntl.ioctl(any_socket, SIOCETHTOOL, ctypes.create_string_buffer(request, 40))


@contextmanager
def _serving(command: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
    """It prints a line when it is ready."""
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout
        try:
            if not process.stdout.readline():
                raise RuntimeError(f"{' '.join(command)} does not start")
            yield process
        finally:
            process.terminate()


@contextmanager
def _cable() -> Iterator[str]:
    """Moves this process into a network namespace with one end, whose name it yields; a server has the other."""
    veth.enter()
    near, far = veth.ENDS
    for end in veth.ENDS:
        _without_offloads(end)
    ip = ["ip", "address", "add"]
    subprocess.run([*ip, f"{BESIDE_IP}/24", "dev", near], check=True)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    waits = f"echo there; read it; ip link set {far} up; {' '.join(ip)} {LINUX_IP}/24 dev {far}; "
    serves = " ".join([*PROGRAM, "serve", LINUX_IP, str(PORT)])
    with _serving(["unshare", "-n", "sh", "-c", f"{waits}exec {serves}"]) as server:
        assert server.stdin and server.stdout
        subprocess.run(["ip", "link", "set", far, "netns", str(server.pid)], check=True)
        server.stdin.write("here\n")
        server.stdin.flush()
        server.stdout.readline()
        yield near


def _request(way: str, command: Sequence[str], address: str, *nic: str) -> dict[str, Any]:
    program = [*command, *PROGRAM, "request", address, str(PORT), *nic]
    done = subprocess.run(program, stdout=subprocess.PIPE, text=True, check=True, timeout=LIMIT)
    return {"way": way, **json.loads(done.stdout)}


def measure(work: Path, driver: Path, models: Path, preset: str) -> list[dict[str, Any]]:
    """Rows; the process is in another network namespace afterwards. `driver` has the model of the rings."""
    looped = ("--preset", "loopback", "--loop", LINUX_IP)
    with Nic(work / "rings.sock", *looped, environment=os.environ | {"DOWNBEAT_MODELS": str(driver)}) as nic:
        assert nic.process
        with _serving(over_core(nic, [*PROGRAM, "serve", CORE_IP, str(PORT)])):
            rings = _request("rings", over_core(nic, []), CORE_IP, str(nic.process.pid))
    with _cable() as end:
        kernel = _request("kernel", [], LINUX_IP)
        wire = ("--interface", end, "--ip", f"{CORE_IP}/24", "--mac", CORE_MAC, "--preset", preset)
        with Nic(work / "core.sock", *wire, environment=os.environ | {"DOWNBEAT_MODELS": str(models)}) as nic:
            assert nic.process
            core = _request("core", over_core(nic, []), LINUX_IP, str(nic.process.pid))
    return [kernel, rings, core]
