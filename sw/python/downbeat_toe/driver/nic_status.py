# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Status of a NIC process and of its connections (sw/driver/src/nic_protocol.h)."""

from __future__ import annotations

import json
import socket
import struct
from pathlib import Path
from typing import Any

from downbeat_toe.refused import Refused

PROTOCOL = 2
CONNECTIONS, DEVICE = 2, 3
LIMIT = 5.0  # seconds


def _ask(path: Path, wish: int) -> list[dict[str, Any]]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as line:
        line.settimeout(LIMIT)
        try:
            line.connect(str(path))
        except PermissionError:
            raise Refused(f"{path}: no permission: the NIC's owner sets it (downbeat nic --mode)") from None
        except OSError:
            raise Refused(f"{path}: no NIC listens there: start one with downbeat nic --device simd:{path}") from None
        line.send(struct.pack("<IIII", PROTOCOL, 0, 0, wish))
        rows = []
        try:
            while message := line.recv(1 << 16):
                rows.append(json.loads(message))
        except TimeoutError:
            raise Refused(f"{path}: the NIC does not answer") from None
        return rows


def connections(path: Path) -> list[dict[str, Any]]:
    """One object for each connection."""
    return _ask(path, CONNECTIONS)


def device(path: Path) -> dict[str, Any]:
    found = _ask(path, DEVICE)
    if not found:
        raise Refused(f"{path}: the NIC speaks another protocol: build both from one release")
    return found[0]
