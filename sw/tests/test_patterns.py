# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Schedules of measurement traffic: their gaps are what their names say, and every reader takes them."""

from __future__ import annotations

import csv
import io
import itertools
import re
from pathlib import Path

import numpy as np
import pytest
from downbeat_toe import patterns, schedule, schedule_file

from sw.tests.gap.calling import downbeat


def gaps(launches: list[int]) -> list[int]:
    return [after - before for before, after in itertools.pairwise(launches)]


def made(*words: object) -> list[dict[str, str]]:
    done = downbeat("schedule", *words)
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout)))


def test_pairs_repeat() -> None:
    rows = made("pairs", "--gap", "50us", "--every", "10ms", "--pairs", 3, "--length", 1000, "--flow", 7)
    assert [int(row["launch_ns"]) for row in rows] == [0, 50_000, 10**7, 10_050_000, 2 * 10**7, 20_050_000]
    assert {(row["length"], row["flow"]) for row in rows} == {("1000", "7")}


def test_a_train_has_equal_gaps() -> None:
    assert gaps(list(patterns.train(5, 700, 2, 10_000))) == [700] * 4 + [7200] + [700] * 4


def test_a_chirp_s_rates_rise_by_one_factor() -> None:
    """From 1 to 100 Mb/s: 1,000 bytes take 8 ms, then 80 us; pathChirp's factor is the same from gap to gap."""
    found = np.array(gaps(list(patterns.chirp(12, patterns.interval(1000, 10**6), patterns.interval(1000, 10**8)))))
    assert found[0] == 8_000_000 and found[-1] == pytest.approx(80_000, abs=2)
    assert found[:-1] / found[1:] == pytest.approx(np.full(10, 100 ** (1 / 10)), rel=1e-3)


def test_poisson_gaps_are_exponential() -> None:
    """Mean and standard deviation are equal; a share of 1/e is longer than the mean. The same seed draws the same."""
    drawn = list(patterns.poisson(20_000, 10**6, seed=3))
    found = np.array(gaps(drawn))
    assert found.mean() == pytest.approx(10**6, rel=0.03) and found.std() == pytest.approx(10**6, rel=0.03)
    assert np.mean(found > found.mean()) == pytest.approx(np.exp(-1), abs=0.01)
    assert drawn == list(patterns.poisson(20_000, 10**6, seed=3)) != list(patterns.poisson(20_000, 10**6, seed=4))
    assert min(gaps(list(patterns.poisson(5000, 10**6, 3, least=12_304)))) >= 12_304


def test_a_paced_rate_does_not_drift() -> None:
    """1,514 bytes at 33 Mb/s have no whole number of ns between them: after a million frames it is right to half of
    one."""
    launches = list(patterns.paced(1_000_001, 1514, 33 * 10**6))
    assert abs(launches[-1] - 10**6 * 1514 * 8 * 1000 / 33) <= 0.5


@pytest.mark.parametrize(
    "words",
    [
        ("pairs", "--gap", "20us"),
        ("train", "--gap", "20us", "--trains", 3),
        ("chirp", "--from", "1Mbit", "--to", "100M"),
        ("poisson", "--rate", "50Mb/s"),
        ("paced", "--rate", "20Mbit"),
    ],
)
def test_what_is_made_is_a_schedule_that_fits_its_wire(tmp_path: Path, words: tuple[object, ...]) -> None:
    done = downbeat("schedule", *words, "-o", tmp_path / "s.csv")
    assert done.returncode == 0, done.stderr
    found = schedule_file.read(tmp_path / "s.csv")
    assert found.kind == "probe" and len(found) >= 30 and found.launch[0] == 0
    schedule.require_space(found, 10**9)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("pairs", "--gap", "5us"), "entry 2 is to leave 5000 ns after.*name a faster link"),
        (
            ("train", "--gap", "1ms", "--trains", 2, "--every", "10ms"),
            "begin 10,000,000 ns after one that takes 49,000,000",
        ),
        (("pairs", "--gap", "5"), "'5' is not a time"),
        (("paced", "--rate", "fast"), "'fast' is not a rate"),
        (("poisson", "--rate", "2Gb/s"), "--rate 2Gb/s: faster than a link of 1Gb/s carries frames.*--link"),
        (("pairs", "--gap", "1ms", "-o", "missing/s.csv"), "no directory missing"),
    ],
)
def test_what_fits_no_wire_is_refused(words: tuple[object, ...], says: str) -> None:
    done = downbeat("schedule", *words)
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert re.search(says, done.stderr)
