# SPDX-License-Identifier: BSD-2-Clause-Patent
"""make sim: small transfers, checked as a program would check them."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from downbeat import policies

from sim.lib import build, verilated

ASKED = {
    *(
        "sha256_equal",
        "bytes",
        "goodput_bps",
        "goodput_second_half_bps",
        "ideal_goodput_bps",
        "losses",
        "retransmissions",
    ),
    *("segments_per_wall_second", "core_share", "ns3_share", "seed"),
}


def make_sim(reports: Path, **settings: object) -> subprocess.CompletedProcess[str]:
    names = (
        "FILE",
        "SIZE",
        "RATE",
        "RTT",
        "BUFFER",
        "LOSS",
        "SSTHRESH",
        "STARTUP",
        "STEADY",
        "STARTUP_ARGUMENT",
        "STEADY_ARGUMENT",
        "SEED",
        "WAVES",
        "PCAP",
        "TAP",
    )
    environment = {name: value for name, value in os.environ.items() if name not in names}
    environment |= {name.upper(): str(value) for name, value in settings.items()}
    command = [sys.executable, "-m", "sim.ns3", "--reports", str(reports)]
    return subprocess.run(
        command, env=environment, cwd=build.ROOT, text=True, capture_output=True, timeout=600, check=False
    )


def passed(reports: Path, **settings: object) -> dict[str, Any]:
    done = make_sim(reports, **settings)
    assert done.returncode == 0, done.stdout + done.stderr
    data: dict[str, Any] = json.loads((reports / "sim.json").read_text())
    return data


def test_a_megabyte_arrives(tmp_path: Path) -> None:
    data = passed(tmp_path, size="1MB")
    assert data.keys() >= ASKED
    assert data["sha256_equal"] and data["bytes"] == 1_000_000
    assert data["golden"]["equal"] and data["golden"]["events"] > 1000
    assert 0 < data["goodput_bps"] < data["ideal_goodput_bps"]
    assert data["comparison"]["bytes"] == 1_000_000
    page = (tmp_path / "sim.html").read_text()
    assert "Plotly.newPlot" in page and 'src="http' not in page
    assert (tmp_path / "sim.csv").read_text().startswith("time_ns,flow,event,")


@pytest.mark.parametrize("seed", [1, 2])
def test_losses_are_repaired(tmp_path: Path, seed: int) -> None:
    data = passed(tmp_path, size="300kB", loss="0.02", seed=seed, compare=0)
    assert data["sha256_equal"] and data["random_losses"] > 0
    assert data["retransmissions"] >= data["random_losses"]


def test_the_header_tap_gives_the_same_events(tmp_path: Path) -> None:
    """All of sim.csv but the times, with losses; bytes are counted and not compared."""
    rows = []
    for tap in ("frame", "header"):
        data = passed(tmp_path / tap, size="300kB", loss="0.02", seed=3, compare=0, tap=tap)
        assert (
            data["tap"] == tap and data["bytes"] == 300_000 and data["golden"]["equal"] and data["retransmissions"] > 3
        )
        assert data["sha256_equal"] is (True if tap == "frame" else None)
        table = list(csv.DictReader((tmp_path / tap / "sim.csv").open()))
        rows.append([[value for name, value in row.items() if name != "time_ns"] for row in table])
    assert rows[0] == rows[1]


def test_a_policy_is_told_what_people_write(tmp_path: Path) -> None:
    """After a loss AIMD(a, 0.125) leaves seven eighths, less what rounding takes, where Reno leaves half."""
    left = []
    for steady, argument in (("aimd", "b=0.125"), ("aimd", "")):
        settings = {"steady": steady, "steady_argument": argument, "size": "300kB", "ssthresh": "200kB"}
        data = passed(tmp_path, loss="0.01", seed=3, compare=0, tap="header", **settings)
        assert data["golden"]["equal"]
        rows = list(csv.DictReader((tmp_path / "sim.csv").open()))
        loss = next(row for row in rows if row["congestion"] == "loss")
        left.append(int(loss["ssthresh"].split(".")[0]) / int(loss["flight"]))
    assert left == pytest.approx([0.875, 0.5], rel=1e-3)


@pytest.mark.parametrize("family", ["startup", "steady"])
def test_all_policies_stand_in_one_table_and_one_plot(tmp_path: Path, family: str) -> None:
    done = make_sim(tmp_path, **{family: "all", "size": "1MB"})
    assert done.returncode == 0, done.stdout + done.stderr
    data = json.loads((tmp_path / f"sim-{family}.json").read_text())
    names = list(policies.read(verilated.LAYOUT.with_suffix(".json"))[family])
    assert [row["name"] for row in data["policies"]] == names
    page = (tmp_path / f"sim-{family}.html").read_text()
    for row in data["policies"]:
        assert row["failure"] == "" and row["bytes_in_5_s"] == 1_000_000 and row["bytes_in_1_s"] > 0
        assert row["name"] in done.stdout and row["name"] in page
    if family == "startup":  # a megabyte fills the path and its buffer five times over: each start-up ends
        assert all(row["exit_window"] for row in data["policies"])


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"startup": "all", "steady": "all"}, "use one of them"),
        ({"steady": "all", "steady_argument": "a=1"}, "name a policy"),
        ({"startup": "all", "pcap": "x.pcapng"}, "PCAP=x.pcapng: not with STARTUP=all"),
    ],
)
def test_what_all_cannot_have_is_explained(tmp_path: Path, settings: dict[str, str], words: str) -> None:
    done = make_sim(tmp_path, **settings)
    assert done.returncode == 2
    assert words in " ".join((done.stdout + done.stderr).split())


def test_a_stalled_run_says_where_it_stands(tmp_path: Path) -> None:
    done = make_sim(tmp_path, size="10kB", loss="0.999", seed=5, compare=0)
    assert done.returncode == 1
    words = " ".join((done.stdout + done.stderr).split())
    for said in ("no byte arrived for 130 virtual seconds", "flow", "last event", "counters", "seed 5", "WAVES=1"):
        assert said in words
    assert json.loads((tmp_path / "sim.json").read_text())["sha256_equal"] is False


def test_equal_seeds_give_equal_bytes(tmp_path: Path) -> None:
    runs = [tmp_path / name for name in ("first", "second")]
    for run in runs:
        passed(run, size="100kB", loss="0.05", seed=3, compare=0)
    first, second = [(run / "sim.csv").read_bytes() for run in runs]
    assert first == second


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("rate", "fast", "is no rate"),
        ("rtt", "40", "with its unit"),
        ("loss", "2", "is no probability"),
        ("buffer", "10B", "hold no full segment"),
        ("size", "0", "less than one"),
        ("file", "no/such/file", "no such file"),
        ("steady", "cubist", "no congestion policy"),
        ("tap", "gmii", "use frame or header"),
        ("steady_argument", "a=1", "'a=1' is no argument, reno takes none"),
        ("startup_argument", "7", "standard takes none"),
    ],
)
def test_a_wrong_argument_is_explained(tmp_path: Path, name: str, value: str, words: str) -> None:
    done = make_sim(tmp_path, **{"size": "10kB", name: value})
    assert done.returncode != 0
    assert words in " ".join((done.stdout + done.stderr).split())
