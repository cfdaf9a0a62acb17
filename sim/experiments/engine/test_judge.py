# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What counts as reproduced: values, ratios, bounds and rankings, against results made by hand."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from downbeat_toe.refused import Refused

from sim.experiments.engine import figures, judge, page, plots, records, report, tables
from sim.experiments.engine.load import Policies, load
from sim.experiments.engine.measures import Measure, Published
from sim.experiments.engine.metrics import measure

Tiny = Callable[..., Path]


def flow(packets: float, **more: Any) -> dict[str, Any]:
    size = 1460
    told: dict[str, Any] = {"label": "a", "segment_size": size, "established": 0.1, "opened": 0.0, "seconds": 2.0}
    told |= {"at_marks": [packets * size], "acknowledged": packets * size, "intervals": [], "begun": [], "done": []}
    return told | {"exit": "loss", "exit_before": 6.0, "exit_after": 3.0, "estimate": 0, "window": 5.0} | more


def run(*flows: dict[str, Any], **samples: Any) -> dict[str, Any]:
    link = {"arrived": 10, "dropped": 1, "mean_packets": 2.5, "most_packets": 4}
    return {"failure": "", "links": [link], "flows": list(flows), "samples": samples}


def results(low: float, high: float) -> judge.Results:
    return {(("rate", "2 Mb/s"),): [run(flow(low))], (("rate", "4 Mb/s"),): [run(flow(high))]}


def shown_report(**more: Any) -> dict[str, Any]:
    """As report.make's, of an experiment with nothing."""
    about = {"name": "t", "title": "T", "source": "S", "form": "quick", "simulated_seconds": 2.0, "runs_of_a_cell": 1}
    nothing: dict[str, Any] = {key: [] for key in ("rows", "tables", "departs", "assumed", "plots", "failures")}
    return about | {"seed": 1} | nothing | more


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


def test_a_ranking_of_ratios_divides_by_the_cell_that_differs_in_over_alone(tiny: Tiny, policies: Policies) -> None:
    form = 'of = { side = "x" }\nover = { side = "y" }\nalong = "rate"\norder = ["2 Mb/s", "4 Mb/s"]'
    removed = 'of = { rate = "4 Mb/s" }\nover = { rate = "2 Mb/s" }\nvalue = 2\ntolerance = "20 %"'
    file = load(tiny((removed, form), ("[axes]", '[axes]\nside = ["x", "y"]')), policies)
    told = {("x", "2 Mb/s"): 100, ("x", "4 Mb/s"): 200, ("y", "2 Mb/s"): 10, ("y", "4 Mb/s"): 100}
    cells: judge.Results = {
        (("side", side), ("rate", rate)): [run(flow(value))] for (side, rate), value in told.items()
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
    told: judge.Results = {
        (("rate", "2 Mb/s"),): [run(flow(7), flow(9, label="b"))],
        (("rate", "4 Mb/s"),): [run(flow(210), flow(100, label="b")), run(flow(100), flow(100, label="b"))],
    }
    (row,) = judge.rows(file, told)
    assert row["ours"] == pytest.approx(1.55) and row["within"] is False and row["seeds"] == 2


@pytest.mark.parametrize(
    ("form", "value", "within"),
    [
        ({"value": 10.0, "tolerance": 0.5}, 10.4, True),
        ({"value": 10.0, "tolerance": 0.5}, 10.6, False),
        ({"between": (1, 2)}, 2.1, False),
        ({"at_least": 3}, 3.0, True),
        ({"at_most": 0}, 1.0, False),
    ],
)
def test_each_form_has_its_bound(form: dict[str, Any], value: float, within: bool) -> None:
    assert judge.inside(Published(quantity="x", figure="1", metric="window", **form), value) is within


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
    ("what", "value"),
    [
        ({"metric": "packets", "statistic": "sum"}, 300.0),
        ({"metric": "throughput"}, 150 * 8000 / 2 / 1e6),
        ({"metric": "jain"}, 300**2 / (2 * (100**2 + 200**2))),
        ({"metric": "completion", "statistic": "most"}, 0.5),
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
    told = run(
        flow(100, begun=[0.0, 1.0], done=[0.4, 1.5]),
        flow(200),
        seconds=[0.0, 1.0, 2.0],
        progress=progress,
        windows=windows,
    )
    cell = load(tiny(), policies).cells[0].experiment
    assert measure(cell, told, Measure.model_validate(what)) == pytest.approx(value)


def test_a_table_has_a_row_for_each_value_and_ratios_in_it(tiny: Tiny, policies: Policies) -> None:
    told: judge.Results = {
        (("rate", "2 Mb/s"),): [run(flow(100, at_sizes=[0.25, 0.5]))],
        (("rate", "4 Mb/s"),): [run(flow(250, at_sizes=[]))],
    }
    (table,) = tables.data(load(tiny(), policies), told)
    assert table["heads"] == ["rate", "30 kB, s", "packets to 2 Mb/s's"] and table["names"] == 1
    assert table["rows"] == [["2 Mb/s", 0.25, 1.0], ["4 Mb/s", None, 2.5]]


def test_a_table_for_each_value_of_an_axis_has_its_cells_alone(tiny: Tiny, policies: Policies) -> None:
    path = tiny(
        ("[axes]\n", '[axes]\ndelay = ["10 ms", "20 ms"]\n'), ('rows = ["rate"]', 'rows = ["rate"]\neach = "delay"')
    )
    told: judge.Results = {
        (("delay", f"{delay} ms"), ("rate", f"{rate} Mb/s")): [run(flow(100, at_sizes=[delay * rate, 99.0]))]
        for delay in (10, 20)
        for rate in (2, 4)
    }
    first, second = tables.data(load(path, policies), told)
    assert (first["title"], second["title"]) == ("By rate: 10 ms", "By rate: 20 ms")
    assert [row[1] for row in first["rows"]] == [20, 40] and [row[1] for row in second["rows"]] == [40, 80]


def test_the_page_shows_ours_beside_the_published(tiny: Tiny, policies: Policies) -> None:
    file = load(tiny(), policies)
    rows = judge.rows(file, results(100, 250), [("less delay", file, results(100, 180))])
    plots = [
        {
            "title": "P",
            "x": "rate",
            "x_title": "rate, Mb/s",
            "unit": "packets",
            "curves": [{"name": "", "x": [2.0], "y": [1.0]}],
        }
    ]
    listing = {"title": "L", "names": 1, "heads": ["rate", "s"], "rows": [["2 Mb/s", None], ["4 Mb/s", 0.5]]}
    shown = shown_report(title="<T>", rows=rows, assumed=["A."], plots=plots, tables=[listing])
    text = page.render([shown], judge.counts(rows), "make experiments")
    assert (
        "&lt;T&gt;" in text
        and "2.500" in text
        and "<td>0.500</td>" in text
        and "1.800 to 2.500" in text
        and "1 failed" in text
        and 'class="plot"' in text
    )


def test_a_row_has_the_unit_of_its_metric_and_a_ratio_has_none(tiny: Tiny, policies: Policies) -> None:
    removed = 'over = { rate = "2 Mb/s" }\nvalue = 2\ntolerance = "20 %"'
    absolute = load(tiny((removed, "at_least = 1")), policies)
    rows = [judge.rows(file, results(100, 250))[0] for file in (load(tiny(), policies), absolute)]
    assert [row["unit"] for row in rows] == ["", "packets"]
    older = {key: value for key, value in rows[0].items() if key != "unit"}
    assert '<td class="text">packets</td>' in page._rows([rows[1], older])


@pytest.mark.parametrize(
    ("published", "ours", "told"),
    [
        (2, 2.5, "+25.0 %"),
        (4.0, 3.9, "-2.5 %"),
        (0.0, 1.0, ""),
        (2, None, ""),
        ("at least 2", 1.0, ""),
        ("a > b", "b > a", ""),
    ],
)
def test_a_difference_is_told_in_per_cent_of_a_published_number(published: object, ours: object, told: str) -> None:
    assert page.difference({"published": published, "ours": ours}) == told


def test_a_reason_stands_once_and_rows_name_it_by_number(tiny: Tiny, policies: Policies) -> None:
    row = {"figure": "1", "published": 2, "tolerance": "-", "ours": 1.0, "within": False, "level": "ratio"}
    rows = [
        row | {"quantity": quantity, "explained": reason}
        for quantity, reason in (("a", "R."), ("b", "R."), ("c", "S."))
    ]
    text = page.render([shown_report(rows=rows)], judge.counts(rows), "make experiments")
    assert (
        "<ol><li>R.</li><li>S.</li></ol>" in text
        and text.count("explained:\N{NO-BREAK SPACE}1") == 2
        and text.count("explained:\N{NO-BREAK SPACE}2") == 1
    )


def test_a_goal_is_told_apart_from_what_is_published_and_seeds_from_none() -> None:
    row = {"quantity": "q", "figure": "1", "published": 2, "tolerance": "-", "ours": 1.0, "level": "goal"}
    shown = shown_report(rows=[row | {"within": within} for within in (True, False)])
    text = page.render([shown, shown | {"seed": 2}], judge.counts([row]), "make experiments")
    assert "goal met" in text and "goal missed" in text and "<td>no</td>" not in text
    assert text.count('<a href="#t">T</a>') == 2 and text.count('<h2 id="t">T</h2>') == 2
    assert "seed of each as above" in text and "no seed" not in text


def test_a_curve_of_gaps_has_the_mean_of_each_gap_and_where_most_of_them_are(tiny: Tiny, policies: Policies) -> None:
    more = '[[pairs]]\nlabel = "p"\nto = 1\ngaps = ["8 ms", "12 ms"]\n\n'
    more += '[[plot]]\ntitle = "Gaps"\nmetric = "arrival_gap"\nlabel = "p"\nseries = "gaps"\nx = "gap"\n'
    more += 'by = "rate"\namong = ["4 Mb/s"]\n'
    file = load(tiny(more=more), policies)
    ms = 10**6
    arrivals = [(8 * ms, came * ms) for came in range(8, 29)] + [(12 * ms, 12 * ms)]
    leaves = [at for left, _ in arrivals for at in (0, left)]
    comes = [at for _, came in arrivals for at in (100 * ms, 100 * ms + came)]
    pairs = [{"label": "p", "departures": leaves, "arrivals": comes}]
    told = {cell: [one | {"pairs": pairs} for one in runs] for cell, runs in results(100, 250).items()}
    (plot,) = plots.data(file, told)
    curve, equal = plot["curves"]
    assert (curve["name"], curve["x"], plot["x_title"]) == ("4 Mb/s", [8, 12], "gap at departure, ms")
    assert (curve["y"], curve["low"], curve["high"]) == (
        pytest.approx([18, 12]),
        pytest.approx([9, 12]),
        pytest.approx([27, 12]),
    )
    assert (equal["name"], equal["x"], equal["y"]) == ("y = x", [0, 12], [0, 12])


def test_curves_in_time_are_named_by_what_the_plot_leaves_open(tiny: Tiny, policies: Policies) -> None:
    more = '[[plot]]\ntitle = "Window"\nmetric = "window"\nseries = "window"\nx = "time"\n'
    more += '[[plot]]\ntitle = "Packets"\nmetric = "packets"\nx = "rate"\n'
    file = load(tiny(("count = 2", "count = 1"), more=more), policies)
    samples = {"seconds": [0.0, 1.0], "windows": [[1.0], [2.0]]}
    told = {cell: [one | {"samples": samples} for one in runs] for cell, runs in results(100, 250).items()}
    in_time, over_rate = plots.data(file, told)
    assert [curve["name"] for curve in in_time["curves"]] == ["2 Mb/s", "4 Mb/s"]
    assert (in_time["x_title"], over_rate["x_title"]) == ("time, s", "rate, Mb/s")


def test_a_curve_over_the_marks_is_of_packets_at_each(tiny: Tiny, policies: Policies) -> None:
    more = '[[plot]]\ntitle = "First"\nmetric = "packets_at"\nseries = "marks"\nx = "mark"\nby = "rate"\n'
    file = load(tiny(('marks = ["1 s"]', 'marks = ["1 s", "1500 ms"]'), more=more), policies)
    told = {
        cell: [
            {**one, "flows": [{**each, "at_marks": [at, 3 * at]} for each in one["flows"] for at in each["at_marks"]]}
        ]
        for cell, runs in results(100, 250).items()
        for one in runs
    }
    (plot,) = plots.data(file, told)
    assert plot["x_title"] == "time since the connection is established, s"
    assert [(curve["name"], curve["x"], curve["y"]) for curve in plot["curves"]] == [
        ("2 Mb/s", [1.0, 1.5], [100, 300]),
        ("4 Mb/s", [1.0, 1.5], [250, 750]),
    ]
    with pytest.raises(Refused, match="series = 'marks' is of packets_at, which packets is not"):
        load(tiny(more=more.replace("packets_at", "packets")), policies)


def test_a_curve_has_its_band_over_what_was_varied(tiny: Tiny, policies: Policies, tmp_path: Path) -> None:
    file = load(tiny(more='[[plot]]\ntitle = "Packets"\nmetric = "packets"\nx = "rate"\n'), policies)
    varied = [("less delay", file, results(90, 300)), ("more", file, results(120, 240))]
    (plot,) = plots.data(file, results(100, 250), varied)
    (curve,) = plot["curves"]
    assert (curve["y"], curve["low"], curve["high"]) == ([100, 250], [90, 240], [120, 300])
    assert "low" not in plots.data(file, results(100, 250))[0]["curves"][0]
    (path,) = figures.write({"name": "tiny", "plots": [plot]}, tmp_path)
    assert path.read_bytes().startswith(b"%PDF")
    assert '"fill":"toself"' in page.render([shown_report(plots=[plot])], judge.counts([]), "make experiments")


def test_goodput_is_what_leaves_the_queue_and_a_rate_is_of_each_transfer(tiny: Tiny, policies: Policies) -> None:
    experiment = load(tiny(), policies).cells[0].experiment
    # 25 packets of 1,000 bytes each: 0.2 Mbit in 0.4 s from establishment on, and in 0.2 s.
    flows = [flow(25, total=25 * 1460, begun=[begun], done=[0.5]) for begun in (0.0, 0.3)]
    assert measure(experiment, run(*flows), Measure.model_validate({"metric": "goodput"})) == pytest.approx(0.9)
    assert measure(experiment, run(*flows), Measure.model_validate({"metric": "transfer_rate"})) == pytest.approx(
        (0.5 + 1.0) / 2
    )


def test_an_estimate_is_ssthresh_or_a_rate_when_cwnd_reaches_the_first_ssthresh(tiny: Tiny, policies: Policies) -> None:
    def told(what: dict[str, Any], **one: Any) -> float:
        return measure(experiment, run(flow(1, **one)), Measure.model_validate({"metric": "estimate", **what}))

    experiment = load(tiny(), policies).cells[0].experiment
    assert [told({}, estimate=value) for value in (0, 200.0)] == [3.0, 200.0]
    traced = 'count = 1\ntrace = true\nssthresh = "4 packets"\nestimated_by = "ere"'
    experiment = load(tiny(("count = 2", traced)), policies).cells[0].experiment
    rates = [[0.1, 10.0, 1.0, 2.0], [0.2, 20.0, 2.0, 4.0], [0.3, 30.0, 3.0, 8.0], [0.4, 40.0, 4.0, 9.0]]
    of = {"trace": {"sent": [], "acks": [], "gaps": [], "rates": rates}, "exit_time": 0.15, "smallest_rtt": 0.1}
    assert told({}, **of, exit="policy") == 2.0 and told({"rounds": 1}, **of, exit="policy") == 3.0
    assert told({}, **of) == 1.0 and told({"rounds": 1}, **of) == 2.0  # a loss ends slow start before
    experiment = load(tiny(("count = 2", f"{traced}\nestimated_after = 1")), policies).cells[0].experiment
    assert told({}, **of, exit="policy") == 3.0 and told({"rounds": 0}, **of, exit="policy") == 2.0


def test_a_connection_that_never_was_established_has_no_estimate_and_no_share(tiny: Tiny, policies: Policies) -> None:
    experiment = load(tiny(), policies).cells[0].experiment
    of = {"estimate": 0.0, "exit": ""}
    assert math.isnan(measure(experiment, run(flow(1, **of)), Measure.model_validate({"metric": "estimate"})))
    starved = run(flow(25), flow(0, established=-1))
    assert measure(experiment, starved, Measure.model_validate({"metric": "jain"})) == pytest.approx(0.5)


def test_a_plot_is_a_pdf_of_the_same_bytes_each_time(tmp_path: Path) -> None:
    curves = [{"name": name, "x": [1.0, 2.0], "y": [1.0, None]} for name in ("a", "b")]
    report = {
        "name": "tiny",
        "plots": [{"title": "P", "x": "rate", "x_title": "rate", "unit": "packets", "curves": curves}],
    }
    (tmp_path / "tiny-2.pdf").write_text("of an earlier run")
    (path,) = figures.write(report, tmp_path)
    first = path.read_bytes()
    assert path.name == "tiny-1.pdf" and first.startswith(b"%PDF") and not (tmp_path / "tiny-2.pdf").exists()
    figures.write(report, tmp_path)
    assert path.read_bytes() == first


def test_other_files_beside_the_reports_do_no_harm(
    tiny: Tiny, policies: Policies, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("FOLDER", "COUNTS", "PAGE"):
        monkeypatch.setattr(report, name, tmp_path / name.lower())
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "other.json").write_text('{"rows": [{"method": "spand"}]}')
    path = tiny()
    path.write_text(path.read_text().partition("[[table]]")[0])
    report.write(report.make(load(path, policies), results(100, 250), 1, False), "make experiments")
    assert list(json.loads((tmp_path / "counts").read_text())["experiments"]) == ["tiny"]
    assert "Two Renos" in (tmp_path / "page").read_text()


def test_runs_are_rows_of_the_same_bytes_and_a_manifest(tmp_path: Path) -> None:
    told = results(100, 250)
    places = [tmp_path / "a", tmp_path / "b"]
    for place in places:
        place.mkdir()
        records.write("tiny", told, 7, "make experiment NAME=tiny", "0 (abc)", place)
    first, second = ((place / "tiny.parquet").read_bytes() for place in places)
    rows = records.read(places[0] / "tiny.parquet")
    assert first == second and [(row["rate"], row["seed"]) for row in rows] == [("2 Mb/s", 7), ("4 Mb/s", 7)]
    assert rows[1]["acknowledged"] == 250 * 1460 and rows[0]["exit"] == "loss" and rows[0]["rtt"] is None
    manifest = json.loads((places[0] / "tiny-manifest.json").read_text())
    assert manifest["seeds"] == [7, 7] and manifest["version"] == "0 (abc)" and manifest["rows"] == 2
    assert manifest["tools"]["ns3"] and manifest["machine"]["cores"]
