# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Programs that do not know, for the tests of `downbeat run`: two of them, each with a port of one NIC (loopback)."""

from __future__ import annotations

import contextlib
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator

from downbeat_toe.driver.library import program
from downbeat_toe.driver.nic_status import connections, device

from sw.tests.driver.process import Nic

LIMIT = 20.0  # seconds
KERNEL, CORE = "127.0.0.1", "10.0.0.1"


def free_port() -> int:
    """A port below those that the kernel gives to connections: tests run side by side."""
    for port in random.sample(range(10_000, 32_000), 100):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("", port))
            return port
    raise AssertionError("no port is free")


def over_core(nic: Nic, *command: str) -> list[str]:
    return [str(program("downbeat-run")), "--device", nic.uri, "--", *command]


def script(text: str, *arguments: str) -> list[str]:
    return [sys.executable, "-c", text, *arguments]


@contextlib.contextmanager
def serving(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    """It has printed a line when it listens."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            assert process.stdout
            line = process.stdout.readline()
            assert "Traceback" not in line, process.stdout.read()
            yield process
        finally:
            process.send_signal(signal.SIGKILL)


def ports_free(nic: Nic, wanted: int = 4) -> None:
    """The supervisors end when their programs have, and nothing is left."""
    end = time.monotonic() + LIMIT
    while device(nic.socket)["free_ports"] != wanted:
        assert time.monotonic() < end, connections(nic.socket)
        time.sleep(0.05)


# Non-blocking on both sides, by epoll: many connections at once, echoed.
ECHO = """
import asyncio, sys
async def serve(reader, writer):
    while data := await reader.read(4000):
        writer.write(data)
        await writer.drain()
    writer.close()
async def main():
    server = await asyncio.start_server(serve, sys.argv[1], 5007)
    print("listening", flush=True)
    await server.serve_forever()
asyncio.run(main())
"""


ASK = """
import asyncio, os, sys
async def ask(number):
    reader, writer = await asyncio.open_connection(sys.argv[1], 5007)
    sent = os.urandom(30000 + number)
    async def write():
        writer.write(sent)
        await writer.drain()
        writer.write_eof()
    got, _ = await asyncio.gather(reader.read(-1), write())
    writer.close()
    return got == sent
async def main():
    print(await asyncio.gather(*map(ask, range(6))))
asyncio.run(main())
"""
