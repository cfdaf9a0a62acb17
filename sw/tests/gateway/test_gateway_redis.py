# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Two gateways of one site over a real redis-server, which is killed in the middle and comes back."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from downbeat_toe.gateway import admin, keys, wire
from downbeat_toe.gateway.process import Site

from sw.tests.gateway.redis_server import Redis, becomes, second_site
from sw.tests.gateway.speaker import Speaker

PREFIX = "192.0.2.0/24"


def test_a_host_at_one_gateway_gets_what_a_host_at_the_other_reported(redis: Redis, tmp_path: Path) -> None:
    store = f"redis://127.0.0.1:{redis.port}"
    with Site(store=store) as one, Speaker(one.udp, one.keys, 1) as first:
        becomes(one, "ok")
        first.report(wire.transfer(PREFIX, 43_800), wire.saved(PREFIX, 9e4, 0.3), wire.state(PREFIX, 2, 0, 8000))
        first.learns(PREFIX, 43_800)
        with second_site(one, store, tmp_path / "two") as two, Speaker(two.udp, two.keys, 2) as second:
            known = second.learns(PREFIX, 43_800)  # what was in Redis before this gateway began
            assert known.reporters == (1, 1, 1) and (known.saved_window, known.oldest) == (9e4, 8000)
            second.report(wire.transfer(PREFIX, 20_000))
            assert first.learns(PREFIX, 20_000).transfers == 2, "the lower median of both hosts, each report once"
            time.sleep(0.1)
            assert second.request(PREFIX)[0].transfers == first.request(PREFIX)[0].transfers == 2


@contextlib.contextmanager
def two_gateways(redis: Redis, tmp_path: Path, settings: str = "") -> Iterator[tuple[Site, Site, Speaker, Speaker]]:
    """Over one Redis, and a host at each; `settings`: of the second."""
    store = f"redis://127.0.0.1:{redis.port}"
    with (
        Site(store=store) as one,
        second_site(one, store, tmp_path / "two", settings) as two,
        Speaker(one.udp, one.keys, 1) as first,
        Speaker(two.udp, two.keys, 2) as second,
    ):
        yield one, two, first, second


def test_a_lost_redis_degrades_to_memory_and_what_was_missed_is_caught_up(redis: Redis, tmp_path: Path) -> None:
    with two_gateways(redis, tmp_path) as (one, two, first, second):
        first.report(wire.transfer(PREFIX, 43_800))
        second.learns(PREFIX, 43_800)
        redis.kill()
        for site in (one, two):
            becomes(site, "degraded")
            assert site.events("redis_lost")[-1]["store"] == "embedded alone"
        assert second.request(PREFIX)[0].window == 43_800, "served from memory"
        first.report(wire.transfer("198.51.100.0/24", 7300))
        first.learns("198.51.100.0/24", 7300)
        assert second.request("198.51.100.0/24")[0].reporters == (0, 0, 0)
        redis.start()  # empty
        second.learns("198.51.100.0/24", 7300, 10)
        becomes(one, "ok")
        time.sleep(0.1)
        assert second.request(PREFIX)[0].transfers == first.request(PREFIX)[0].transfers == 1, "nothing counts twice"
        assert admin.metrics(one.metrics)["redis_disconnects_total"] == 1


def refuses(site: Site, count: int) -> None:
    end = time.monotonic() + 5
    while (found := admin.metrics(site.metrics)['relayed_reports_total{way="refused"}']) < count:
        assert time.monotonic() < end, f"{found} refused, and not {count}"
        time.sleep(0.02)


def add_again(redis: Redis) -> None:
    """All entries."""
    copied = "redis.call('XADD', KEYS[1], '*', unpack(e[2]))"
    every = f"for _, e in ipairs(redis.call('XRANGE', KEYS[1], '-', '+')) do {copied} end"
    redis.command("EVAL", every, "1", "downbeat:reports")


def transfers(host: Speaker, wanted: int) -> None:
    """They become so many, and stay."""
    end = time.monotonic() + 5
    while (found := host.request(PREFIX)[0].transfers) != wanted and time.monotonic() < end:
        time.sleep(0.02)
    time.sleep(0.1)
    assert host.request(PREFIX)[0].transfers == wanted, f"{found} before"


def test_an_entry_that_is_added_again_counts_once(redis: Redis, tmp_path: Path) -> None:
    with two_gateways(redis, tmp_path) as (_, two, first, second):
        for window in (40_000, 20_000):  # two entries
            first.report(wire.transfer(PREFIX, window))
            second.learns(PREFIX, (40_000 + window) / 2)
        add_again(redis)
        refuses(two, 2)
        assert second.request(PREFIX)[0].transfers == 2


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_restart_counts_no_entry_again(redis: Redis, tmp_path: Path, number: signal.Signals) -> None:
    """Neither its own nor the other gateway's; what came after its snapshot is caught up."""
    file = tmp_path / "snapshot"
    settings = f'[snapshot]\nfile = "{file}"\nseconds = 1\n'
    with two_gateways(redis, tmp_path, settings) as (_, two, first, second):
        first.report(wire.transfer(PREFIX, 1000))
        second.report(wire.transfer(PREFIX, 1000))
        transfers(first, 2)
        transfers(second, 2)
        saved = admin.metrics(two.metrics)["snapshots_total"]
        while admin.metrics(two.metrics)["snapshots_total"] < saved + 2:  # one that was begun after that
            time.sleep(0.02)
        second.report(wire.transfer(PREFIX, 1000))
        transfers(first, 3)
        two.stop(number)
        first.report(wire.transfer(PREFIX, 1000))
        two.start()
        with Speaker(two.udp, two.keys, 3) as again:
            transfers(again, 4)
            assert admin.metrics(two.metrics)['relayed_reports_total{way="refused"}'] == 0
            add_again(redis)
            refuses(two, 4)
            transfers(again, 4)


def test_what_a_denied_reporter_said_at_another_gateway_is_refused(redis: Redis, tmp_path: Path) -> None:
    store = f"redis://127.0.0.1:{redis.port}"
    with Site(store=store) as one, Speaker(one.udp, one.keys, 5) as host:
        two = second_site(one, store, tmp_path / "two")
        two.keys.write_text(one.keys.read_text() + "deny 5\n")
        with two, Speaker(two.udp, two.keys, 2) as second:
            host.report(wire.transfer(PREFIX, 43_800))
            refuses(two, 1)
            assert second.request(PREFIX)[0].reporters == (0, 0, 0)


def test_what_was_sealed_with_a_key_that_came_later_is_read_at_the_reload(redis: Redis, tmp_path: Path) -> None:
    """The second gateway's key file was copied before the first one's new key."""
    store = f"redis://127.0.0.1:{redis.port}"
    with Site(store=store) as one:
        two = second_site(one, store, tmp_path / "two")
        before = two.keys.read_text()
        keys.rotate(one.keys)
        reloads(one)
        with two, Speaker(one.udp, one.keys, 1) as first, Speaker(two.udp, two.keys, 2) as second:
            assert two.keys.read_text() == before
            first.report(wire.transfer(PREFIX, 43_800))
            refuses(two, 1)
            two.keys.write_text(one.keys.read_text())
            reloads(two)
            second.learns(PREFIX, 43_800)


def reloads(site: Site) -> None:
    before = len(site.events("keys_reloaded"))
    assert site.process
    site.process.send_signal(signal.SIGHUP)
    end = time.monotonic() + 5
    while len(site.events("keys_reloaded")) == before:
        assert time.monotonic() < end
        time.sleep(0.01)


def test_what_others_write_into_redis_is_stored_nowhere(redis: Redis) -> None:
    with Site(store=f"redis://127.0.0.1:{redis.port}") as site, Speaker(site.udp, site.keys, 1) as host:
        becomes(site, "ok")
        host.report(wire.transfer(PREFIX, 43_800))
        host.learns(PREFIX, 43_800)
        forged = host.host.message(wire.RELAY, bytes(4) + wire.transfer(PREFIX, 9e6))
        for value in (b"", b"x" * 100, forged, forged[:-1] + b"\0"):
            redis.command("XADD", "downbeat:reports", "*", "m", value)
        redis.command("XADD", "downbeat:reports", "*", "a", "1", "b", "2")
        refuses(site, 5)
        assert admin.metrics(site.metrics)['relayed_reports_total{way="refused"}'] == 5
        assert host.request(PREFIX)[0].transfers == 1
        redis.command("DEL", "downbeat:reports")
        redis.command("SET", "downbeat:reports", "no stream")
        becomes(site, "degraded")
        assert host.request(PREFIX)[0].window == 43_800
