# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make sim STARTUP=liss` and its kin: the experiment that it writes, and what it refuses."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
import typer
from downbeat_toe.quantities import Buffer
from typer.testing import CliRunner

from sim.experiments.engine.schema.load import load
from sim.experiments.engine.schema.methods import METHODS
from sim.ns3 import shared
from sim.ns3.__main__ import main
from sim.ns3.settings import Refused, Settings
from sim.ns3.shared_summary import sentences

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
        shared.check("iss", {"STARTUP": "iss", "SSTHRESH": "64KiB"})


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"STARTUP": "js", "SIZE": "8MB"}, "SIZE=8MB: STARTUP=js takes RATE, RTT, BUFFER, LOSS, SEED: leave SIZE out"),
        ({"STARTUP": "js", "COMPARE": "0"}, "COMPARE=0: STARTUP=js takes"),
        ({"STARTUP": "spand", "INITIAL_WINDOW": "10"}, "INITIAL_WINDOW=10: STARTUP=spand takes RATE, .*, SIZE: leave"),
        ({"STARTUP": "all", "COMPARE": "0"}, "COMPARE=0: not with STARTUP=all, name a policy"),
        ({"FILE": __file__, "SIZE": "8MB"}, "SIZE=8MB: FILE has a size of its own: leave SIZE out"),
    ],
)
def test_a_variable_that_changes_nothing_is_refused(
    settings: dict[str, str], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A default value too, once it is given."""
    for name in ("SEED", "SIZE", "FILE"):
        monkeypatch.delenv(name, raising=False)
    app = typer.Typer()
    app.command()(main)
    done = CliRunner().invoke(app, [], env=settings)
    assert done.exit_code == 2 and re.search(says, " ".join(done.output.split())), done.output


def connection(kilobytes: tuple[int, int], losses: int, exit_window: float, ssthresh: float) -> dict[str, object]:
    sent = {"bytes_in_1_s": 1000 * kilobytes[0], "bytes_in_5_s": 1000 * kilobytes[1]}
    start = {"told_window": 0.0, "told_ssthresh": ssthresh, "start_jump": 0.0}
    return {**sent, "losses": losses, "exit_window": exit_window, **start}


@pytest.mark.parametrize(
    ("shared_rows", "says"),
    [
        (
            [connection((500, 2000), 0, 40, 40), connection((500, 2400), 2, 40, 40)],
            (
                "js wins on average: in 1 s js has 500 kB through, reno 400 (+25 %, more in 2 of 2), in 5 s js has 2,200 kB "
                "through, reno 2,000 (+10 %, more in 1 of 2); losses a connection 1.0 and 20.0.",
                "an ssthresh of 40.0 segments in 2 of 2 connections; start-up ends at 40 segments, Reno's at 80; reno "
                "doubles its window until the queue overflows",
            ),
        ),
        (
            [connection((300, 1500), 0, 10, 10), connection((300, 1500), 0, 10, 10)],
            (
                "reno wins on average: in 1 s js has 300 kB through, reno 400 (-25 %, more in 0 of 2)",
                "js ends start-up below the path's window",
            ),
        ),
        (
            [connection((500, 1500), 50, 90, 90)] * 2,
            ("Each wins once: in 1 s js has 500 kB", "js fills the path in fewer round trips"),
        ),
        (
            [connection((400, 2000), 20, 80, 0)] * 2,
            ("js and reno are alike: in 1 s js has 400 kB", "Why: no connection had an estimate, so both start alike."),
        ),
    ],
)
def test_the_summary_names_the_winner_the_reason_and_the_one_seed(
    shared_rows: list[dict[str, object]], says: tuple[str, str]
) -> None:
    reno = [connection((400, 2000), 20, 80, 0)] * 2
    runs = {"reno": {"connections": reno}, "js": {"connections": shared_rows}}
    first, why, seed = sentences({"method": "js", "runs": runs, "settings": {"seed": 1}}, (1, 5))
    assert first.startswith(says[0]) and says[1] in why
    assert seed == "This is one seed, 2 connections: another one (SEED=2) may say otherwise."


def test_each_curve_has_a_name_and_no_reason_is_none(tmp_path: Path) -> None:
    row = connection((400, 2000), 20, 80, 0) | {"told": "none", "retransmissions": 0}
    one = {"connections": [row] * 4, "seconds": [20.0, 21.0], "progress": [[0] * 4, [1] * 4], "dropped": 0}
    data = {"method": "js", "runs": {"reno": one, "js": one}, "settings": WANTED.as_json(), "summary": ["js <wins>"]}
    page = shared.write(data, WANTED, tmp_path).read_text()
    assert "<p>js &lt;wins&gt;</p>" in page and page.count("none</td>") == 8
    assert sorted(re.findall(r'"name":"(\w+ \d)"', page)) == [
        f"{name} {n}" for name in ("js", "reno") for n in range(4)
    ]
    assert page.count('"showlegend":false') == 0


def test_the_line_that_repeats_it_is_taken() -> None:
    words = dict(word.split("=") for word in shared.again(WANTED, "js").split()[2:])
    assert words.pop("STARTUP") == "js"
    assert words.keys() == {"RATE", "RTT", "BUFFER", "LOSS", "SEED"}
    assert " SIZE=" in shared.again(WANTED, "spand")


def test_the_line_that_repeats_a_transfer_has_its_initial_window() -> None:
    assert "INITIAL_WINDOW=30 " in replace(WANTED, initial_window=30).command()


@pytest.mark.parametrize(("before", "left"), [(96, 96), (0, 36)])
def test_a_start_at_its_ssthresh_ends_start_up_with_its_window(before: int, left: int) -> None:
    flow: dict[str, object] = dict.fromkeys(("losses", "retransmissions", "start_ssthresh", "start_jump"), 0)
    flow |= {"label": "later-0", "failure": "", "at_marks": [1, 2], "exit": "policy", "exit_before": before}
    flow |= {"start_window": 36, "start_reason": ""}
    found = shared._figures({"flows": [flow], "links": [], "samples": {"seconds": [], "progress": []}})
    assert found["connections"][0]["exit_window"] == left
