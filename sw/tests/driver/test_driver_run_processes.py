# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Processes and users of `downbeat run`: the program, its daemons, other processes of the machine."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from downbeat_toe.refused import Refused

from sw.tests.driver.conftest import LOOPED
from sw.tests.driver.process import Nic
from sw.tests.driver.programs import ASK, CORE, ECHO, LIMIT, over_core, ports_free, script, serving

NOBODY = 65534
BOTH_ENDS = """
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
int main(int count, char **values) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(5011)}, peer;
  socklen_t size = sizeof peer;
  inet_pton(AF_INET, values[1], &address.sin_addr);
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(listener, (void *)&address, sizeof address) != 0 || listen(listener, 5) != 0) return count;
  if (fork() == 0) {
    int end = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(end, (void *)&address, sizeof address) != 0) return 1;
    return write(end, "hello", 5) != 5;
  }
  char text[9] = "";
  int end = accept(listener, (void *)&peer, &size);
  if (read(end, text, 5) != 5) return 1;
  printf("%s from %s\\n", text, inet_ntoa(peer.sin_addr));
}
"""

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")


def test_exit_codes_are_the_programs(nic: Nic) -> None:
    for command, code in ((("true",), 0), (("sh", "-c", "exit 7"), 7), (("none-such",), 127)):
        assert subprocess.run(over_core(nic, *command), stderr=subprocess.DEVNULL, check=False).returncode == code
    killed = subprocess.run(over_core(nic, "sh", "-c", "kill -9 $$"), check=False)
    assert killed.returncode == -signal.SIGKILL
    ports_free(nic)


def test_the_front_passes_signals_on(nic: Nic) -> None:
    """The user knows the front alone: what it gets is the program's, and how it ends is how the program ended."""
    caught = over_core(nic, "sh", "-c", "trap 'exit 5' TERM; echo ready; while :; do sleep 0.01; done")
    plain = over_core(nic, "sh", "-c", "echo ready; exec sleep 60")
    for command, number, code in (
        (caught, signal.SIGTERM, 5),
        (plain, signal.SIGTERM, -signal.SIGTERM),
        (plain, signal.SIGKILL, -signal.SIGKILL),
    ):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as front:
            assert front.stdout and front.stdout.readline() == "ready\n"
            front.send_signal(number)
            assert front.wait(LIMIT) == code
            assert front.stdout.read() == ""  # the program has gone too
    ports_free(nic)


def test_a_stopped_program_stops_its_front(nic: Nic) -> None:
    """So that a shell sees a job that is stopped; SIGCONT continues both."""
    front = os.posix_spawn(over_core(nic)[0], over_core(nic, "sh", "-c", "kill -STOP $$; exit 6"), os.environ)
    assert os.WIFSTOPPED(os.waitpid(front, os.WUNTRACED)[1])
    os.kill(front, signal.SIGCONT)
    assert os.waitstatus_to_exitcode(os.waitpid(front, 0)[1]) == 6
    ports_free(nic)


def _static(directory: Path) -> str:
    (directory / "both.c").write_text(BOTH_ENDS)
    built = subprocess.run(["gcc", "-static", "-o", "both", "both.c"], cwd=directory, capture_output=True, check=False)
    if built.returncode != 0:
        pytest.skip("no static C library")
    return str(directory / "both")


def test_a_static_program(nic: Nic, tmp_path: Path) -> None:
    command = over_core(nic, _static(tmp_path), CORE)
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.stdout == f"hello from {CORE}\n", done.stderr
    ports_free(nic)


@as_root
def test_an_ordinary_user_needs_no_rights(tmp_path: Path) -> None:
    """The NIC and the program are another user's."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        shutil.copy(_static(tmp_path), directory)
        os.chown(directory, NOBODY, NOBODY)
        become = ["setpriv", f"--reuid={NOBODY}", "--clear-groups"]
        models = os.environ | {"DOWNBEAT_MODELS": os.environ["DOWNBEAT_DRIVER"]}
        try:
            with Nic(directory / "nic.sock", *LOOPED, environment=models, before=become) as nic:
                command = [*become, *over_core(nic, str(directory / "both"), CORE)]
                done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
        except Refused:
            pytest.skip("another user does not reach the built programs")
    assert done.stdout == f"hello from {CORE}\n", done.stderr


def test_a_daemon_keeps_its_sockets(nic: Nic) -> None:
    """The program forks and ends; its child serves on."""
    daemon = """
import os, socket, sys
listener = socket.create_server((sys.argv[1], 5008))
if os.fork():
    os._exit(0)
os.setsid()
connection, _ = listener.accept()
listener.close()
connection.sendall(b"from the child")
"""
    assert subprocess.run(over_core(nic, *script(daemon, CORE)), timeout=LIMIT, check=False).returncode == 0
    ask = f"import socket\nprint(socket.create_connection(('{CORE}', 5008)).recv(100))"
    done = subprocess.run(over_core(nic, *script(ask)), capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.stdout == "b'from the child'\n", done.stderr
    ports_free(nic)


def test_a_daemon_may_open_its_sockets_late(nic: Nic) -> None:
    """After the program has ended."""
    daemon = """
import os, socket, sys, time
if os.fork():
    os._exit(0)
os.setsid()
time.sleep(0.7)
connection, _ = socket.create_server((sys.argv[1], 5009)).accept()
connection.sendall(b"late")
"""
    quiet = subprocess.DEVNULL
    command = over_core(nic, *script(daemon, CORE))
    assert subprocess.run(command, timeout=LIMIT, stdout=quiet, stderr=quiet, check=False).returncode == 0
    ask = f"""
import socket, time
while (asks := socket.socket()).connect_ex(("{CORE}", 5009)):
    time.sleep(0.05)
print(asks.recv(100))
"""
    done = subprocess.run(over_core(nic, *script(ask)), capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.stdout == "b'late'\n", done.stderr
    ports_free(nic)


def _asks(nic: Nic) -> None:
    done = subprocess.run(
        over_core(nic, *script(ASK, CORE)), capture_output=True, text=True, timeout=LIMIT, check=False
    )
    assert done.stdout.strip() == str([True] * 6), done.stderr


@contextlib.contextmanager
def _another_user() -> Iterator[None]:
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def _on_the_leg(port: int) -> str:
    """The loopback address that stands for the device's, which every user of the machine sees."""
    for row in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        address, _, number = row.split()[1].partition(":")
        if int(number, 16) == port and address.endswith("7F"):
            return socket.inet_ntoa(bytes.fromhex(address)[::-1])
    raise LookupError(port)


@as_root
def test_another_process_does_not_come_past_the_supervisor(nic: Nic) -> None:
    """A connection that the core does not know is closed, and the server does not hear of it."""
    with serving(over_core(nic, *script(ECHO, CORE))), socket.socket() as silent, socket.socket() as intruder:
        address = _on_the_leg(5007)
        with _another_user():
            silent.connect((address, 5007))
            intruder.connect((address, 5007))
        intruder.settimeout(LIMIT)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            intruder.send(b"echo")
            assert intruder.recv(100) == b""
        _asks(nic)
    ports_free(nic)


@as_root
def test_a_server_that_gives_up_root_keeps_its_connections(nic: Nic) -> None:
    text = f"""
import os, socket, sys
listener = socket.create_server((sys.argv[1], 5009))
os.setuid({NOBODY})
print("listening", flush=True)
connection, peer = listener.accept()
assert connection.getpeername() == peer
connection.sendall(connection.recv(100))
"""
    with serving(over_core(nic, *script(text, CORE))):
        ask = f"import socket\ns = socket.create_connection(('{CORE}', 5009))\ns.sendall(b'still')\nprint(s.recv(9))"
        done = subprocess.run(over_core(nic, *script(ask)), capture_output=True, text=True, timeout=LIMIT, check=False)
        assert done.stdout == "b'still'\n", done.stderr
    ports_free(nic)
