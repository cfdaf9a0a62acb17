# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`nmap -O` looks at the core: how hard its sequence numbers are to guess, and whether the scan leaves a flow
behind."""

from __future__ import annotations

import socket
import statistics
import xml.etree.ElementTree as ET
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import Any

from sim.lib import verilated
from sim.linux import namespace, tools
from sim.linux.program import ended, started
from sim.linux.visit import Setting, Visit, core_failures, flows

OPEN, CLOSED = 80, 81
PAGE_BYTES = 1000
# nmap's index is 8 times the binary logarithm of the spread of five differences: six perfectly random numbers have a
# median of 260 and stay below 250 once in 43 times. Then the median of five scans decides: so once in 13,000 times.
HARD = 250
SCANS = 5


class Unexpected(Exception):
    """nmap did not see what is there."""


@dataclass(frozen=True)
class Scan:
    """In nmap's words; empty where it had none."""

    index: int  # index of TCP sequence prediction
    difficulty: str
    ip_id: str
    timestamps: str
    uptime_seconds: str  # a guess by the timestamps: each connection's begin elsewhere, so it says nothing
    guesses: list[str]  # which system it is


def scanned(setting: Setting) -> Visit:
    tools.require("nmap", "nmap")
    page = setting.work / "small.bin"
    page.write_bytes(setting.contents[:PAGE_BYTES])
    count = flows(verilated.rtl(verilated.PRESET) / verilated.LAYOUT.with_suffix(".json").name)
    scans: list[Scan] = []
    failures: list[str] = []
    served = 0
    job = [f"--serve={page}", f"--requests={count}"]
    with namespace.interface() as name, started(setting.core(name, OPEN, *job)) as process:
        try:
            scans.append(_scan(setting))
            while scans[0].index < HARD and len(scans) < SCANS:
                scans.append(_scan(setting))
            served = _served_at_once(count, page.read_bytes(), setting.wall_limit)
        except Unexpected as error:
            failures.append(f"nmap: {error}")
            process.terminate()
        except OSError as error:
            failures.append(f"after the scan not all {count} flows could be opened at once: {error}")
            process.terminate()
        core = ended(process, setting.time_limit)
    return _visit(scans, count, served, failures + core_failures(core), core)


VISITS = (scanned,)


def _scan(setting: Setting) -> Scan:
    command = ["nmap", "-O", "-n", "--max-os-tries", "1", "-p", f"{OPEN},{CLOSED}", "-oX", "-", namespace.CORE_IP]
    done = tools.run(command, setting.wall_limit)
    host = ET.fromstring(done.stdout).find("host") if done.returncode == 0 else None
    if host is None:
        raise Unexpected(done.stderr.decode().strip() or "no host found")
    ports = {int(port.get("portid", "0")): _value(port, "state", "state") for port in host.iter("port")}
    sequence = host.find("tcpsequence")
    if ports != {OPEN: "open", CLOSED: "closed"} or sequence is None:
        raise Unexpected(f"ports {ports}, {'no' if sequence is None else 'a'} sequence of numbers")
    return Scan(
        int(sequence.get("index", "0")),
        sequence.get("difficulty", ""),
        _value(host, "ipidsequence", "class"),
        _value(host, "tcptssequence", "class"),
        _value(host, "uptime", "seconds"),
        [f"{match.get('name')} ({match.get('accuracy')} %)" for match in host.iter("osmatch")],
    )


def _value(element: ET.Element, tag: str, name: str) -> str:
    child = element.find(tag)
    return "" if child is None else child.get(name, "")


def _served_at_once(count: int, page: bytes, seconds: float) -> int:
    """So many connections are open at the same time, as many as the core has flows: how many of them get the page."""
    with ExitStack() as stack:
        connections = [
            stack.enter_context(socket.create_connection((namespace.CORE_IP, OPEN), seconds)) for _ in range(count)
        ]
        for connection in connections:
            connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
        begun = [connection.recv(1) for connection in connections]  # so far all of them are open
        pages = [first + _rest(connection) for first, connection in zip(begun, connections, strict=True)]
    return sum(response.endswith(page) for response in pages)


def _rest(connection: socket.socket) -> bytes:
    return b"".join(iter(lambda: connection.recv(1 << 16), b""))


def _visit(scans: list[Scan], count: int, served: int, failures: list[str], core: dict[str, Any]) -> Visit:
    index = int(statistics.median(scan.index for scan in scans)) if scans else None
    said = {field: value for field, value in asdict(scans[-1]).items() if field != "index"} if scans else {}
    if index is not None and index < HARD:
        failures.append(f"sequence numbers are too easy to guess: {[scan.index for scan in scans]}, wanted is {HARD}")
    if not failures and served < count:
        failures.append(f"{served} of {count} connections at once were served after the scan")
    figures = {"sequence_index": index, "sequence_indices": [scan.index for scan in scans], **said}
    figures |= {"flows": count, "answered_at_once": served}
    words = ", ".join(f"{key} {said.get(key) or '-'}" for key in ("difficulty", "ip_id", "timestamps"))
    summary = f"sequence index {index}, {words.replace('_', ' ')}; then {served} of {count} flows at once"
    return Visit("nmap -O", figures, failures, core, summary)
