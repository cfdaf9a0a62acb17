# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Contents of a report: its page, curves, PDFs and Parquet, of results made by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from downbeat_toe.refused import Refused

from sim.experiments.engine.measures import judge
from sim.experiments.engine.measures.made_results import results
from sim.experiments.engine.report import figures, page, plots, records, report
from sim.experiments.engine.schema.checks import Policies
from sim.experiments.engine.schema.load import load

Tiny = Callable[..., Path]


def shown_report(**more: Any) -> dict[str, Any]:
    """As report.make's, of an experiment with nothing."""
    about = {"name": "t", "title": "T", "source": "S", "form": "quick", "simulated_seconds": 2.0, "runs_of_a_cell": 1}
    nothing: dict[str, Any] = {key: [] for key in ("rows", "tables", "departs", "assumed", "plots", "failures")}
    return about | {"seed": 1} | nothing | more


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
    ("published", "ours", "shown"),
    [
        (2, 2.5, "+25.0 %"),
        (4.0, 3.9, "-2.5 %"),
        (0.0, 1.0, ""),
        (2, None, ""),
        ("at least 2", 1.0, ""),
        ("a > b", "b > a", ""),
    ],
)
def test_a_difference_is_shown_in_per_cent_of_a_published_number(published: object, ours: object, shown: str) -> None:
    assert page.difference({"published": published, "ours": ours}) == shown


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


def test_a_goal_is_separate_from_what_is_published_and_seeds_from_none() -> None:
    row = {"quantity": "q", "figure": "1", "published": 2, "tolerance": "-", "ours": 1.0, "level": "goal"}
    shown = shown_report(rows=[row | {"within": within} for within in (True, False)])
    text = page.render([shown, shown | {"seed": 2}], judge.counts([row]), "make experiments")
    assert "goal met" in text and "goal missed" in text and "<td>no</td>" not in text
    assert text.count('<a href="#t">T</a>') == 2 and text.count('<h2 id="t">T</h2>') == 2
    assert "seed of each as above" in text and "no seed" not in text


def test_a_curve_of_gaps_has_the_mean_of_each_gap_and_its_90_per_cent_band(tiny: Tiny, policies: Policies) -> None:
    more = '[[pairs]]\nlabel = "p"\nto = 1\ngaps = ["8 ms", "12 ms"]\n\n'
    more += '[[plot]]\ntitle = "Gaps"\nmetric = "arrival_gap"\nlabel = "p"\nseries = "gaps"\nx = "gap"\n'
    more += 'by = "rate"\namong = ["4 Mb/s"]\n'
    file = load(tiny(more=more), policies)
    ms = 10**6
    arrivals = [(8 * ms, came * ms) for came in range(8, 29)] + [(12 * ms, 12 * ms)]
    leaves = [at for left, _ in arrivals for at in (0, left)]
    comes = [at for _, came in arrivals for at in (100 * ms, 100 * ms + came)]
    pairs = [{"label": "p", "departures": leaves, "arrivals": comes}]
    made = {cell: [one | {"pairs": pairs} for one in runs] for cell, runs in results(100, 250).items()}
    (plot,) = plots.data(file, made)
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
    made = {cell: [one | {"samples": samples} for one in runs] for cell, runs in results(100, 250).items()}
    in_time, over_rate = plots.data(file, made)
    assert [curve["name"] for curve in in_time["curves"]] == ["2 Mb/s", "4 Mb/s"]
    assert (in_time["x_title"], over_rate["x_title"]) == ("time, s", "rate, Mb/s")


def test_a_curve_over_the_marks_is_of_packets_at_each(tiny: Tiny, policies: Policies) -> None:
    more = '[[plot]]\ntitle = "First"\nmetric = "packets_at"\nseries = "marks"\nx = "mark"\nby = "rate"\n'
    file = load(tiny(('marks = ["1 s"]', 'marks = ["1 s", "1500 ms"]'), more=more), policies)
    made = {
        cell: [
            {**one, "flows": [{**each, "at_marks": [at, 3 * at]} for each in one["flows"] for at in each["at_marks"]]}
        ]
        for cell, runs in results(100, 250).items()
        for one in runs
    }
    (plot,) = plots.data(file, made)
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
    made = results(100, 250)
    places = [tmp_path / "a", tmp_path / "b"]
    for place in places:
        place.mkdir()
        records.write("tiny", made, 7, "make experiment NAME=tiny", "0 (abc)", place)
    first, second = ((place / "tiny.parquet").read_bytes() for place in places)
    rows = records.read(places[0] / "tiny.parquet")
    assert first == second and [(row["rate"], row["seed"]) for row in rows] == [("2 Mb/s", 7), ("4 Mb/s", 7)]
    assert rows[1]["acknowledged"] == 250 * 1460 and rows[0]["exit"] == "loss" and rows[0]["rtt"] is None
    manifest = json.loads((places[0] / "tiny-manifest.json").read_text())
    assert manifest["seeds"] == [7, 7] and manifest["version"] == "0 (abc)" and manifest["rows"] == 2
    assert manifest["tools"]["ns3"] and manifest["machine"]["cores"]
