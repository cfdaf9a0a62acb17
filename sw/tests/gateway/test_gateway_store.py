# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The store: one reporter's influence, eviction, snapshots, dates that jump."""

from __future__ import annotations

import hashlib
import ipaddress
import os
import random
import statistics
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from downbeat_toe.gateway import wire

from sw.tests.gateway.poison import WORST, effect
from sw.tests.gateway.virtual import Virtual

PREFIX = "192.0.2.0/24"
HOUR = 3600
Make = Callable[..., Virtual]


def test_a_poisoner_moves_what_ten_honest_reporters_share_by_a_tenth_at_most(virtual: Make) -> None:
    seed = int(os.environ.get("SEED") or 1)
    assert effect(virtual, "median", seed) <= WORST


def test_without_the_bound_a_poisoner_moves_it_without_bound(virtual: Make) -> None:
    assert effect(virtual, "mean", 1) > 10, "the plain mean of TCP/SPAND: the same attack gets through"


@pytest.mark.parametrize("reporters", range(1, 8))
def test_the_answer_is_the_lower_median_of_the_reporters_means(virtual: Make, reporters: int) -> None:
    draw = random.Random(reporters)
    gateway = virtual()
    means, rtts = [], []
    for reporter in range(1, reporters + 1):
        host = gateway.host(reporter)
        windows = [draw.randrange(1000, 100_000) for _ in range(draw.randrange(1, 20))]
        rtt = draw.uniform(0.01, 0.5)
        gateway.report(host, *(wire.transfer(PREFIX, window, rtt) for window in windows))
        means.append(statistics.fmean(windows))
        rtts.append(rtt)
    (known,) = gateway.request(host, PREFIX)
    assert known.window == pytest.approx(statistics.median_low(means), rel=1e-12)
    assert known.rtt == pytest.approx(statistics.median_high(rtts), rel=1e-12), "the longer one paces more slowly"


def test_prefixes_are_bounded_and_the_least_recently_used_goes(virtual: Make) -> None:
    count = 1_000_000 if os.environ.get("SOAK") else 30_000
    kept = count // 30
    gateway = virtual(
        f"[store]\nprefixes = {kept}\n[limits]\nmessages_per_second = 100000000\nmessage_burst = 100000000\n"
    )
    host = gateway.host(1)
    names = [f"{1 + (n >> 16)}.{n >> 8 & 255}.{n & 255}.0/24" for n in range(count)]
    for start in range(0, count, 20):
        gateway.report(host, *(wire.transfer(name, 1000 + 1) for name in names[start : start + 20]))
        if start % 200 == 0:
            gateway.request(host, names[0])
    assert gateway.size()[0] == kept
    assert gateway.counters()["evicted_prefixes"] == count - kept
    used = [names[0], *names[-kept + 1 :: 97]]
    for start in range(0, len(used), 12):
        assert all(known.window == 1001 for known in gateway.request(host, *used[start : start + 12])), (
            "nothing else is lost"
        )
    assert gateway.request(host, names[1])[0].reporters == (0, 0, 0)


def test_a_reporter_cannot_choose_prefixes_that_share_a_bucket(virtual: Make) -> None:
    """These collide under a hash of 64 bits without a key: for each upper half there is a lower half."""
    count, mask = 12_000, (1 << 64) - 1

    def colliding(n: int) -> bytes:
        upper = struct.pack(">Q", n + 1)
        mixed = int.from_bytes(upper, "little") * 0x9E3779B97F4A7C15 & mask
        lower = (mixed ^ 0x1234567890ABCDEF) - (128 * 0xBF58476D1CE4E5B9 & mask) - 6 & mask
        return upper + struct.pack("<Q", lower)

    def cost(address: Callable[[int], bytes]) -> float:
        gateway = virtual("[limits]\nmessages_per_second = 100000000\nmessage_burst = 100000000\n")
        host = gateway.host(1)
        names = [f"{ipaddress.IPv6Address(address(n))}/128" for n in range(count)]
        for start in range(0, count, 20):
            gateway.report(host, *(wire.transfer(name, 1000) for name in names[start : start + 20]))
        assert gateway.size()[0] == count
        user, system = (int(word) for word in Path(f"/proc/{gateway.process.pid}/stat").read_text().split()[13:15])
        return (user + system) / os.sysconf("SC_CLK_TCK")

    drawn = random.Random(1)
    assert cost(colliding) <= 3 * cost(lambda n: drawn.randbytes(16)) + 0.1, "processor seconds of the gateway"


def test_memory_is_bounded_too(virtual: Make) -> None:
    gateway = virtual("[store]\nmegabytes = 1\n")
    host = gateway.host(1)
    for n in range(0, 8000, 20):
        gateway.report(host, *(wire.transfer(f"10.{m >> 8}.{m & 255}.0/24", 1000) for m in range(n, n + 20)))
    prefixes, used = gateway.size()
    assert used <= 1 << 20 and 1000 < prefixes < 8000


@pytest.mark.parametrize("bound", ["prefixes = 400", "megabytes = 1"])
@pytest.mark.parametrize("shared", [False, True])
def test_a_reporter_that_fills_the_store_displaces_only_its_own(virtual: Make, bound: str, shared: bool) -> None:
    gateway = virtual(f"[store]\n{bound}\n")
    honest = [f"10.0.{n}.0/24" for n in range(100)]
    hosts = [gateway.host(reporter) for reporter in (1, 2, 3)]
    for host in hosts:
        for start in range(0, 100, 20):
            gateway.report(host, *(wire.transfer(name, 30_000) for name in honest[start : start + 20]))
    flood = gateway.host(66)
    for start in range(0, 6000, 20):
        names = [f"172.16.{n >> 8}.{n & 255}/32" for n in range(start, start + 20)]
        gateway.report(flood, *(wire.transfer(name, 1460) for name in names))
        if shared and start < 100:
            gateway.report(flood, *(wire.transfer(name, 1460) for name in honest[start : start + 20]))
    for start in range(0, 100, 10):
        for known in gateway.request(hosts[0], *honest[start : start + 10]):
            assert known.reporters[0] >= 3 and known.window == 30_000
    assert gateway.request(hosts[0], "172.16.23.111/32")[0].window == 1460, "its newest is there"


def test_a_silent_reporter_makes_place_for_another(virtual: Make) -> None:
    gateway = virtual("[store]\nreporters = 3\n")
    for reporter in range(1, 5):
        gateway.at(1000 + 20 * reporter)
        gateway.report(gateway.host(reporter), wire.transfer(PREFIX, 1000.0 * reporter))
    (known,) = gateway.request(gateway.host(1), PREFIX)
    assert (known.reporters[0], known.window) == (3, 3000)


def _saved(virtual: Make, tmp_path: Path) -> tuple[Virtual, Path]:
    gateway = virtual()
    host = gateway.host(1)
    gateway.report(host, wire.transfer(PREFIX, 30_000), wire.saved(PREFIX, 5000, 1), wire.state(PREFIX, 2, 0, 7000))
    file = tmp_path / "snapshot"
    assert gateway.save(file, date=50_000) == "saved"
    return gateway, file


def _after(gateway: Virtual) -> wire.Response:
    (known,) = gateway.request(gateway.host(1), PREFIX)
    return known


def test_a_snapshot_brings_back_all_that_was_known(virtual: Make, tmp_path: Path) -> None:
    gateway, file = _saved(virtual, tmp_path)
    before = _after(gateway)
    gateway.at(1007)
    assert gateway.restore(file, date=50_007) == f"restored 1 {7 * 10**9}"
    assert _after(gateway) == before or _after(gateway).window == before.window


@pytest.mark.parametrize("step", [-HOUR, HOUR])
def test_a_date_that_jumps_an_hour_changes_no_age_while_the_machine_runs(
    virtual: Make, tmp_path: Path, step: int
) -> None:
    gateway, file = _saved(virtual, tmp_path)
    gateway.at(1280)
    assert gateway.restore(file, date=50_280 + step).startswith("restored 1 ")
    assert _after(gateway).window == 30_000
    gateway.at(1300)
    assert _after(gateway).reporters == (0, 0, 0), "no estimate lives longer than five minutes"


@pytest.mark.parametrize(
    ("later", "lives"),
    [(100, True), (280, True), (299, False), (310, False), (-1, False), (-HOUR, False), (HOUR, False)],
)
def test_after_a_reboot_the_date_tells_the_age_and_one_that_went_back_tells_none(
    virtual: Make, tmp_path: Path, later: int, lives: bool
) -> None:
    gateway, file = _saved(virtual, tmp_path)
    gateway.at(12)  # the clock that nobody sets begins again
    answer = gateway.restore(file, date=50_000 + later, boot="b")
    assert answer.startswith("restored" if lives or later == 299 else "left"), answer
    assert (_after(gateway).window == 30_000) == lives
    if lives:
        gateway.at(12 + 300 - later)
        assert _after(gateway).reporters == (0, 0, 0)


@pytest.mark.parametrize("at", [44, 52])  # CLOCK_BOOTTIME, CLOCK_REALTIME
@pytest.mark.parametrize("value", [-(2**63), -1, 2**63 - 1])
def test_a_snapshot_with_times_of_no_clock_is_left_out(virtual: Make, tmp_path: Path, at: int, value: int) -> None:
    gateway, file = _saved(virtual, tmp_path)
    body = bytearray(file.read_bytes()[:-32])
    body[at : at + 8] = struct.pack(">q", value)
    file.write_bytes(body + hashlib.blake2b(body, digest_size=32).digest())
    found = gateway.restore(file, date=50_001, boot="b" if at == 52 else "a")
    assert found.startswith("left ") or (at, value) == (44, 2**63 - 1), found


def test_a_damaged_or_cut_snapshot_is_left_out_whole(virtual: Make, tmp_path: Path) -> None:
    gateway, file = _saved(virtual, tmp_path)
    whole = file.read_bytes()
    draw = random.Random(int(os.environ.get("SEED") or 1))
    for _ in range(60):
        cut = whole[: draw.randrange(len(whole))]
        at = draw.randrange(len(whole))
        for bytes_ in (cut, whole[:at] + bytes([whole[at] ^ 1 << draw.randrange(8)]) + whole[at + 1 :]):
            file.write_bytes(bytes_)
            assert gateway.restore(file, date=50_001).startswith("left ")
            assert gateway.size()[0] == 0
