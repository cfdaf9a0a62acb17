# SPDX-License-Identifier: BSD-2-Clause-Patent
"""make sim: small transfers, checked as a program would check them."""

from __future__ import annotations

import csv
import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from downbeat_toe import policies

from sim.lib import build, verilated
from sim.lib.contents import BLOCK, generated
from sim.ns3.comparison import exit_event

REQUESTED = {
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
        "INITIAL_WINDOW",
        "WALL_LIMIT",
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
    assert data.keys() >= REQUESTED
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
        rows.append([[value for name, value in row.items() if name not in ("time_ns", "arrival")] for row in table])
    assert rows[0] == rows[1]


def test_a_policy_has_the_argument_that_people_write(tmp_path: Path) -> None:
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
    seconds = {row["finish_seconds"]: row["name"] for row in reversed(data["policies"])}
    assert re.search(rf"{seconds[min(seconds)]} \([^)]*\) ends first, ", done.stdout) and " ends first, " in page
    assert "resent" in done.stdout  # no head of the table is cut at 80 columns
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
    # The core has sent its last of R2 retransmissions.
    for said in (
        "the peer has not answered for too long",
        "INCOMPLETE: 0 of 10,000 bytes",
        "retransmissions: 15",
        "flow",
        "last event",
        "counters",
        "seed 5",
        "WAVES=1",
    ):
        assert said in words
    assert "NOT EQUAL" not in words
    assert json.loads((tmp_path / "sim.json").read_text())["sha256_equal"] is False


def test_a_third_of_losses_is_repaired_however_long_the_timer_backs_off(tmp_path: Path) -> None:
    data = passed(tmp_path, size="300kB", loss="0.3", compare=0)
    assert data["sha256_equal"] and data["finish_seconds"] > 130


def test_what_is_generated_does_not_depend_on_how_it_is_drawn() -> None:
    """In blocks as in one: Python refuses 256 MiB at once."""
    size = 2 * BLOCK + 5
    assert generated("downbeat 1", size) == random.Random("downbeat 1").randbytes(size)


def test_the_report_explains_what_ran(tmp_path: Path) -> None:
    data = passed(tmp_path, size="50kB", steady="aimd", steady_argument="a=0.5, b=0.3", startup="spm", tap="header")
    start_up, steady, _ = data["comparison"]["differences"]
    assert "spm (no argument), SPM: slow start with packet-pair measurements" in start_up
    assert "aimd (a=0.5, b=0.3" in steady and "additive" not in steady
    assert "Reno" not in steady.replace("TcpLinuxReno", "")


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([(10, 20), (20, 20), (21, 20)], 20),  # a window reaches ssthresh
        ([(10, 20), (20, 20), (20, 80), (80, 80), (81, 80)], 80),  # the estimate raises ssthresh: start-up goes on
        ([(10, 20), (20, 20), (20, 80), (40, 80), "loss"], 40),  # and ends by a loss
        ([(10, 20), (20, 20), (30, 20), "loss"], 20),
        ([(10, 20), (15, 20)], None),
    ],
)
def test_start_up_ends_where_its_window_stays_at_ssthresh(rows: list[Any], expected: int | None) -> None:
    events = [
        {"congestion": "loss", "cwnd_fixed": "5", "ssthresh_fixed": "5"}
        if row == "loss"
        else {"congestion": "acknowledged", "cwnd_fixed": str(row[0]), "ssthresh_fixed": str(row[1])}
        for row in rows
    ]
    found = exit_event(events)
    assert (found and int(found["cwnd_fixed"])) == expected


def test_equal_seeds_give_equal_bytes(tmp_path: Path) -> None:
    runs = [tmp_path / name for name in ("first", "second")]
    for run in runs:
        passed(run, size="100kB", loss="0.05", seed=3, compare=0)
    first, second = [(run / "sim.csv").read_bytes() for run in runs]
    assert first == second


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("rate", "fast", "use 10kb/s to 1Gb/s"),
        ("rtt", "40", "use 100us to 10s"),
        ("loss", "2", "is not a probability"),
        ("buffer", "10B", "hold no full segment"),
        ("rate", "20", "use 10kb/s to 1Gb/s"),
        ("rtt", "10000s", "use 100us to 10s"),
        ("size", "0", "use 1B to 4GB"),
        ("wall_limit", "-1", "use 1 to 86400"),
        ("file", "/tmp", "this is a directory"),
        ("buffer", "1000000BDP", "use a size up to 4GB"),
        ("file", "no/such/file", "no such file"),
        ("steady", "cubist", "no congestion policy"),
        ("tap", "gmii", "use frame or header"),
        ("steady_argument", "a=1", "'a=1' is not an argument, reno takes none"),
        ("startup_argument", "7", "standard takes none"),
    ],
)
def test_a_wrong_argument_is_explained(tmp_path: Path, name: str, value: str, words: str) -> None:
    size = {} if name == "file" else {"size": "10kB"}  # a file has its own
    done = make_sim(tmp_path, **(size | {name: value}))
    assert done.returncode != 0
    assert words in " ".join((done.stdout + done.stderr).split())
