# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Programs that do not know, against what the kernel says of the same."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from sw.tests.driver.process import Nic
from sw.tests.driver.programs import ASK, CORE, ECHO, KERNEL, LIMIT, over_core, ports_free, script, serving

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
    with serving([*wrap, *script(SERVER, address)]) as server:
        done = subprocess.run(
            [*wrap, *script(CLIENT, address)], capture_output=True, text=True, timeout=LIMIT, check=False
        )
        assert done.returncode == 0, done.stderr
        assert server.stdout
        return done.stdout, server.stdout.readline()


def test_sockets_behave_as_the_kernels(nic: Nic) -> None:
    expected = _dialogue(KERNEL, [])
    got = _dialogue(CORE, over_core(nic))
    assert tuple(text.replace(CORE, KERNEL) for text in got) == expected
    ports_free(nic)


def test_programs_that_never_block(nic: Nic) -> None:
    with serving(over_core(nic, *script(ECHO, CORE))):
        done = subprocess.run(
            over_core(nic, *script(ASK, CORE)), capture_output=True, text=True, timeout=LIMIT, check=False
        )
        assert done.stdout.strip() == str([True] * 6), done.stderr
    ports_free(nic)


@pytest.mark.skipif(shutil.which("curl") is None, reason="no curl")
def test_curl_and_a_web_server(nic: Nic, tmp_path: Path) -> None:
    """Python's http.server and curl, as they are."""
    content = os.urandom(400_000)
    (tmp_path / "file").write_bytes(content)
    serve = script(
        "import functools, http.server, sys\n"
        "handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1])\n"
        f"server = http.server.ThreadingHTTPServer(('{CORE}', 8000), handler)\n"
        "print('listening', flush=True)\nserver.serve_forever()",
        str(tmp_path),
    )
    with serving(over_core(nic, *serve)):
        for path, code in (("file", 0), ("none", 22)):
            out = tmp_path / "got"
            curl = ["curl", "-sf", "-o", str(out), f"http://{CORE}:8000/{path}"]
            assert subprocess.run(over_core(nic, *curl), timeout=LIMIT, check=False).returncode == code
        assert (tmp_path / "got").read_bytes() == content
        refused = subprocess.run(over_core(nic, "curl", "-s", f"http://{CORE}:8001/"), timeout=LIMIT, check=False)
        assert refused.returncode == 7  # CURLE_COULDNT_CONNECT
    ports_free(nic)


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
        over_core(nic, *serve), cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as server:
        try:
            fetch = ["wget", "-q", "--no-check-certificate", "-O", str(tmp_path / "got"), f"https://{CORE}:4433/file"]
            end = time.monotonic() + LIMIT
            while (
                code := subprocess.run(over_core(nic, *fetch), check=False).returncode
            ) == 4 and time.monotonic() < end:
                time.sleep(0.1)  # a network failure (wget(1)): it does not listen yet
        finally:
            server.kill()
    assert code == 0 and (tmp_path / "got").read_bytes() == content
    ports_free(nic)


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
    done = subprocess.run(over_core(nic, *script(text)), capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.stdout == "b'tcp' True\nb'udp'\nb'unix'\n", done.stderr
