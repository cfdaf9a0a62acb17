# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The web both ways: curl gets a page from the core, and the core gets one from Python's web server."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from downbeat.interop import namespace
from downbeat.interop.program import ended, started

PORT = 80
PAGE = "/page.bin"
STARTING_SECONDS = 10  # of Python's server


@dataclass(frozen=True)
class Visit:
    client: str
    server: str
    sent: bytes
    received: bytes
    failures: list[str]
    core: dict[str, Any]

    def as_json(self) -> dict[str, Any]:
        """One of interop.json's `web`."""
        return {
            "client": self.client,
            "server": self.server,
            "bytes": len(self.received),
            "equal": self.sent == self.received,
            "failures": self.failures,
            "core": self.core,
        }


def curl_from_core(program: Path, work: Path, page: bytes, seed: int, wall_limit: float) -> Visit:
    """Raises Missing without curl."""
    if shutil.which("curl") is None:
        raise namespace.Missing("no curl command: install curl")
    served = work / "served.bin"
    served.write_bytes(page)
    with namespace.interface() as name:
        command = [*_core(program, name, seed, wall_limit), f"--serve={served}"]
        with started(command) as process:
            url = f"http://{namespace.CORE_IP}:{PORT}{PAGE}"
            curl = ["curl", "--silent", "--show-error", "--max-time", str(wall_limit), url]
            done = subprocess.run(curl, capture_output=True, check=False)
            core = ended(process, wall_limit)
    failures = [f"curl: {done.stderr.decode().strip()}"] if done.returncode else []
    return _visit("curl", "core", page, done.stdout, failures, core)


def core_from_python(program: Path, work: Path, page: bytes, seed: int, wall_limit: float) -> Visit:
    site, received = work / "site", work / "fetched.bin"
    site.mkdir(exist_ok=True)
    (site / PAGE.removeprefix("/")).write_bytes(page)
    received.write_bytes(b"")
    failures = []
    with namespace.interface() as name:
        bind = ["--bind", namespace.LINUX_IP, "--directory", str(site)]
        server = [sys.executable, "-m", "http.server", str(PORT), *bind]
        with subprocess.Popen(server, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as web:
            try:
                if not _listens(web):
                    failures.append("Python's web server does not start")
                command = [*_core(program, name, seed, wall_limit), f"--fetch={PAGE}", f"--receive={received}"]
                with started([*command, f"--peer-ip={namespace.LINUX_IP}"]) as process:
                    core = ended(process, wall_limit)
            finally:
                web.kill()
    return _visit("core", "python http.server", page, received.read_bytes(), failures, core)


def _core(program: Path, interface: str, seed: int, wall_limit: float) -> list[str]:
    own = [f"--core-ip={namespace.CORE_IP}", f"--core-mac={namespace.CORE_MAC}", f"--port={PORT}"]
    return [str(program), f"--tap={interface}", *own, f"--seed={seed}", f"--wall-limit={wall_limit}"]


def _visit(client: str, server: str, sent: bytes, received: bytes, failures: list[str], core: dict[str, Any]) -> Visit:
    if core.get("failure", "no result"):
        failures.append(f"core: {core.get('failure', 'its program ended without a result')}")
    if sent != received:
        failures.append(f"the page differs: {len(received)} bytes of {len(sent)}")
    return Visit(client, server, sent, received, failures, core)


def _listens(server: subprocess.Popen[bytes]) -> bool:
    """Waits until the namespace has a socket that listens."""
    deadline = time.monotonic() + STARTING_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        rows = Path(f"/proc/{server.pid}/net/tcp").read_text().splitlines()[1:]
        if any(row.split()[3] == "0A" for row in rows):  # TCP_LISTEN
            return True
        time.sleep(0.05)
    return False
