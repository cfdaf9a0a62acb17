# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The program on loopback: sockets, keys, snapshots after kill -9, what people see, datagrams of strangers."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import shutil
import signal
import socket
import statistics
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from downbeat_toe.__main__ import app
from downbeat_toe.gateway import admin, keys, wire
from downbeat_toe.gateway.bench import load
from downbeat_toe.gateway.process import Site, program
from downbeat_toe.refused import Refused
from typer.testing import CliRunner

from sw.tests.gateway.speaker import Speaker, newest

PREFIX = "192.0.2.0/24"
ROOT = Path(__file__).resolve().parents[3]
SEED = int(os.environ.get("SEED") or 1)
SOAK = bool(os.environ.get("SOAK"))
SLOW_DISK = 0.5  # seconds that a snapshot may take to reach it, mostly
AT_ONCE = 50  # datagrams that a usual receive buffer holds while the gateway waits for its core


def http(port: int, path: str) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as response:
        return str(response.read().decode())


def test_hosts_on_udp_and_on_the_unix_socket_share_estimates() -> None:
    with (
        Site() as site,
        Speaker(site.udp, site.keys, 1) as first,
        Speaker(site.home / "gateway.sock", site.keys, 2) as second,
    ):
        first.report(wire.transfer(PREFIX, 43_800))
        assert second.learns(PREFIX, 43_800).reporters == (1, 0, 0)
        second.report(wire.transfer("198.51.100.0/24", 7300))
        first.learns("198.51.100.0/24", 7300)


def test_the_client_library_reports_asks_and_caches_without_waiting() -> None:
    with Site() as site:
        line = keys.issue(site.keys, 3)
        for uri in (site.uri, f"unix://{site.home}/gateway.sock"):
            run = [str(program("gateway-bench")), "once", uri, PREFIX]
            found = json.loads(subprocess.run(run, check=True, capture_output=True, text=True, input=line).stdout)
            assert (found["window_bytes"], found["reporters"]) == (43_800, 1)
        run = [str(program("gateway-bench")), "once", site.uri, PREFIX]
        wrong = f"host 1 3 {'0' * 64}"
        refused = subprocess.run(run, check=False, capture_output=True, text=True, input=wrong)
        assert refused.returncode == 2 and "no welcome" in refused.stderr


def test_a_host_s_key_is_no_argument(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any user reads a program's arguments; the demo and the bench give it as input."""
    commands: list[list[str]] = []
    run = subprocess.run

    def listed(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        return run(command, **options)

    monkeypatch.setattr(subprocess, "run", listed)
    assert CliRunner().invoke(app, ["gateway", "demo"]).exit_code == 0
    with Site() as site:
        assert load(site, 0.05, 1000)["accepted"] > 0
    assert len(commands) == 3
    assert not re.search(r"[0-9a-f]{32}", str(commands))


def test_people_see_prefixes_reporters_reasons_health_and_counters() -> None:
    with Site() as site, Speaker(site.udp, site.keys, 7) as host:
        host.report(
            wire.transfer(PREFIX, 40 * 1000, 0.1, 1), wire.state(PREFIX, 1, 0, 20 * 1000), wire.saved(PREFIX, 9e4, 0.4)
        )
        host.learns(PREFIX, 40_000)
        see = CliRunner()
        options = ["--admin", str(site.admin)]
        shown = see.invoke(app, ["gateway", "show", *options]).output
        assert PREFIX in shown and "40000" in shown
        assert "7" in see.invoke(app, ["gateway", "top", *options]).output
        said = see.invoke(
            app, ["gateway", "explain", PREFIX, "--transfer", "30kB", "--segment", "1000", *options]
        ).output
        # W_c = 40, b = 1, F = 30: algorithm page, vectors of SPAND's Eq. 3 and 4; LISS: w_o / 2 for one connection.
        assert "initial window 30 segments" in said and "ssthresh 10.0 segments" in said and "reporter 7" in said
        for unknown in ("10.0.0.0/8", "2001:db8::/32"):
            assert "standard slow start" in see.invoke(app, ["gateway", "explain", unknown, *options]).output
        for words in (("10.0.0.1/8",), (PREFIX, "--transfer", "much")):
            assert see.invoke(app, ["gateway", "explain", *words, *options]).exit_code == 2
        health = json.loads(http(site.health, "/health"))
        assert (health["status"], health["store"], health["prefixes"]) == ("ok", "embedded", 1)
        with pytest.raises(urllib.error.HTTPError):
            http(site.health, "/show")
        spand = {
            size: site.ask(f"/explain?prefix={PREFIX}&bytes={size}")["spand_window"] for size in (0, 9000, "9000x")
        }
        assert spand["9000x"] == spand[0] != spand[9000], "what is no number is left out"
        counters = admin.metrics(site.metrics)
        assert counters['accepted_total{type="report"}'] == 1 and counters["prefixes"] == 1
    gone = CliRunner().invoke(app, ["gateway", "show", "--admin", str(site.admin)])
    assert gone.exit_code == 2


def test_silent_connections_hold_up_nobody() -> None:
    """Each listener has connections of its own, and the oldest makes place."""
    with Site() as site, contextlib.ExitStack() as stack:
        for port in (site.metrics, site.health):
            for _ in range(40):
                stack.enter_context(socket.create_connection(("127.0.0.1", port)))
        for _ in range(3):
            assert admin.metrics(site.metrics)["received_total"] == 0
            assert json.loads(http(site.health, "/health"))["status"] == "ok"
            assert admin.ask(site.admin, "/show")["prefixes"] == 0
        for port, path in ((site.metrics, "/health"), (site.health, "/metrics")):
            with pytest.raises(urllib.error.HTTPError):
                http(port, path)


def test_the_oldest_connection_makes_place() -> None:
    """Not the one with the smallest descriptor: a newer one has that of one that has gone."""
    with Site() as site, contextlib.ExitStack() as stack:

        def visit() -> socket.socket:
            visitor = stack.enter_context(socket.create_connection(("127.0.0.1", site.health)))
            time.sleep(0.01)
            return visitor

        gone, oldest = visit(), visit()
        gone.close()
        time.sleep(0.1)
        newer = [visit() for _ in range(16)]
        oldest.settimeout(1)
        assert oldest.recv(1) == b""
        newer[0].sendall(b"GET /health HTTP/1.0\r\n\r\n")
        newer[0].settimeout(1)
        assert newer[0].recv(15) == b"HTTP/1.0 200 OK"


def test_a_gateway_without_a_snapshot_writes_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Site() as site:
        before = {*site.home.iterdir()}
        with Speaker(site.udp, site.keys, 1) as host:
            host.report(wire.transfer(PREFIX, 5000))
            host.learns(PREFIX, 5000)
        assert site.stop() == 0 and not site.events("snapshot_failed")
        left = {path.name for path in before ^ {*site.home.iterdir()}}
    assert not list(tmp_path.iterdir()) and left <= {"admin.sock", "gateway.sock"}


def test_a_snapshot_is_begun_once_in_each_interval(tmp_path: Path) -> None:
    with Site(settings=f'[snapshot]\nfile = "{tmp_path}/snapshot"\nseconds = 1\n') as site:
        begin = time.monotonic()
        time.sleep(1.2)
        saved = admin.metrics(site.metrics)["snapshots_total"]
        assert 1 <= saved <= 2 + (time.monotonic() - begin)


def test_a_socket_s_path_that_is_too_long_is_refused() -> None:
    with Site() as site:
        site.stop()
        text = site.config.read_text().replace("gateway.sock", 100 * "g")
        site.config.write_text(text)
        with pytest.raises(Refused, match="longer than a Unix socket's path may be"):
            site.start()


def test_messages_that_came_together_have_a_response_each() -> None:
    """While the gateway stood still; the responses have different lengths."""
    with Site() as site, Speaker(site.udp, site.keys, 1) as host:
        host.report(wire.transfer(PREFIX, 5000))
        host.learns(PREFIX, 5000)
        assert site.process
        site.process.send_signal(signal.SIGSTOP)
        for count in range(1, 6):
            host.send(host.host.query(*[PREFIX] * count))
        site.process.send_signal(signal.SIGCONT)
        for count in range(1, 6):
            kind, body = host.host.opened(host.socket.recv(2048))
            assert kind == wire.RESPONSE and [each.window for each in wire.responses(body)] == [5000] * count


def test_the_dashboard_asks_for_metrics_that_there_are() -> None:
    dashboard = json.loads((ROOT / "sw" / "gateway" / "tools" / "grafana-dashboard.json").read_text())
    requested = {target["expr"] for panel in dashboard["panels"] for target in panel["targets"]}
    names = {name for expression in requested for name in re.findall(r"downbeat_gateway_(\w+)", expression)}
    with Site() as site:
        there = {name.partition("{")[0] for name in admin.metrics(site.metrics)}
    assert names <= there and len(names) > 10


def test_a_rotation_keeps_hosts_of_the_key_before_and_the_next_one_ends_them() -> None:
    with Site() as site, Speaker(site.udp, site.keys, 1) as old:
        for rotation in (1, 2):
            keys.rotate(site.keys)
            assert site.process
            site.process.send_signal(signal.SIGHUP)
            end = time.monotonic() + 5
            while len(site.events("keys_reloaded")) < rotation and time.monotonic() < end:
                time.sleep(0.01)
            with Speaker(site.udp, site.keys, 2) as new:
                old.report(wire.transfer(PREFIX, 1000.0 * rotation))
                new.report(wire.transfer(f"10.{rotation}.0.0/16", 5000))
                new.learns(f"10.{rotation}.0.0/16", 5000)
                assert new.request(PREFIX)[0].transfers == 1, (
                    "key 1 counts after the first rotation and not after the second"
                )


def test_what_a_denied_reporter_has_said_goes_at_the_reload() -> None:
    with Site() as site, Speaker(site.udp, site.keys, 1) as bad, Speaker(site.udp, site.keys, 2) as good:
        bad.report(wire.transfer(PREFIX, 900_000))
        good.learns(PREFIX, 900_000)
        good.report(wire.transfer("10.0.0.0/8", 5000))
        for reporter in (1, 77):  # the other one has said nothing
            keys.deny(site.keys, reporter)
        assert site.process
        site.process.send_signal(signal.SIGHUP)
        end = time.monotonic() + 5
        while not site.events("keys_reloaded") and time.monotonic() < end:
            time.sleep(0.01)
        kept = good.learns("10.0.0.0/8", 5000)
        assert kept.reporters == (1, 0, 0) and good.learns(PREFIX, 0).reporters == (0, 0, 0)
        assert admin.metrics(site.metrics)["reporters"] == 1


@pytest.mark.parametrize(
    ("listens", "place"), [("0.0.0.0", "127.0.0.5"), ("[::]", "127.0.0.5"), ("[::]", "::1"), ("127.0.0.1", "127.0.0.1")]
)
def test_a_response_comes_from_the_address_that_the_host_used(tmp_path: Path, listens: str, place: str) -> None:
    site = Site(home=tmp_path)
    site.config.write_text(site.config.read_text().replace("127.0.0.1", listens, 1))
    number, site_key = newest(site.keys)
    host = wire.Host(site_key, 1, number)
    with site, socket.socket(socket.AF_INET6 if ":" in place else socket.AF_INET, socket.SOCK_DGRAM) as host_socket:
        host_socket.settimeout(5)
        host_socket.sendto(host.hello(), (place, site.udp))
        datagram, source = host_socket.recvfrom(2048)
        assert host.opened(datagram)[0] == wire.CHALLENGE and source[0] == place


@pytest.mark.parametrize("build", ["gateway", pytest.param("gateway-san", marks=pytest.mark.soak)])
def test_every_datagram_of_a_stranger_is_counted_by_its_cause(build: str) -> None:
    """Also with AddressSanitizer and UndefinedBehaviorSanitizer, which end the program with another status."""
    if build != "gateway":
        target = ROOT / "build" / build / "downbeat-gateway"
        make = ["make", "-s", "-C", str(ROOT / "sw" / "gateway"), f"OUT={target.parent}", "SANITIZE=1", str(target)]
        subprocess.run(make, check=True, capture_output=True)
    print(f"seed {SEED}")
    draw = random.Random(SEED)
    count = 200_000 if SOAK else 4000
    limits = "[limits]\nmessages_per_second = 1000000\nmessage_burst = 1000000\n"
    with Site(settings=limits, build=build) as site:
        with Speaker(site.udp, site.keys, 1) as host:
            host.report(wire.transfer(PREFIX, 43_800))
            before = host.learns(PREFIX, 43_800)
            start = admin.metrics(site.metrics)["received_total"]
            for sent in range(count):
                good = bytearray(host.host.report(wire.transfer(PREFIX, 9e6)))
                for bit in draw.sample(range(8 * len(good)), draw.randrange(1, 4)):
                    good[bit // 8] ^= 1 << bit % 8
                datagram = bytes(good[: draw.randrange(1, len(good))] if draw.random() < 0.3 else good)
                host.send(draw.randbytes(draw.randrange(1, 1400)) if draw.random() < 0.2 else datagram)
                if sent % AT_ONCE == 0:  # an answer comes when all before it have been read
                    host.host.sequence += 5000
                    assert host.request(PREFIX)[0].window == before.window
            counters = admin.metrics(site.metrics)
            host.host.sequence += 5000
            assert host.request(PREFIX)[0].window == before.window
        refused = sum(value for name, value in counters.items() if name.startswith("refused_total"))
        queries = (count + AT_ONCE - 1) // AT_ONCE
        assert counters["received_total"] - start == count + queries
        assert refused == count
        assert site.stop() == 0


def test_only_a_dead_gateways_socket_is_taken_over() -> None:
    with Site() as site:
        place = site.home / "gateway.sock"
        site.stop(signal.SIGKILL)
        assert place.is_socket()
        site.start()
        site.stop()
        place.unlink(missing_ok=True)
        place.write_text("precious")
        with pytest.raises(Refused, match="what is there is not a socket"):
            site.start()
        assert place.read_text() == "precious"
        place.unlink()
        with socket.socket(socket.AF_UNIX) as other:
            other.bind(str(place))
            other.listen()
            with pytest.raises(Refused, match="another's socket is there"):
                site.start()
            assert place.is_socket()


def test_fuzzed_messages_crash_nothing_and_each_is_counted() -> None:
    count = 10_000_000 if SOAK else 100_000
    run = [str(program("gateway-fuzz", "gateway-san")), str(count), str(SEED)]
    done = subprocess.run(run, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout)
    assert found["fuzzed"] == count == found["accepted"] + sum(found["refused"].values())
    never = {name for name, number in found["refused"].items() if number == 0}
    assert never <= {"denied_reporter", "rate_limited"}, "the draws reach every cause that this key file allows"
    assert found["accepted"] > count // 100


def test_the_target_of_libfuzzer_compiles() -> None:
    if shutil.which("clang++") is None:
        pytest.skip("clang++ is not installed: apt-get install clang")
    make = ["make", "-s", "-C", str(ROOT / "sw" / "gateway"), "fuzz-compiles"]
    done = subprocess.run(make, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.soak
@pytest.mark.parametrize("name", ["gateway-libfuzzer", "gateway-libfuzzer-files"])
def test_libfuzzer_finds_no_crash(tmp_path: Path, name: str) -> None:
    """Coverage leads it; AddressSanitizer and UndefinedBehaviorSanitizer judge."""
    if shutil.which("clang++") is None:
        pytest.skip("clang++ is not installed: apt-get install clang libclang-rt-dev")
    target = ROOT / "build" / "gateway-san" / name
    make = ["make", "-s", "-C", str(ROOT / "sw" / "gateway"), f"OUT={target.parent}", str(target)]
    subprocess.run(make, check=True, capture_output=True)
    options = ["-runs=10000000", "-max_len=1300", "-len_control=0", f"-seed={SEED}", f"-artifact_prefix={tmp_path}/"]
    done = subprocess.run([str(target), *options], check=False, capture_output=True, text=True)
    assert done.returncode == 0 and "Done 10000000 runs" in done.stderr, done.stderr[-3000:]


def test_after_kill_9_at_most_the_snapshots_interval_is_lost() -> None:
    print(f"seed {SEED}")
    draw = random.Random(SEED)
    with Site() as site:
        settings = site.config.read_text()
        site.stop()
        site.config.write_text(f'{settings}[snapshot]\nfile = "{site.home}/snapshot"\nseconds = 1\n')
        site.start()
        known: dict[str, float] = {}
        seen = 0
        claims = list[float]()
        for kill in range(100 if SOAK else 4):
            with Speaker(site.udp, site.keys, 1) as host:
                end = time.monotonic() + draw.uniform(0.05, 2.6)
                while time.monotonic() < end:
                    prefix, at = f"10.{kill}.{len(known) % 250}.0/24", time.monotonic()
                    host.report(wire.transfer(prefix, 5000))
                    known[prefix] = at
                    time.sleep(0.002)
                host.request(PREFIX)
            died = time.monotonic()
            site.stop(signal.SIGKILL)
            site.start()
            down = time.monotonic() - died
            restored = site.events("restored")
            # What the gateway says was lost is the truth; mostly an interval, more where the disk was too slow for one.
            claim = restored[-1]["lost_at_most_s"] if restored else died
            claims.append(claim - down if restored else 0)
            names = [name for name, at in known.items() if at < died - claim - 0.2]
            with Speaker(site.udp, site.keys, 1) as host:
                for first in range(0, len(names), 12):
                    answers = host.request(*names[first : first + 12])
                    assert all(answer.window == 5000 for answer in answers), f"lost more than it says, kill {kill}"
            seen += len(names)
            known = {name: known[name] for name in names}
        print(
            f"lost at most {max(claims):.2f} s, median {statistics.median(claims):.2f} s, {seen} prefixes found again"
        )
        assert seen > 0 and statistics.median(claims) <= 1 + SLOW_DISK


def test_25000_prefixes_and_five_minutes_of_reports_take_less_than_256_megabytes(tmp_path: Path) -> None:
    """In virtual time: each of four hosts reports each prefix in each of the 30 buckets."""
    from sw.tests.gateway.virtual import Virtual

    share = 1 if SOAK else 25  # of the prefixes; the memory is in proportion
    prefixes = [f"10.{n >> 8}.{n & 255}.0/24" for n in range(25_000 // share)]
    with Virtual(tmp_path, "[limits]\nmessages_per_second = 100000000\nmessage_burst = 100000000\n") as gateway:
        gateway.at(2000)
        hosts = [gateway.host(reporter) for reporter in range(1, 5)]
        pid = gateway.process.pid
        empty = _resident(pid)
        for bucket in range(30):
            gateway.at(2000 + 10 * bucket)
            for host in hosts:
                for first in range(0, len(prefixes), 20):
                    gateway.report(host, *(wire.transfer(prefix, 5000) for prefix in prefixes[first : first + 20]))
        assert gateway.size()[0] == len(prefixes)
        assert gateway.request(hosts[0], prefixes[0])[0].transfers == 120
        used = empty + (_resident(pid) - empty) * share
        print(f"{used / 1e6:.0f} MB")
        assert used < 256e6
        assert gateway.size()[1] == pytest.approx(_resident(pid) - empty, rel=0.3), "the bound is on what is used"


def _resident(pid: int) -> int:
    """Bytes."""
    line = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) * 1024
