# SPDX-License-Identifier: BSD-2-Clause-Patent
"""logistic.toml's published values are Iguchi's equation 12 for its network; the golden model agrees."""

from __future__ import annotations

import math
import re

import pytest
from downbeat_toe import quantities

from sim.experiments.engine.plan.network import base_rtt
from sim.experiments.engine.schema.load import Cell, load
from sim.experiments.engine.schema.measures import Published
from sim.experiments.engine.schema.units import MSS, PPP
from sim.experiments.names import FILES
from sim.golden.calculation.logistic_window import RATE_FRACTION_BITS, LogisticRequest, logistic_window

EPSILON = 1.95
SYN = 50  # bytes on a link of ns-3, about
FILE = load(FILES["logistic"], None)
PUBLISHED = [each for each in FILE.experiment.published if each.metric == "seconds_to_window"]


def cell_of(published: Published) -> Cell:
    (cell,) = (each for each in FILE.cells if each.names == published.of)
    return cell


def capacity(cell: Cell) -> float:
    """Bytes of payload a second."""
    return cell.experiment.topology.link.rate / 8 * MSS / PPP


def round_trip(cell: Cell) -> float:
    """Seconds, of the handshake."""
    topology = cell.experiment.topology
    rates = (topology.access.rate, topology.link.rate, topology.access.rate)
    return base_rtt(cell.experiment, 0, 1) / 1e9 + 2 * sum(8 * SYN / rate for rate in rates)


def test_each_rate_has_its_value() -> None:
    assert [each.of["rate"] for each in PUBLISHED] == list(FILE.axes["rate"])


@pytest.mark.parametrize("published", PUBLISHED, ids=lambda each: each.of["rate"])
def test_the_policy_has_the_links_payload_rate(published: Published) -> None:
    cell = cell_of(published)
    rates = re.findall(r"([KA])=([^,]+)", cell.experiment.flow[0].steady_argument)
    assert [name for name, _ in rates] == ["K", "A"]
    assert [quantities.rate(rate) / 8 for _, rate in rates] == pytest.approx([capacity(cell)] * 2, rel=1e-6)


@pytest.mark.parametrize("published", PUBLISHED, ids=lambda each: each.of["rate"])
def test_the_value_is_the_equations(published: Published) -> None:
    cell = cell_of(published)
    target, begin = capacity(cell) * round_trip(cell) / MSS, cell.experiment.flow[0].initial_window
    assert published.reached == pytest.approx(0.99 * target, rel=1e-4)
    assert published.value == pytest.approx(math.log(99 * (target - begin) / begin) / EPSILON, abs=5e-4)


@pytest.mark.parametrize("published", PUBLISHED, ids=lambda each: each.of["rate"])
def test_the_golden_model_is_there_in_that_time(published: Published) -> None:
    cell = cell_of(published)
    assert published.value is not None
    rate = int(capacity(cell) * (1 << RATE_FRACTION_BITS))
    begin = cell.experiment.flow[0].initial_window * MSS << 16
    tested = LogisticRequest(rate, rate, round(round_trip(cell) * 1e9), round(published.value * 1e9), begin)
    assert logistic_window(tested) / 65536 / MSS == pytest.approx(published.reached, rel=1e-4)
