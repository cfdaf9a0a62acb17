# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Entries that others write into Redis, and a Redis that is slow, cost a gateway neither its memory nor its end."""

from __future__ import annotations

import shutil
import signal
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from downbeat_toe.gateway import admin, keys, wire
from downbeat_toe.gateway.process import Site
from downbeat_toe.refused import Refused

from sw.tests.gateway.redis_server import Redis, becomes, program, second_site
from sw.tests.gateway.speaker import Speaker, newest

STREAM = "downbeat:reports"
PREFIX = "192.0.2.0/24"
ENTRIES = 10_000


def peak(site: Site) -> int:
    """Bytes that the gateway had at most."""
    assert site.process
    lines = Path(f"/proc/{site.process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024


def relayed(site: Site, way: str) -> float:
    return admin.metrics(site.metrics)[f'relayed_reports_total{{way="{way}"}}']


def until(condition: Callable[[], bool], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def sealed(site: Site, sequence: int, body: bytes) -> bytes:
    """An entry of another gateway of the site: it has accepted this from reporter 1."""
    number, site_key = newest(site.keys)
    other = wire.Host(site_key, 1, number, session=77)
    other.key = wire.derive(other.site, 0)
    return other.message(wire.RELAY, struct.pack(">I", 0) + body, sequence=sequence)


def test_large_entries_of_others_are_refused_and_cost_no_memory(redis: Redis) -> None:
    site = Site(store=f"redis://127.0.0.1:{redis.port}")
    for _ in range(20):
        redis.command("XADD", STREAM, "*", "m", bytes(2_000_000))
    redis.command("XADD", STREAM, "*", "m", bytes(1000), "n", bytes(2_000_000))
    redis.command("XADD", STREAM, "*", "m", sealed(site, 1, wire.transfer(PREFIX, 43_800)))
    with site, Speaker(site.udp, site.keys, 2) as host:
        host.learns(PREFIX, 43_800)
        assert relayed(site, "refused") == 21
        assert peak(site) < 32 << 20


def test_an_id_beyond_any_date_is_refused(redis: Redis) -> None:
    """A writer gives its own ids; the age of such an entry is not known."""
    site = Site(store=f"redis://127.0.0.1:{redis.port}")
    entry = sealed(site, 1, wire.transfer(PREFIX, 43_800))
    redis.command("XADD", STREAM, "9223372036854775807-1", "m", entry)
    redis.command("XADD", STREAM, "18446744073709551615-1", "m", entry)
    with site, Speaker(site.udp, site.keys, 2) as host:
        until(lambda: relayed(site, "refused") == 2)
        assert host.request(PREFIX)[0].reporters == (0, 0, 0)


def test_a_gateway_catches_up_within_its_memory(redis: Redis) -> None:
    """The relay reads no faster than the serving thread takes."""
    site = Site(store=f"redis://127.0.0.1:{redis.port}")
    body = b"".join(wire.transfer(f"10.0.{n}.0/24", 1000) for n in range(22))
    with socket.create_connection(("127.0.0.1", redis.port)) as connection, connection.makefile("rb") as replies:
        for first in range(1, ENTRIES, 500):
            messages = [sealed(site, n, body) for n in range(first, first + 500)]
            add = f"*5\r\n$4\r\nXADD\r\n${len(STREAM)}\r\n{STREAM}\r\n$1\r\n*\r\n$1\r\nm\r\n".encode()
            connection.sendall(b"".join(b"%b$%d\r\n%b\r\n" % (add, len(each), each) for each in messages))
            for _ in range(2 * len(messages)):
                assert not replies.readline().startswith(b"-")
    with site, Speaker(site.udp, site.keys, 2) as host:
        empty = peak(site)
        until(lambda: relayed(site, "taken") == 22 * ENTRIES)
        assert host.request("10.0.21.0/24")[0].transfers == ENTRIES
        assert peak(site) - empty < 8 << 20


def test_8192_messages_wait_for_a_lost_redis_and_the_oldest_go_first(redis: Redis, tmp_path: Path) -> None:
    settings = "[limits]\nmessages_per_second = 100000\nmessage_burst = 100000\n"
    redis.kill()
    with Site(settings=settings, store=f"redis://127.0.0.1:{redis.port}") as site:
        with Speaker(site.udp, site.keys, 2) as host:
            for number in range(8192 + 10):
                host.report(wire.transfer(f"10.0.{number // 5}.0/24" if number < 20 else PREFIX, 1000))
                if number % 40 == 0:
                    host.request(PREFIX)  # the receive buffer holds what is sent until then
            host.request(PREFIX)
        until(lambda: relayed(site, "lost") == 10)
        with second_site(site, site.store, tmp_path / "other") as other, Speaker(other.udp, other.keys, 3) as host:
            redis.start()
            until(lambda: relayed(other, "taken") == 8192)
            assert [each.transfers for each in host.request("10.0.1.0/24", "10.0.2.0/24", PREFIX)] == [0, 5, 8182]


@contextmanager
def trickle(line: bytes) -> Iterator[int]:
    """A port that sends the bytes one after the other, ten a second, and begins again."""
    end = threading.Event()

    def speak(connection: socket.socket) -> None:
        with connection:
            at = 0
            while not end.wait(0.1):
                try:
                    connection.send(line[at % len(line) :][:1])
                except OSError:
                    return
                at += 1

    def accept() -> None:
        while True:
            try:
                threading.Thread(target=speak, args=(listener.accept()[0],)).start()
            except OSError:
                return

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=accept).start()
        yield int(listener.getsockname()[1])
        end.set()
        listener.shutdown(socket.SHUT_RDWR)


def test_a_slow_redis_is_lost_and_holds_up_no_end() -> None:
    with trickle(b"$1000000\r\n" + b"x" * 1000) as port:
        site = Site(store=f"redis://127.0.0.1:{port}")
        with site:
            until(lambda: bool(site.events("redis_lost")), 5)
            assert "half a second" in site.events("redis_lost")[0]["reason"]
            begin = time.monotonic()
            assert site.stop(signal.SIGTERM) == 0
            assert time.monotonic() - begin < 5


def test_user_password_and_database_are_used_and_a_wrong_one_is_named(tmp_path: Path) -> None:
    if program() is None:
        pytest.skip("no Redis server: apt-get install redis-tools")
    rights = ["+xadd", "+xrange", "+xrevrange", "+expire", "+time", "+eval", "+select"]
    user = ["--user", "downbeat", "on", ">secret", f"~{STREAM}", *rights]
    server = Redis(tmp_path, *user)
    server.start()
    password = tmp_path / "password"
    password.write_text("secret\n")
    password.chmod(0o600)
    settings = f'[store]\nuser = "downbeat"\npassword_file = "{password}"\n'
    store = f"redis://127.0.0.1:{server.port}/3"
    try:
        with Site(store=store, settings=settings) as one, Speaker(one.udp, one.keys, 1) as first:
            becomes(one, "ok")
            first.report(wire.transfer(PREFIX, 43_800))
            with second_site(one, store, tmp_path / "two", settings) as two, Speaker(two.udp, two.keys, 2) as second:
                second.learns(PREFIX, 43_800)
                password.write_text("wrong\n")
                two.stop()
                two.start()
                until(lambda: bool(two.events("redis_lost")), 5)
                assert "WRONGPASS" in two.events("redis_lost")[0]["reason"]
                assert "secret" not in one.log.read_text() + two.log.read_text()
                two.stop()
                password.chmod(0o644)
                with pytest.raises(Refused, match="chmod 600"):
                    two.start()
    finally:
        server.kill()


def test_what_was_sealed_with_a_key_that_was_not_read_yet_is_read_after_the_reload(
    redis: Redis, tmp_path: Path
) -> None:
    store = f"redis://127.0.0.1:{redis.port}"
    with Site(store=store) as one, second_site(one, store, tmp_path / "two") as two:
        keys.rotate(one.keys)
        assert one.process and two.process
        one.process.send_signal(signal.SIGHUP)
        until(lambda: bool(one.events("keys_reloaded")))
        with Speaker(one.udp, one.keys, 1) as first, Speaker(two.udp, two.keys, 2) as second:
            first.report(wire.transfer(PREFIX, 43_800))
            until(lambda: relayed(two, "refused") == 1)
            shutil.copy(one.keys, two.keys)
            two.process.send_signal(signal.SIGHUP)
            assert second.learns(PREFIX, 43_800).transfers == 1
