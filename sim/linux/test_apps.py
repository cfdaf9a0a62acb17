# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Programs that Linux has and the core: the web, iperf3 and nmap. Needs root; what is not installed is skipped."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from sim.lib import build
from sim.linux.conftest import SIZE, run

pytestmark = pytest.mark.heavy


def visits(reports: Path, app: str) -> list[dict[str, Any]]:
    """Result of one part, after a run in which nothing failed."""
    done = run(reports, f"--app={app}", f"--size={SIZE}")
    assert done.returncode == 0, done.stdout
    found: list[dict[str, Any]] = json.loads((reports / "interop.json").read_text())[app]
    assert not any(visit["failures"] for visit in found)
    return found


def test_pages_are_equal_in_both_roles(tmp_path: Path) -> None:
    found = {(visit["client"], visit["server"]): visit for visit in visits(tmp_path, "web")}
    expected = {("core", "python http.server")}
    expected |= {("curl", "core")} if shutil.which("curl") else set()
    expected |= {("core", "nginx")} if shutil.which("nginx") else set()
    expected |= {("nginx", "core")} if shutil.which("nginx") and shutil.which("curl") else set()
    assert set(found) == expected
    assert all(visit["equal"] and visit["bytes"] == visit["pages"] * SIZE for visit in found.values())
    assert all(visit["pages"] > 1 for pair, visit in found.items() if "nginx" in pair)


@pytest.mark.skipif(shutil.which("iperf3") is None, reason="iperf3 is missing; apt install iperf3")
def test_iperf3_counts_what_the_core_counts_on_each_stream(tmp_path: Path) -> None:
    found = visits(tmp_path, "iperf3")
    kinds = {(visit["client"], visit["direction"]) for visit in found}
    assert kinds == {
        (client, direction) for client in ("iperf3", "core") for direction in ("linux to core", "core to linux")
    }
    assert {visit["streams"] for visit in found} == {1, 2}
    for visit in found:
        assert visit["bytes_by_iperf3"] == visit["bytes_by_core"] and len(visit["bytes_by_core"]) == visit["streams"]
        assert visit["bytes"] == SIZE if visit["direction"] == "core to linux" else visit["bytes"] >= SIZE


def test_a_reader_that_stalls_hears_all_and_an_abort_at_once(tmp_path: Path) -> None:
    both, aborted = visits(tmp_path, "stalled")
    assert both["to_core"] == both["from_core"] == SIZE
    assert not aborted["failures"]


@pytest.mark.skipif(shutil.which("nmap") is None, reason="nmap is missing; apt install nmap")
def test_nmap_finds_sequence_numbers_hard_to_guess_and_leaves_no_flow_behind(tmp_path: Path) -> None:
    (scan,) = visits(tmp_path, "nmap")
    assert scan["sequence_index"] >= 250 and scan["difficulty"] == "Good luck!"
    assert scan["ip_id"] == "All zeros"  # no datagram of ours is ever cut: RFC 6864
    assert scan["answered_at_once"] == scan["flows"] == 16


def test_missing_programs_are_reported_and_the_rest_goes_on(tmp_path: Path) -> None:
    build.linux()
    for name in ("ip", "setpriv"):
        (tmp_path / name).symlink_to(shutil.which(name) or name)
    done = run(tmp_path, "--app=web", f"--size={SIZE}", path=str(tmp_path))
    assert done.returncode == 0, done.stdout
    report = json.loads((tmp_path / "interop.json").read_text())
    assert [visit["server"] for visit in report["web"]] == ["python http.server"]
    missing = ["curl is missing; apt install curl", "nginx is missing; apt install nginx-light"]
    assert report["skipped"] == missing
    assert all(f"skipped: {line}" in done.stdout for line in missing)
