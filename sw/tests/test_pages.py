# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The layout that all HTML reports share: numbers, long curves, footer, size."""

from __future__ import annotations

import math
from pathlib import Path

import plotly.graph_objects as go
import pytest
from downbeat_toe import pages


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *((0.0, "0"), (1.52588e-05, "<0.001"), (-1e-9, ">-0.001"), (7.99998, "8.000"), (0.0123456, "0.012")),
        *((12.3456, "12.35"), (1234.5, "1,234"), (1234567.0, "1,234,567"), (-56.789, "-56.79")),
        *((None, "-"), (math.nan, "-")),
    ],
)
def test_numbers_follow_one_rule(value: float | None, text: str) -> None:
    assert pages.number(value) == text


def test_a_long_curve_keeps_its_ends_and_extremes() -> None:
    y: list[float | None] = [math.sin(index / 1000) for index in range(100_000)]
    y[54_321] = 7.0
    y[500] = None
    x, kept = pages.thinned(list(range(100_000)), y)
    assert len(x) <= pages.MOST_POINTS and x == sorted(x)
    assert (x[0], x[-1]) == (0, 99_999) and x[kept.index(7.0)] == 54_321


def test_a_page_holds_all_and_says_how_it_was_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    figure = pages.finish(go.Figure(go.Scatter(x=[1, 2], y=[1, 2], name="</script>")))
    text = pages.page("A <title>", pages.plot(figure), command="make sim SEED=3", seed=3)
    assert "1970-01-01 00:00 UTC; Downbeat 0.2.0" in text and "seed 3; <code>make sim SEED=3</code>" in text
    assert "A &lt;title&gt;" in text and text.count("</script>") == 3 and 'src="' not in text
    assert "DecompressionStream" not in pages.page("no plots", "<p>none</p>", command="make sim")


def test_a_page_is_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the bundle that set-up gets by npm; one of another version is left alone."""
    plot = pages.plot(pages.finish(go.Figure(go.Scatter(x=[1, 2], y=[1, 2]))))
    if pages.BASIC.exists():
        assert len(pages.page("small", plot, command="make sim")) < 700_000
    other = tmp_path / "plotly-basic.min.js"
    other.write_text("/**\n* plotly.js (basic - minified) v1.0.0\n")
    monkeypatch.setattr(pages, "BASIC", other)
    assert 1_500_000 < len(pages.page("whole", plot, command="make sim")) < 2_100_000


def test_a_trace_that_the_bundle_has_not_is_refused() -> None:
    with pytest.raises(ValueError, match="heatmap: a page draws bar, pie, scatter"):
        pages.plot(pages.finish(go.Figure(go.Heatmap(z=[[1]]))))
