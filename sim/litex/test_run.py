# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The kernel's side of make litex: what the console says is read, and a simulator that ends is noticed at once."""

from __future__ import annotations

import socket
import subprocess
import time

import pytest

from sim.litex.run import Console, Failed, _accepted

LIMIT_SECONDS = 20.0


def console(text: str) -> Console:
    """That of a program which says that and ends."""
    return Console(subprocess.Popen(["printf", text], text=True, stdout=subprocess.PIPE))


def test_a_number_stands_behind_its_word() -> None:
    said = console("[clocker] loaded\ngot 00000010\ncrc deadbeef\n")
    end = time.monotonic() + LIMIT_SECONDS
    assert (said.number("got", end), said.number("crc", end)) == (0x10, 0xDEADBEEF)


def test_a_simulator_that_ends_is_a_failure_with_its_last_lines() -> None:
    end = time.monotonic() + LIMIT_SECONDS
    with pytest.raises(Failed, match=r"did not print got; the simulator ended; its console: receive fffffff9"):
        console("receive fffffff9\n").number("got", end)
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        pytest.raises(Failed, match="did not connect; the simulator"),
    ):
        _accepted(console("begin ffffffff\n"), server, end)
    assert time.monotonic() < end
