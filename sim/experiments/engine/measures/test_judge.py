# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Values that count as reproduced: values, ratios, bounds and rankings, against results made by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from sim.experiments.engine.measures import judge
from sim.experiments.engine.measures.made_results import flow, results, run
from sim.experiments.engine.measures.metrics import measure
from sim.experiments.engine.report import tables
from sim.experiments.engine.schema.checks import Policies
from sim.experiments.engine.schema.load import load
from sim.experiments.engine.schema.measures import Measure, Published

Tiny = Callable[..., Path]


@pytest.mark.parametrize(("high", "within"), [(200, True), (239, True), (241, False), (159, False)])
def test_a_ratio_is_within_its_tolerance_or_not(high: float, within: bool, tiny: Tiny, policies: Policies) -> None:
    file = load(tiny(), policies)
    (row,) = judge.rows(file, results(100, high), [("a longer link", file, results(100, 300))])
    assert row["varied"] == [{"with": "a longer link", "ours": pytest.approx(3.0), "within": False}]
    assert row["ours"] == pytest.approx(high / 100) and row["within"] is within
    assert (row["published"], row["tolerance"]) == (2, "20 %")


def test_a_ranking_is_exact_up_to_its_tie(tiny: Tiny, policies: Policies) -> None:
    form = 'along = "rate"\norder = ["4 Mb/s", "2 Mb/s"]\ntie = 0.1'
    removed = 'of = { rate = "4 Mb/s" }\nover = { rate = "2 Mb/s" }\nvalue = 2\ntolerance = "20 %"'
    file = load(tiny((removed, form)), policies)
    verdicts = [judge.rows(file, results(100, high))[0]["within"] for high in (150, 95, 85)]
    assert verdicts == [True, True, False]
    assert judge.rows(file, results(100, 85))[0]["ours"] == "2 Mb/s > 4 Mb/s"


@pytest.mark.parametrize("tie", [0.0, 0.1])
def test_values_that_are_equal_are_no_ranking(tie: float) -> None:
    assert not judge._ranked([3.0, 3.0, 3.0], tie)
    assert judge._ranked([3.1, 3.0, 3.0], tie) is bool(tie) and judge._ranked([3.2, 3.1, 3.0], tie)


def test_a_ranking_of_ratios_divides_by_the_cell_that_differs_in_over_alone(tiny: Tiny, policies: Policies) -> None:
    form = 'of = { side = "x" }\nover = { side = "y" }\nalong = "rate"\norder = ["2 Mb/s", "4 Mb/s"]'
    removed = 'of = { rate = "4 Mb/s" }\nover = { rate = "2 Mb/s" }\nvalue = 2\ntolerance = "20 %"'
    file = load(tiny((removed, form), ("[axes]", '[axes]\nside = ["x", "y"]')), policies)
    progress = {("x", "2 Mb/s"): 100, ("x", "4 Mb/s"): 200, ("y", "2 Mb/s"): 10, ("y", "4 Mb/s"): 100}
    cells: judge.Results = {
        (("side", side), ("rate", rate)): [run(flow(value))] for (side, rate), value in progress.items()
    }
    (row,) = judge.rows(file, cells)
    assert row["values"] == {"2 Mb/s": pytest.approx(10), "4 Mb/s": pytest.approx(2)} and row["within"] is True


def test_connections_of_one_run_are_compared_with_each_other(tiny: Tiny, policies: Policies) -> None:
    both = 'label = "a"\nagainst = "b"\nof = { rate = "4 Mb/s" }\n'
    file = load(
        tiny(
            ('statistic = "sum"\nof = { rate = "4 Mb/s" }\nover = { rate = "2 Mb/s" }\n', both),
            ("[[published]]", '[[flow]]\nlabel = "b"\nto = 1\n\n[[published]]'),
        ),
        policies,
    )
    made: judge.Results = {
        (("rate", "2 Mb/s"),): [run(flow(7), flow(9, label="b"))],
        (("rate", "4 Mb/s"),): [run(flow(210), flow(100, label="b")), run(flow(100), flow(100, label="b"))],
    }
    (row,) = judge.rows(file, made)
    assert row["ours"] == pytest.approx(1.55) and row["within"] is False and row["seeds"] == 2


@pytest.mark.parametrize(
    ("form", "value", "within"),
    [
        ({"value": 10.0, "tolerance": 0.5}, 10.4, True),
        ({"value": 10.0, "tolerance": 0.5}, 10.6, False),
        ({"between": (1, 2)}, 2.1, False),
        ({"at_least": 3}, 3.0, True),
        ({"at_most": 0}, 1.0, False),
        ({"over": {"a": "b"}, "value": 2.2, "tolerance": "third"}, 1.81, True),
        ({"over": {"a": "b"}, "value": 2.2, "tolerance": "third"}, 1.79, False),
        ({"over": {"a": "b"}, "at_most": 0.5}, 0.66, True),
        ({"over": {"a": "b"}, "at_most": 0.5}, 0.67, False),
        ({"over": {"a": "b"}, "between": (3, 5)}, 5.6, True),
        ({"over": {"a": "b"}, "between": (3, 5)}, 5.7, False),
        ({"over": {"a": "b"}, "between": (0.9, 1.1)}, 1.11, False),
        ({"over": {"a": "b"}, "at_least": 1}, 0.99, False),
        ({"over": {"a": "b"}, "at_least": 1}, 1.0, False),
        ({"over": {"a": "b"}, "at_least": 1}, 1.01, True),
        ({"over": {"a": "b"}, "at_most": 1}, 1.0, False),
        ({"over": {"a": "b"}, "at_most": 1}, 0.99, True),
    ],
)
def test_each_form_has_its_bound(form: dict[str, Any], value: float, within: bool) -> None:
    published = Published.model_validate({"quantity": "x", "figure": "1", "metric": "window", **form})
    assert judge.overlaps(published, value, value) is within


def test_a_third_of_what_a_paper_claims_is_a_tolerance_of_ratios_alone() -> None:
    with pytest.raises(ValueError, match="give over or against"):
        Published.model_validate({"quantity": "x", "figure": "1", "metric": "window", "value": 2, "tolerance": "third"})


@pytest.mark.parametrize(
    ("form", "within", "outside"),
    [
        ({"value": 10.0, "tolerance": 0.5}, (10.4, 12), (10.6, 12)),
        ({"value": 10.0, "tolerance": "5 %"}, (9, 9.6), (9, 9.4)),
        ({"between": (1, 2)}, (1.9, 3), (2.1, 3)),
        ({"at_least": 3}, (1, 3.1), (1, 2.9)),
        ({"at_most": 3}, (2.9, 5), (3.1, 5)),
    ],
)
def test_a_band_is_within_if_it_overlaps(
    form: dict[str, Any], within: tuple[float, float], outside: tuple[float, float]
) -> None:
    published = Published(quantity="x", figure="1", metric="window", **form)
    assert judge.overlaps(published, *within) and not judge.overlaps(published, *outside)


@pytest.mark.parametrize(
    ("seeds", "within"),
    [((240, 280), False), ((240, 280, 260), True), ((200, 400, 300), False)],
    ids=["two seeds have no band", "three have one", "no wider band than the tolerance counts"],
)
def test_the_band_counts_from_three_seeds_on(
    tiny: Tiny, policies: Policies, seeds: tuple[int, ...], within: bool
) -> None:
    """Published 2 +- 0.4: a mean of 2.6 with its band of 0.5 is within, one of 3 with its band of 2.5 is not."""
    file = load(tiny(), policies)
    below = [run(flow(100, label="a"), flow(100, label="b")) for _ in seeds]
    above = [run(flow(each, label="a"), flow(each, label="b")) for each in seeds]
    (row,) = judge.rows(file, {(("rate", "2 Mb/s"),): below, (("rate", "4 Mb/s"),): above})
    assert row["ours"] == pytest.approx(fmean(seeds) / 100) and row["within"] is within


def test_a_row_says_whether_the_null_model_passes(tiny: Tiny, policies: Policies) -> None:
    file = load(tiny(), policies)
    null = load(tiny(), policies, startup="standard")
    assert all(flow.startup == "standard" for flow in null.experiment.flow)
    changed = {(("rate", "2 Mb/s"),)}
    (row,) = judge.rows(file, results(100, 210), null=judge.Null(null, results(100, 400), changed))
    assert row["within"] and row["null"] == {"ours": pytest.approx(4), "within": False}
    assert judge.counts([row])["null_reproduced"] == 0 and judge.counts([row])["null_rows"] == 1
    (row,) = judge.rows(file, results(100, 210), null=judge.Null(null, results(100, 400), set()))
    assert "null" not in row and "null_rows" not in judge.counts([row])


def test_what_differs_counts_as_explained_only_with_a_reason_and_goals_do_not_count() -> None:
    rows: list[dict[str, Any]] = [
        {"within": True, "level": "ratio"},
        {"within": False, "level": "ratio", "explained": "why"},
        {"within": False, "level": "shape"},
        {"within": True, "level": "number", "explained": ""},
        {"within": True, "level": "goal"},
    ]
    assert judge.counts(rows) == {"published": 4, "reproduced": 2, "explained": 1, "failed": 1}


def test_no_value_is_not_within(tiny: Tiny, policies: Policies) -> None:
    nothing: judge.Results = {(("rate", rate),): [run(flow(1, established=-1))] for rate in ("2 Mb/s", "4 Mb/s")}
    (row,) = judge.rows(load(tiny(), policies), nothing)
    assert row["within"] is False and row["ours"] is None


@pytest.mark.parametrize(
    "form",
    [
        'of = { rate = "4 Mb/s" }\nvalue = 250\ntolerance = "20 %"',
        'of = { rate = "4 Mb/s" }\nover = { rate = "2 Mb/s" }\nvalue = 2.5\ntolerance = "20 %"',
        'along = "rate"\norder = ["4 Mb/s", "2 Mb/s"]',
        "value = 175\ntolerance = 100",
    ],
    ids=["value", "ratio", "order", "mean over cells"],
)
@pytest.mark.parametrize("missing", [False, True])
def test_a_seed_without_a_value_fails_its_row(tiny: Tiny, policies: Policies, form: str, missing: bool) -> None:
    removed = 'of = { rate = "4 Mb/s" }\nover = { rate = "2 Mb/s" }\nvalue = 2\ntolerance = "20 %"'
    file = load(tiny((removed, form), ('statistic = "sum"\n', "")), policies)
    last = flow(250, established=-1 if missing else 0.1)
    above = [run(flow(each)) for each in (250, 260)] + [run(last)]
    (row,) = judge.rows(file, {(("rate", "2 Mb/s"),): [run(flow(100))] * 3, (("rate", "4 Mb/s"),): above})
    assert row["within"] is not missing and row["ours"] is not None
    assert "order" in form or row["seeds"] == 3 - missing


@pytest.mark.parametrize(
    ("what", "value"),
    [
        ({"metric": "packets", "statistic": "sum"}, 300.0),
        ({"metric": "throughput"}, 150 * 8000 / 2 / 1e6),
        ({"metric": "jain"}, 300**2 / (2 * (100**2 + 200**2))),
        ({"metric": "completion", "statistic": "max"}, 0.5),
        ({"metric": "exit_share"}, 6 / (2e6 * 0.024 / 8000)),
        ({"metric": "queue"}, 2.5),
        ({"metric": "drops"}, 1.0),
        ({"metric": "utilisation"}, 300 * 8000 / 2 / 2e6),
        ({"metric": "throughput", "begin": "1 s", "end": "2 s", "statistic": "sum"}, 50 * 8000 / 1e6),
        ({"metric": "estimate"}, 3.0),
        ({"metric": "seconds_to_window", "reached": 8}, 1.9),
    ],
)
def test_metrics_are_in_the_papers_units(what: dict[str, Any], value: float, tiny: Tiny, policies: Policies) -> None:
    progress = [[0, 0], [0, 1460 * 10], [1460 * 20, 1460 * 40]]
    windows = [[9.0, 9.0], [7.5, 7.5], [8.5, 8.5]]
    made = run(
        flow(100, begun=[0.0, 1.0], done=[0.4, 1.5]),
        flow(200),
        seconds=[0.0, 1.0, 2.0],
        progress=progress,
        windows=windows,
    )
    cell = load(tiny(), policies).cells[0].experiment
    assert measure(cell, made, Measure.model_validate(what)) == pytest.approx(value)


def test_a_table_has_a_row_for_each_value_and_ratios_in_it(tiny: Tiny, policies: Policies) -> None:
    made: judge.Results = {
        (("rate", "2 Mb/s"),): [run(flow(100, at_sizes=[0.25, 0.5]))],
        (("rate", "4 Mb/s"),): [run(flow(250, at_sizes=[]))],
    }
    (table,) = tables.data(load(tiny(), policies), made)
    assert table["heads"] == ["rate", "30 kB, s", "packets to 2 Mb/s's"] and table["names"] == 1
    assert table["rows"] == [["2 Mb/s", 0.25, 1.0], ["4 Mb/s", None, 2.5]]


def test_a_table_for_each_value_of_an_axis_has_its_cells_alone(tiny: Tiny, policies: Policies) -> None:
    path = tiny(
        ("[axes]\n", '[axes]\ndelay = ["10 ms", "20 ms"]\n'), ('rows = ["rate"]', 'rows = ["rate"]\neach = "delay"')
    )
    made: judge.Results = {
        (("delay", f"{delay} ms"), ("rate", f"{rate} Mb/s")): [run(flow(100, at_sizes=[delay * rate, 99.0]))]
        for delay in (10, 20)
        for rate in (2, 4)
    }
    first, second = tables.data(load(path, policies), made)
    assert (first["title"], second["title"]) == ("By rate: 10 ms", "By rate: 20 ms")
    assert [row[1] for row in first["rows"]] == [20, 40] and [row[1] for row in second["rows"]] == [40, 80]


def test_goodput_is_what_leaves_the_queue_and_a_rate_is_of_each_transfer(tiny: Tiny, policies: Policies) -> None:
    experiment = load(tiny(), policies).cells[0].experiment
    # 25 packets of 1,000 bytes each: 0.2 Mbit in 0.4 s from establishment on, and in 0.2 s.
    flows = [flow(25, total=25 * 1460, begun=[begun], done=[0.5]) for begun in (0.0, 0.3)]
    assert measure(experiment, run(*flows), Measure.model_validate({"metric": "goodput"})) == pytest.approx(0.9)
    assert measure(experiment, run(*flows), Measure.model_validate({"metric": "transfer_rate"})) == pytest.approx(
        (0.5 + 1.0) / 2
    )


def test_an_estimate_is_ssthresh_or_a_rate_when_cwnd_reaches_the_first_ssthresh(tiny: Tiny, policies: Policies) -> None:
    def estimated(what: dict[str, Any], **one: Any) -> float:
        return measure(experiment, run(flow(1, **one)), Measure.model_validate({"metric": "estimate", **what}))

    experiment = load(tiny(), policies).cells[0].experiment
    assert [estimated({}, estimate=value) for value in (0, 200.0)] == [3.0, 200.0]
    traced = 'count = 1\ntrace = true\nssthresh = "4 packets"\nestimated_by = "ere"'
    experiment = load(tiny(("count = 2", traced)), policies).cells[0].experiment
    rates = [[0.1, 10.0, 1.0, 2.0], [0.2, 20.0, 2.0, 4.0], [0.3, 30.0, 3.0, 8.0], [0.4, 40.0, 4.0, 9.0]]
    of = {"trace": {"sent": [], "acks": [], "gaps": [], "rates": rates}, "exit_time": 0.15, "smallest_rtt": 0.1}
    assert estimated({}, **of, exit="policy") == 2.0 and estimated({"rounds": 1}, **of, exit="policy") == 3.0
    assert estimated({}, **of) == 1.0 and estimated({"rounds": 1}, **of) == 2.0  # a loss ends slow start before
    experiment = load(tiny(("count = 2", f"{traced}\nestimated_after = 1")), policies).cells[0].experiment
    assert estimated({}, **of, exit="policy") == 3.0 and estimated({"rounds": 0}, **of, exit="policy") == 2.0


def test_a_connection_that_never_was_established_has_no_estimate_and_no_share(tiny: Tiny, policies: Policies) -> None:
    experiment = load(tiny(), policies).cells[0].experiment
    of = {"estimate": 0.0, "exit": ""}
    assert math.isnan(measure(experiment, run(flow(1, **of)), Measure.model_validate({"metric": "estimate"})))
    starved = run(flow(25), flow(0, established=-1))
    assert measure(experiment, starved, Measure.model_validate({"metric": "jain"})) == pytest.approx(0.5)
