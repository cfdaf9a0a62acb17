# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make sim STARTUP=liss` and its kin: the experiment that it writes, and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from downbeat_toe.quantities import Buffer

from sim.experiments.engine.schema.load import load
from sim.experiments.engine.schema.methods import METHODS
from sim.ns3 import shared
from sim.ns3.settings import Refused, Settings

WANTED = Settings(
    file="",
    size=8_000_000,
    rate=20_000_000,
    rtt=40_000_000,
    buffer=Buffer(bytes=100_000),
    loss=0.001,
    ssthresh=65_536,
    initial_window=10,
    startup="standard",
    steady="reno",
    startup_argument=0,
    steady_argument=0,
    startup_text="standard",
    steady_text="reno",
    seed=1,
    waves=False,
    wall_limit=900,
    tap="frame",
)


@pytest.mark.parametrize("method", METHODS)
def test_the_experiment_has_the_requested_path(method: str, tmp_path: Path) -> None:
    path = tmp_path / "shared.toml"
    path.write_text(shared.text(WANTED, method))
    topology = load(path, None).experiment.topology
    assert (topology.link.rate, topology.link.loss) == (WANTED.rate, WANTED.loss)
    assert 2 * (topology.link.delay + 2 * topology.access.delay) == WANTED.rtt


def test_a_round_trip_below_that_of_the_access_links_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="RTT=2ms: the access links of STARTUP=liss have 2ms of it, use more"):
        shared.run(replace(WANTED, rtt=2_000_000), "liss", tmp_path / "work")


def test_what_it_would_not_do_is_refused() -> None:
    with pytest.raises(Refused, match=r"SSTHRESH=64KiB: STARTUP=iss takes RATE, .* leave SSTHRESH out"):
        shared.check("iss", {"FILE": "", "SSTHRESH": "64KiB"})


def test_the_line_that_repeats_it_is_taken() -> None:
    words = dict(word.split("=") for word in shared.again(WANTED, "js").split()[2:])
    assert words.pop("STARTUP") == "js"
    assert words.keys() <= {"RATE", "RTT", "BUFFER", "LOSS", "SEED", "SIZE"}


def test_the_line_that_repeats_a_transfer_has_its_initial_window() -> None:
    assert "INITIAL_WINDOW=30 " in replace(WANTED, initial_window=30).command()
