# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Programs that do not know: two of them, each with a port of one NIC (loopback), against what the kernel says of the
same."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from downbeat_toe.driver.library import program
from downbeat_toe.driver.nic_status import connections, device
from downbeat_toe.driver.process import Nic

LIMIT = 20.0  # seconds
KERNEL, CORE = "127.0.0.1", "10.0.0.1"
NOBODY = 65534
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")


def _run(nic: Nic, *command: str) -> list[str]:
    return [str(program("downbeat-run")), "--device", nic.uri, "--", *command]


def _script(text: str, *arguments: str) -> list[str]:
    return [sys.executable, "-c", text, *arguments]


@contextlib.contextmanager
def _server(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    """It has printed a line when it listens."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            assert process.stdout
            process.stdout.readline()
            yield process
        finally:
            process.send_signal(signal.SIGKILL)


def _ports_free(nic: Nic, wanted: int = 4) -> None:
    """The pumps end when their programs have, and nothing is left."""
    end = time.monotonic() + LIMIT
    while device(nic.socket)["free_ports"] != wanted:
        assert time.monotonic() < end, connections(nic.socket)
        time.sleep(0.05)


# Both sides say what they see; run once over the kernel and once over the core, the words must be the same.
SERVER = """
import socket, sys
listener = socket.create_server((sys.argv[1], 5005))
print("listening", flush=True)
connection, peer = listener.accept()
assert connection.getpeername() == peer
data = b""
while part := connection.recv(5000):
    data += part
connection.sendall(data[::-1])
connection.close()
print(peer[0], connection.family.name, len(data), listener.getsockname()[1], flush=True)
"""
CLIENT = """
import hashlib, os, select, socket, sys
address = sys.argv[1]
words = []
def say(*what):
    words.append(" ".join(map(str, what)))
s = socket.socket()
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
say("timeout", s.gettimeout(), s.connect_ex((address, 5005)), s.getpeername())
say(s.getsockname()[0], s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR), s.getsockopt(socket.SOL_SOCKET, socket.SO_TYPE))
say("TCP_INFO", s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0])  # the state: iperf3 wants it
data = bytes(range(256)) * 1200
if os.fork() == 0:  # a child writes, the parent reads
    s.sendall(data)
    s.shutdown(socket.SHUT_WR)
    os._exit(0)
got = b""
while part := s.recv(7000):
    got += part
say(got == data[::-1], os.wait()[1])
s.close()
s = socket.socket()
say("refused", s.connect_ex((address, 5006)))
s = socket.socket()
s.setblocking(False)
first = s.connect_ex((address, 5006))
poll = select.poll()
poll.register(s, select.POLLOUT)
say("later", first, bool(poll.poll(5000)), s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR))
print("\\n".join(words))
"""


def _dialogue(address: str, wrap: list[str]) -> tuple[str, str]:
    with _server([*wrap, *_script(SERVER, address)]) as server:
        done = subprocess.run(
            [*wrap, *_script(CLIENT, address)], capture_output=True, text=True, timeout=LIMIT, check=False
        )
        assert done.returncode == 0, done.stderr
        assert server.stdout
        return done.stdout, server.stdout.readline()


def test_sockets_behave_as_the_kernels(nic: Nic) -> None:
    expected = _dialogue(KERNEL, [])
    got = _dialogue(CORE, _run(nic))
    assert tuple(text.replace(CORE, KERNEL) for text in got) == expected
    _ports_free(nic)


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


def test_programs_that_never_block(nic: Nic) -> None:
    with _server(_run(nic, *_script(ECHO, CORE))):
        done = subprocess.run(
            _run(nic, *_script(ASK, CORE)), capture_output=True, text=True, timeout=LIMIT, check=False
        )
        assert done.stdout.strip() == str([True] * 6), done.stderr
    _ports_free(nic)


@pytest.mark.skipif(shutil.which("curl") is None, reason="no curl")
def test_curl_and_a_web_server(nic: Nic, tmp_path: Path) -> None:
    """Python's http.server and curl, as they are."""
    content = os.urandom(400_000)
    (tmp_path / "file").write_bytes(content)
    serve = _script(
        "import functools, http.server, sys\n"
        "handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1])\n"
        f"server = http.server.ThreadingHTTPServer(('{CORE}', 8000), handler)\n"
        "print('listening', flush=True)\nserver.serve_forever()",
        str(tmp_path),
    )
    with _server(_run(nic, *serve)):
        for path, code in (("file", 0), ("none", 22)):
            out = tmp_path / "got"
            curl = ["curl", "-sf", "-o", str(out), f"http://{CORE}:8000/{path}"]
            assert subprocess.run(_run(nic, *curl), timeout=LIMIT, check=False).returncode == code
        assert (tmp_path / "got").read_bytes() == content
        refused = subprocess.run(_run(nic, "curl", "-s", f"http://{CORE}:8001/"), timeout=LIMIT, check=False)
        assert refused.returncode == 7  # CURLE_COULDNT_CONNECT
    _ports_free(nic)


@pytest.mark.skipif(not (shutil.which("openssl") and shutil.which("wget")), reason="no openssl or no wget")
def test_wget_and_openssl(nic: Nic, tmp_path: Path) -> None:
    """A file over TLS, as they are."""
    content = os.urandom(100_000)
    (tmp_path / "file").write_bytes(content)
    key = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    named = ["-keyout", "key.pem", "-out", "cert.pem", "-subj", "/CN=core"]
    subprocess.run([*key, *named], cwd=tmp_path, check=True, capture_output=True)
    serve = ["openssl", "s_server", "-HTTP", "-accept", f"{CORE}:4433", "-key", "key.pem", "-cert", "cert.pem"]
    with subprocess.Popen(
        _run(nic, *serve), cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as server:
        try:
            fetch = ["wget", "-q", "--no-check-certificate", "-O", str(tmp_path / "got"), f"https://{CORE}:4433/file"]
            end = time.monotonic() + LIMIT
            while (code := subprocess.run(_run(nic, *fetch), check=False).returncode) == 4 and time.monotonic() < end:
                time.sleep(0.1)  # a network failure (wget(1)): it does not listen yet
        finally:
            server.kill()
    assert code == 0 and (tmp_path / "got").read_bytes() == content
    _ports_free(nic)


def test_exit_codes_are_the_programs(nic: Nic) -> None:
    for command, code in ((("true",), 0), (("sh", "-c", "exit 7"), 7), (("none-such",), 127)):
        assert subprocess.run(_run(nic, *command), stderr=subprocess.DEVNULL, check=False).returncode == code
    killed = subprocess.run(_run(nic, "sh", "-c", "kill -9 $$"), check=False)
    assert killed.returncode == -signal.SIGKILL
    _ports_free(nic)


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
    assert subprocess.run(_run(nic, *_script(daemon, CORE)), timeout=LIMIT, check=False).returncode == 0
    ask = f"import socket\nprint(socket.create_connection(('{CORE}', 5008)).recv(100))"
    done = subprocess.run(_run(nic, *_script(ask)), capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.stdout == "b'from the child'\n", done.stderr
    _ports_free(nic)


def _pump(program: subprocess.Popen[str]) -> str:
    """The abstract name of its control socket, which every user of the machine sees."""
    environment = Path(f"/proc/{program.pid}/environ").read_bytes().split(b"\0")
    found = next(each for each in environment if each.startswith(b"DOWNBEAT_RUN="))
    return "\0" + found.split(b"=")[1].split()[0].decode()


def _asks(nic: Nic) -> None:
    done = subprocess.run(_run(nic, *_script(ASK, CORE)), capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.stdout.strip() == str([True] * 6), done.stderr


@contextlib.contextmanager
def _another_user() -> Iterator[None]:
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_silent_peer_stops_nobody(nic: Nic) -> None:
    """It is sent away after some time."""
    with (
        _server(_run(nic, *_script(ECHO, CORE))) as server,
        socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as silent,
    ):
        silent.connect(_pump(server))
        _asks(nic)
        silent.settimeout(LIMIT)
        assert silent.recv(1) == b""
        _asks(nic)
    _ports_free(nic)


def _is_turned_away(other: socket.socket, says: bytes) -> None:
    """It gets nothing but the end, whether its words were taken or not."""
    with contextlib.suppress(BrokenPipeError):
        other.send(says)
    with contextlib.suppress(ConnectionResetError):
        assert other.recv(100) == b""


@as_root
def test_another_user_asks_for_nothing(nic: Nic) -> None:
    connect = struct.pack("<IIHxxIHxx5I", 1, 0x0A000001, 5007, 0, 0, 0, 0, 0, 0, 0)
    with (
        _server(_run(nic, *_script(ECHO, CORE))) as server,
        socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as asking,
    ):
        asking.settimeout(LIMIT)
        name = _pump(server)
        with _another_user():
            asking.connect(name)
        _is_turned_away(asking, connect)
        _asks(nic)
    _ports_free(nic)


@as_root
def test_another_user_does_not_come_past_the_pump(nic: Nic) -> None:
    """The listener's local socket has an abstract name, and what connects to it could give any address for its own."""
    with _server(_run(nic, *_script(ECHO, CORE))):
        names = Path("/proc/net/unix").read_text()
        name = next(line.split("@")[1] for line in names.splitlines() if "@downbeat/l/0a000001/138f/" in line)
        with socket.socket(socket.AF_UNIX) as intruder:
            intruder.settimeout(LIMIT)
            intruder.bind("\0downbeat/c/0a000002/1234/0a000001/138f/ffffffff")
            with _another_user():
                intruder.connect("\0" + name)
            _is_turned_away(intruder, b"echo")
        _asks(nic)
    _ports_free(nic)


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
    with _server(_run(nic, *_script(text, CORE))):
        ask = f"import socket\ns = socket.create_connection(('{CORE}', 5009))\ns.sendall(b'still')\nprint(s.recv(9))"
        done = subprocess.run(_run(nic, *_script(ask)), capture_output=True, text=True, timeout=LIMIT, check=False)
        assert done.stdout == "b'still'\n", done.stderr
    _ports_free(nic)


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
    command = _run(nic, *_script(daemon, CORE))
    assert subprocess.run(command, timeout=LIMIT, stdout=quiet, stderr=quiet, check=False).returncode == 0
    ask = f"""
import socket, time
while (asks := socket.socket()).connect_ex(("{CORE}", 5009)):
    time.sleep(0.05)
print(asks.recv(100))
"""
    done = subprocess.run(_run(nic, *_script(ask)), capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.stdout == "b'late'\n", done.stderr
    _ports_free(nic)


def test_other_sockets_stay_the_kernels(nic: Nic) -> None:
    """UDP, IPv6, local sockets and addresses outside the device's network."""
    text = """
import socket
listener = socket.create_server(("127.0.0.1", 0))
a = socket.create_connection(listener.getsockname())
b, _ = listener.accept()
a.sendall(b"tcp"); print(b.recv(10), a.getpeername() == b.getsockname())
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.bind(("127.0.0.1", 0))
u.sendto(b"udp", u.getsockname()); print(u.recv(10))
l, r = socket.socketpair(); l.send(b"unix"); print(r.recv(10))
"""
    done = subprocess.run(_run(nic, *_script(text)), capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.stdout == "b'tcp' True\nb'udp'\nb'unix'\n", done.stderr


@pytest.mark.parametrize("option", ["--startup-argument", "--steady-argument"])
@pytest.mark.parametrize(("argument", "refused"), [("0x0", False), ("0x1", True), ("0x10000000000000000", True)])
def test_policies_are_told_their_arguments(nic: Nic, option: str, argument: str, refused: bool) -> None:
    """Standard slow start and Reno take none, in either of the two words."""
    text = f"import errno, socket; print(socket.socket().connect_ex(('{CORE}', 5005)) == errno.EIO)"
    wrap = _run(nic)
    command = [*wrap[:-1], option, argument, "--", *_script(text)]
    with _server([*wrap, *_script(SERVER, CORE)]):
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.stdout == f"{refused}\n", done.stderr


@pytest.mark.parametrize("argument", ["1", "0x", "0xg", f"0x{1 << 128:x}"])
def test_an_argument_that_is_not_two_words_is_refused(nic: Nic, argument: str) -> None:
    command = [*_run(nic)[:-1], "--startup-argument", argument, "--", "true"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.returncode == 126 and f"'{argument}' is not an argument" in done.stderr


def test_refusals_in_one_line(nic: Nic, tmp_path: Path) -> None:
    missing = [str(program("downbeat-run")), "--device", f"simd:{tmp_path}/none", "--", "true"]
    done = subprocess.run(missing, capture_output=True, text=True, check=False)
    assert done.returncode == 126 and done.stderr.count("\n") == 1
    assert "no NIC listens there" in done.stderr
