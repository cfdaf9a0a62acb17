# SPDX-License-Identifier: BSD-2-Clause-Patent
"""docs/reference/figures/papers.md: the experiments of the papers, repeated with the RTL."""

from __future__ import annotations

from scripts.figures import text
from scripts.figures.experiments import Linearity, LinearityFigure, Spm, Ssipp
from scripts.figures.kinds import FILES, LINEARITY, SPM, SSIPP
from scripts.figures.records import Records
from scripts.figures.text import Value, number, percent


def page(records: Records) -> str:
    opening = (
        "The papers' experiments with the RTL over ns-3, beside what was published. [What they "
        "show](../../explanation/papers.md)."
    )
    return text.page("Papers", opening, [part(records) for part in (_files, _spm, _linearity, _ssipp)])


def _files(records: Records) -> str | None:
    entries = records.entries(FILES)
    if not entries:
        return None
    files = entries[-1].figures
    shows = (
        f"Of {files.published} published values {files.reproduced} are within their tolerance; of {files.explained} "
        f"more the file says why not, of {files.failed} none does. `experiments.html` has all."
    )
    outside: list[list[Value]] = [
        [f"{name}, {row.figure}", row.quantity, row.published, row.ours]
        for name, each in files.experiments.items()
        for row in each.outside
        if not row.explained
    ]
    heads = ("experiment, figure", "quantity", "published", "ours")
    body = text.table(heads, outside, left=2) if outside else "All that differ have a reason."
    return text.section("Experiments that are files", text.commands(entries), shows, body)


def _spm(records: Records) -> str | None:
    entries = records.entries(SPM)
    if not entries:
        return None
    rows = [row for entry in entries for row in _spm_rows(entry.figures)]
    shows = (
        f"SPM and Hoe beside one to four constant-rate sources, {entries[0].figures.runs} runs for each path: the "
        "gap, ms, at which the curve meets y = x; the runs with an estimate; the median ssthresh, in segments."
    )
    heads = (
        *("sources", "meets", "published"),
        *("estimates", "median gap", "ssthresh", "fills the path", "Hoe's"),
    )
    return text.tabled("SPM and Hoe", entries, shows, heads, rows, left=0)


def _spm_rows(spm: Spm) -> list[list[Value]]:
    return [
        [
            path.cross_sources,
            *(_meets(path.meets_ms), _meets(path.published_ms)),
            *(f"{path.estimates} of {path.runs}", path.median_gap_ms, path.median_segments if path.estimates else None),
            *(path.model_segments or 0, path.hoe_median_segments),
        ]
        for path in spm.paths
    ]


def _linearity(records: Records) -> str | None:
    entries = records.entries(LINEARITY)
    if not entries:
        return None
    tables = [_curves(entry.figures) for entry in entries]
    shows = (
        "Figures 4-6 to 4-9: the gap, in ms, at which the curve of the gaps received meets the gaps sent, beside "
        "constant-rate sources. `linearity.json` has the curves."
    )
    return text.section("Gap sent, gap received", text.commands(entries), shows, "\n\n".join(tables))


def _curves(linearity: Linearity) -> str:
    figures: list[LinearityFigure] = linearity.figures
    rows: list[list[Value]] = [
        ["meets y = x at", *(_meets(figure.meets_ms) for figure in figures)],
        ["published", *(_meets(figure.published_ms) for figure in figures)],
    ]
    return text.table(("sources", *(number(figure.cross_sources) for figure in figures)), rows)


def _meets(gap: int | None) -> str:
    return "never" if gap is None else number(gap)


def _ssipp(records: Records) -> str | None:
    entries = records.entries(SSIPP)
    rows = [row for entry in entries for row in _ssipp_rows(entry.figures)]
    shows = (
        "From a window of one segment to receivers that delay ACKs: each round has twice the segments of the one "
        "before; the last may be what is left."
    )
    heads = (
        "receiver",
        "segments of each round",
        "in inverted pairs",
        "most for an ACK",
        "sent again",
        "ACKs/segment, in order",
    )
    return text.tabled("SSIPP", entries, shows, heads, rows, left=2)


def _ssipp_rows(ssipp: Ssipp) -> list[list[Value]]:
    return [
        [
            *(run.receiver, " ".join(map(str, run.per_round)), percent(run.inverted_share)),
            *(run.most_per_ack, run.retransmissions, run.acks_per_segment_in_order),
        ]
        for run in ssipp.runs
    ]
