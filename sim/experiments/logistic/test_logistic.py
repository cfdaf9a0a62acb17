# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What is read out of a run, on runs that were made up; and the sweep, on a thousandth of its requests."""

from __future__ import annotations

import math

import pytest

from sim.bench import logistic as accuracy
from sim.experiments.logistic.__main__ import main
from sim.experiments.logistic.runs import INITIAL_WINDOW, SEGMENT, WIRE, Bottleneck, Run

PATH = Bottleneck(100_000_000, 0.06)
MADE = 0.03  # s, when the connection is made
STEP = 0.005


def made_up(speed: float = 1.0, drops_at: float = math.inf) -> Run:
    """A window that follows Eq. 10 so many times as fast, and a link that carries it; one drop."""
    target, own = PATH.capacity * 0.06, INITIAL_WINDOW * SEGMENT
    seconds = [index * STEP for index in range(2000)]
    growths = [math.exp(1.95 * speed * max(at - MADE, 0)) for at in seconds]
    cwnd = [own * growth * target / (own * (growth - 1) + target) for growth in growths]
    received, carried = [], 0.0
    for window in cwnd:
        carried += window / 0.06 * STEP
        received.append(carried)
    data = {"established": MADE, "smallest_rtt_ns": 60_000_000, "seconds": seconds, "cwnd": cwnd, "received": received}
    drops = [int(at > drops_at) for at in seconds]
    return Run("core", PATH, data | {"drops": drops, "queue_drops": drops[-1]})


def test_a_window_that_follows_the_equation_takes_as_long_as_equation_12_says() -> None:
    run = made_up()
    assert run.seconds_to_99 == pytest.approx(run.equation_12, abs=STEP)


def test_a_window_that_is_slower_takes_longer() -> None:
    run = made_up(speed=0.95)
    assert run.seconds_to_99 == pytest.approx(run.equation_12 / 0.95, abs=STEP)


def test_equation_12_is_the_specifications() -> None:
    """5.19 s from 3,000 to 742,500 bytes of 750,000."""
    capacity = 100e6 / 8 * SEGMENT / WIRE
    own, target = INITIAL_WINDOW * SEGMENT, capacity * 0.06
    assert made_up().equation_12 == pytest.approx(math.log(99 * (target - own) / own) / 1.95)
    assert math.log(99 * (750_000 - 3000) / 3000) / 1.95 == pytest.approx(5.19, abs=0.005)


def test_udp_leaves_less_and_slows_the_equation() -> None:
    path = Bottleneck(100_000_000, 0.06, udp=20_000_000)
    run = Run("core", path, made_up().data)
    assert path.available / path.capacity == pytest.approx(0.8, abs=0.002)
    assert run.target / made_up().target == pytest.approx(0.82, abs=0.002)


def test_the_link_is_full_from_the_second_in_which_99_percent_arrive() -> None:
    run = made_up()
    at = run.seconds_to_full
    assert at is not None
    assert 4 < at < run.equation_12
    assert run.goodput(1) == pytest.approx(1, abs=0.001)


def test_drops_count_from_their_time_on() -> None:
    assert made_up(drops_at=6).drops_after(5) == 1
    assert made_up(drops_at=4).drops_after(5) == 0


def test_a_batch_of_the_sweep_keeps_to_the_tolerance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accuracy, "BATCH", 1000)
    worst = accuracy.measure(1)
    assert worst.request is not None
    assert 0 < worst.error < accuracy.TOLERANCE


def test_the_units_exponential_is_the_best_of_the_three(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accuracy, "EXPONENTS", 2000)
    worst = accuracy.exponentials()
    assert worst["published"] == pytest.approx(0.00366, abs=2e-4)
    assert worst["nearest_below_10"] == pytest.approx(0.0004, abs=2e-5)
    assert worst["unit"] < 2**-33


def test_a_figure_that_does_not_exist_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FIGURE", "10,11")
    assert main() == 2
    assert capsys.readouterr().err == "FIGURE=11: there is no such figure, use convergence, 10, 12, 13, 15\n"
