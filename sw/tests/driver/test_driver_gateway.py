# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A device with a site's gateway: what its connections see is reported, what others saw is asked, nobody waits."""

from __future__ import annotations

import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from downbeat_toe.__main__ import app
from downbeat_toe.driver import DriverError, Options
from downbeat_toe.driver.binding import Connection
from downbeat_toe.driver.nic_status import connections
from downbeat_toe.driver.structures import Estimate
from downbeat_toe.gateway import keys, wire
from downbeat_toe.gateway.process import Site
from downbeat_toe.structures import Parameters, Source
from typer.testing import CliRunner

from sw.tests.driver.conftest import MODEL, OWN, ROOT, SELF, Host
from sw.tests.driver.process import Nic
from sw.tests.estimator.equations import spand
from sw.tests.gateway.speaker import Speaker

PREFIX = "10.0.0.0/24"  # of the device's own address, where the loopback's connections go
OTHER_NETWORK = 0xC0000201
WINDOW = 25  # segments, of the loopback's path reports
MSS = 1460


def half(window: int) -> int:
    """The initial window, by the golden equation, for a transfer whose size is not known."""
    return spand(0, window, Fraction(1), True)


@pytest.fixture(scope="session")
def programs() -> None:
    built = subprocess.run([ROOT / "scripts" / "gateway.sh", "tests"], text=True, capture_output=True, check=False)
    if built.returncode == 3:
        pytest.skip(built.stderr.strip())
    assert built.returncode == 0, built.stderr[-3000:]


@pytest.fixture
def site(programs: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("DOWNBEAT_ROOT", str(ROOT))  # nothing says where libdownbeat_site is
    with Site() as site:
        yield site


def uri_of(site: Site, reporter: int, device: str = f"sim:{MODEL}") -> str:
    key = site.home / f"host-{reporter}"
    key.write_text(keys.issue(site.keys, reporter) + "\n")
    key.chmod(0o640)
    return f"{device},gateway={site.uri},key={key}"


def of_site(site: Site, reporter: int, device: str = f"sim:{MODEL}", method: str = "spand") -> Host:
    return Host(f"{uri_of(site, reporter, device)},estimate={method}")


def started(host: Host, port: int) -> Estimate:
    """Where a connection starts from, which then carries some bytes and ends."""
    out, accepted = host.pair(port)
    data = bytes(20 * MSS)
    left = data
    while left:
        left = left[out.send(left) :]
        accepted.receive()
        host.step()
    host.until(lambda: accepted.receive() in (None, b""))
    estimate = out.estimate
    for end in (out, accepted):
        end.close()
    host.step()
    return estimate


def test_the_answer_to_one_open_serves_the_next(site: Site) -> None:
    host = of_site(site, 1)
    with Speaker(site.udp, site.keys, 7) as other, host.device:
        other.report(wire.transfer(PREFIX, 40.0 * MSS, 0.020, 2))
        other.learns(PREFIX, 40.0 * MSS)
        assert started_now(host).source == Source.NONE, "an open does not wait for the gateway"
        host.until(lambda: started_now(host).source == Source.GATEWAY)
        estimate = started_now(host)
        assert estimate.initial_window == half(40) and estimate.ssthresh == half(40) * MSS and estimate.bucket == 1
        assert b"gateway: 1 reports of 1 hosts" in estimate.reason


def test_the_first_open_of_a_program_may_wait_for_the_answer(site: Site) -> None:
    with Speaker(site.udp, site.keys, 7) as other:
        other.report(wire.transfer(PREFIX, 40.0 * MSS, 0.020, 2))
        other.learns(PREFIX, 40.0 * MSS)
        host = Host(f"{uri_of(site, 1)},wait=1000")
        with host.device:
            begin = time.monotonic()
            assert started_now(host).source == Source.GATEWAY
            assert host.device.connect(OTHER_NETWORK, 6000).estimate.source == Source.NONE, (
                "it answers, and knows nothing"
            )
            assert time.monotonic() - begin < 1, "two opens wait no longer than for their responses"


def test_a_wait_without_an_answer_ends(site: Site) -> None:
    site.stop()
    host = Host(f"{uri_of(site, 1)},wait=30")
    with host.device:
        begin = time.monotonic()
        assert started_now(host).source == Source.NONE
        assert 0.03 <= time.monotonic() - begin < 5


def test_the_first_hello_has_no_cookie(site: Site) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as gateway:
        gateway.bind(("127.0.0.1", 0))
        gateway.settimeout(5)
        host = Host(uri_of(site, 1).replace(f":{site.udp}", f":{gateway.getsockname()[1]}"))
        with host.device:
            started_now(host)
            hello = gateway.recv(2000)
    assert struct.unpack_from(">QQ", hello, wire.HEADER.size)[1] == 0


def test_a_device_without_reports_ends_at_once(site: Site) -> None:
    def seconds() -> float:
        host = Host(f"{uri_of(site, 1)},wait=1000")
        started_now(host)
        begin = time.monotonic()
        host.device.release()
        return time.monotonic() - begin

    assert min(seconds() for _ in range(5)) < 0.1, "200 ms are for reports"


def test_send_ends_when_its_report_has_gone(site: Site, nic: Nic, tmp_path: Path) -> None:
    """The next host's first connection starts from it."""
    file = tmp_path / "file"
    file.write_bytes(bytes(50 * MSS))
    receiver = Host(nic.uri)
    with receiver.device:
        listener = receiver.listening(5001)
        words = ["send", str(file), "--to", "10.0.0.2:5001", "--wait-estimate", "1s", "--device"]
        command = [sys.executable, "-m", "downbeat_toe", *words, uri_of(site, 1, nic.uri)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as sender:
            accepted = receiver.accepted(listener)
            receiver.until(lambda: accepted.receive() == b"")
            accepted.close()
            receiver.until(lambda: sender.poll() is not None)
            assert sender.stdout and "73000 bytes to 10.0.0.2:5001" in sender.stdout.read()
    known_to(site, receiver)
    second = Host(f"{uri_of(site, 2)},wait=1000")
    with second.device:
        assert started_now(second).ssthresh == half(WINDOW) * MSS


def started_now(host: Host) -> Estimate:
    """Of a connection that nobody answers: it ends at once, and asked all the same."""
    connection = host.device.connect(OWN, 6000)
    estimate = connection.estimate
    connection.abort()
    return estimate


def test_what_one_host_sees_another_knows(site: Site) -> None:
    first, second = of_site(site, 1), of_site(site, 2)
    with first.device, second.device:
        started(first, 5001)
        known_to(site, first)
        second.until(lambda: started_now(second).source == Source.GATEWAY)
        assert started_now(second).ssthresh == half(WINDOW) * MSS


def known_to(site: Site, host: Host) -> None:
    host.until(lambda: site.ask(f"/explain?prefix={PREFIX}&bytes=0&mss={MSS}").get("spand"))


def test_without_a_gateway_the_own_table_serves(site: Site) -> None:
    host = of_site(site, 1)
    site.stop()
    with host.device:
        assert started(host, 5001).source == Source.NONE
        estimate = started_now(host)
        assert estimate.source == Source.OWN and estimate.ssthresh == half(WINDOW) * MSS
        assert b"reports, mean window 25" in estimate.reason


def estimates(nic: Nic, of: list[Connection]) -> list[str | None]:
    rows = {(row["flow"], row["generation"]): row["estimate"] for row in connections(nic.socket)}
    return [rows[each.info.flow, each.info.generation] for each in of]


def test_top_says_whose_estimate_a_connection_started_from(site: Site, nic: Nic) -> None:
    host = of_site(site, 1, nic.uri)
    with Speaker(site.udp, site.keys, 7) as other, host.device:
        listener = host.listening(5001)
        other.report(wire.transfer(PREFIX, 40.0 * MSS, 0.020, 2))
        other.learns(PREFIX, 40.0 * MSS)
        kept = [host.joined(listener, 5001)]
        host.until(lambda: started_now(host).source == Source.GATEWAY)
        kept.append(host.joined(listener, 5001))
        chosen = host.device.connect(SELF, 5001, options=Options(Parameters(b"standard")))
        kept.append((chosen, host.accepted(listener)))
        host.until(lambda: chosen.info.established)
        host.until(lambda: estimates(nic, [out for out, _ in kept]) == ["none", "gateway", None])
        assert None not in estimates(nic, [accepted for _, accepted in kept]), "who accepts asks too"
        shown = CliRunner().invoke(app, ["ls", "--device", nic.uri], env={"COLUMNS": "200"}).output
        assert "estimate" in shown and shown.count(" gateway ") >= 1 and shown.count(" none ") >= 1, shown
    alone = of_site(site, 1, nic.uri)
    site.stop()
    with alone.device:
        started(alone, 5002)
        out, _ = alone.joined(alone.listening(5003), 5003)
        alone.until(lambda: estimates(nic, [out]) == ["own"])


def test_a_wrong_uri_is_refused(site: Site) -> None:
    for wait in ("1001", "5ms", ""):
        with pytest.raises(DriverError, match="use whole milliseconds, at most 1000"):
            Host(f"{uri_of(site, 1)},wait={wait}")
    with pytest.raises(DriverError, match="key=FILE"):
        Host(f"sim:{MODEL},gateway={site.uri},keys=x")
    with pytest.raises(DriverError, match="use a file with the line of downbeat gateway keys issue"):
        Host(f"sim:{MODEL},gateway={site.uri},key=/none")
    of_site(site, 1).device.release()
    for mode in (0o644, 0o660, 0o601):
        (site.home / "host-1").chmod(mode)
        with pytest.raises(DriverError, match="others may read or write it: chmod 640"):
            Host(f"sim:{MODEL},gateway={site.uri},key={site.home}/host-1")
    with Host(f"sim:{MODEL}").device as device, pytest.raises(DriverError):
        _ = device.connect(OWN, 6000).estimate
