# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Pages of the gateway for people: HTTP/1.0 on a Unix socket, JSON; and its counters for Prometheus."""

from __future__ import annotations

import json
import socket
import urllib.request
from pathlib import Path
from typing import Any

from downbeat_toe.refused import Refused

LIMIT = 5.0  # seconds


def ask(path: Path, target: str) -> dict[str, Any]:
    """The answer to GET `target`. Refused where no gateway is, or where it does not like the question."""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(LIMIT)
            connection.connect(str(path))
            connection.sendall(f"GET {target} HTTP/1.0\r\n\r\n".encode())
            answer = b"".join(iter(lambda: connection.recv(65536), b""))
    except OSError as error:
        raise Refused(
            f"{path}: {error.strerror or error}: is the performance gateway running, and is this its admin socket?"
        ) from None
    body: dict[str, Any] = json.loads(answer.partition(b"\r\n\r\n")[2])
    if "error" in body:
        raise Refused(str(body["error"]))
    return body


def metrics(port: int) -> dict[str, float]:
    """Prometheus's text as a table; names without the common beginning: 'refused_total{cause="forged"}'."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=LIMIT) as answer:
        lines = answer.read().decode().splitlines()
    pairs = (line.rsplit(" ", 1) for line in lines if line.startswith("downbeat_gateway_"))
    return {name.removeprefix("downbeat_gateway_"): float(value) for name, value in pairs}
