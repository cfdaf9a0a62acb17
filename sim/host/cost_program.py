# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The program of socket_costs.py: `serve ADDRESS PORT`, or `request ADDRESS PORT [PID]`, which prints what it counted.

Three ports that follow one another: the first closes each connection, the second echoes, the third counts.
"""

from __future__ import annotations

import json
import os
import selectors
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROUNDS, SECONDS = 5, 0.6
PIECE = bytes(1 << 16)


def serve(address: str, port: int) -> None:
    listeners = selectors.DefaultSelector()
    for number in range(3):
        listeners.register(socket.create_server((address, port + number), backlog=16), selectors.EVENT_READ, number)
    print("listening", flush=True)
    while True:
        for key, _ in listeners.select():
            assert isinstance(key.fileobj, socket.socket)
            end, _ = key.fileobj.accept()
            with end:
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                count = 0
                while key.data and (part := end.recv(len(PIECE))):
                    count += len(part)
                    if key.data == 1:
                        end.sendall(part)
                if key.data == 2:
                    end.sendall(str(count).encode())


def _connects(address: str, port: int, until: float) -> int:
    count = 0
    while time.monotonic() < until:
        with socket.create_connection((address, port)) as end:
            count += end.recv(1) == b""
    return count


def _requests(address: str, port: int, until: float) -> int:
    count = 0
    with socket.create_connection((address, port + 1)) as end:
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while time.monotonic() < until:
            end.sendall(b"?")
            count += len(end.recv(1))
    return count


def _bytes(address: str, port: int, until: float) -> int:
    with socket.create_connection((address, port + 2)) as end:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 17)  # or seconds' worth waits at the end
        while time.monotonic() < until:
            end.sendall(PIECE)
        end.shutdown(socket.SHUT_WR)
        return int(end.recv(100))


def _processor(process: int) -> float:
    """Seconds of the processor that a process has taken."""
    user, system = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def request(address: str, port: int, processes: dict[str, int]) -> dict[str, object]:
    """The best round of each measure, a second; what each process takes for a request, us."""

    def best(measure: Callable[[str, int, float], int]) -> tuple[float, int]:
        rates, total = [], 0
        for _ in range(ROUNDS):
            begin = time.monotonic()
            count = measure(address, port, begin + SECONDS)
            rates.append(count / (time.monotonic() - begin))
            total += count
        return max(rates), total

    found: dict[str, object] = {"connects_per_s": best(_connects)[0]}
    before = {name: _processor(each) for name, each in processes.items()}
    found["requests_per_s"], total = best(_requests)
    found["request_us"] = {name: (_processor(each) - before[name]) / total * 1e6 for name, each in processes.items()}
    found["bytes_per_s"] = best(_bytes)[0]
    return found


if __name__ == "__main__":
    role, place, first, *nic = sys.argv[1:]
    if role == "serve":
        serve(place, int(first))
    watched = {"program": os.getpid()}
    if nic:  # over the core
        watched |= {"supervisor": os.getppid(), "nic": int(nic[0])}
    print(json.dumps(request(place, int(first), watched)))
