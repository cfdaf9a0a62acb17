# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The pages of figures are what their records make, and records have the fields of today's reports."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from scripts.figures import league, records
from scripts.figures.__main__ import MADE, stale
from scripts.figures.kinds import CORE, FILES, FMAX, KINDS, LATENCY, LEAGUE, PACING, POLICIES, SELFTEST, Kind
from scripts.figures.records import PAGES, RECORDS, Records, Refused
from scripts.figures.text import Value, number
from sim.experiments.engine.schema.load import sha256
from sim.experiments.names import FILES as EXPERIMENTS

RUN = {"module": "Pacer", "preset": "lean", "device": "LFE5U-85F", "grade": "6", "seed": 1, "fmax_mhz": 100.5}
SIZE = {"lut4": 1, "carry": 2, "lut_ram": 3, "ff": 4, "bram": 5, "mult18": 6}
# Recorded without the hash of their file. None may be added.
WITHOUT_HASH = {"thesis-2-3", "thesis-4-1"}
LATENCY_CASE: dict[str, Any] = {"measure": "send", "payload": 64, "flows": 1, "load": "idle", "core_ps": 8000}
LATENCY_CASE |= {"ns": {"median": 1.0, "max": 2.0}}
PACING_CASE: dict[str, Any] = {"flows": 16, "grants": 9, "clocks_booking_to_grant": 25}
PACING_CASE |= {"clocks_time_to_grant": [8, 8], "clocks_between_grants": [1, 2]}
COMMAND = "make fmax MODULE=Pacer PRESET=lean GRADE=6 SEED=1"


def test_no_page_is_stale() -> None:
    assert not stale(PAGES, Records()), "write them by: python -m scripts.figures"


def test_every_record_is_of_a_report_that_is_known() -> None:
    assert {file.stem for file in RECORDS.glob("*.json")} <= set(KINDS)


def test_a_recorded_experiment_is_that_of_its_file() -> None:
    """Its file, or the base, has changed since: run it again and take the record."""
    (entry,) = Records().entries(FILES)
    hashes = {name: each.file_sha256 for name, each in entry.figures.experiments.items()}
    assert {name for name, found in hashes.items() if found is None} == WITHOUT_HASH
    changed = [name for name, found in hashes.items() if found not in (None, sha256(EXPERIMENTS[name]))]
    assert not changed, f"make experiment NAME={changed[0]}, then python -m scripts.figures take experiments"


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_report_that_is_there_has_the_fields_that_pages_show(kind: Kind[Any]) -> None:
    Records().report(kind)


@pytest.fixture
def place(tmp_path: Path) -> Records:
    return Records(tmp_path / "records", tmp_path)


def test_a_page_that_was_changed_by_hand_is_stale(place: Records, tmp_path: Path) -> None:
    for name, make in MADE.items():
        (tmp_path / f"{name}.md").write_text(make(place))
    assert stale(tmp_path, place) == []
    (tmp_path / "scale.md").write_text(MADE["scale"](place).replace("Scale", "Scales"))
    (tmp_path / "gaps.md").unlink()
    assert stale(tmp_path, place) == ["gaps", "scale"]


def test_a_report_becomes_the_entry_of_its_command(place: Records, tmp_path: Path) -> None:
    for speed in (100.5, 101.5):
        (tmp_path / "fmax.json").write_text(json.dumps({**RUN, **SIZE, "fmax_mhz": speed, "critical_path": []}))
        assert place.take(FMAX) == COMMAND
    (tmp_path / "fmax.json").write_text(json.dumps({**RUN, **SIZE, "seed": 2}))
    place.take(FMAX)
    assert [(each.command[-6:], each.figures.fmax_mhz) for each in place.entries(FMAX)] == [
        ("SEED=1", 101.5),
        ("SEED=2", 100.5),
    ]
    assert all(each.is_of_this_rtl for each in place.entries(FMAX))
    assert "critical_path" not in (tmp_path / "records" / "fmax.json").read_text()
    assert "|Pacer|`lean`|6|101.5, 100.5|23|" in MADE["area-and-clock"](place)


@pytest.mark.parametrize(
    ("kind", "report", "page"),
    [
        (FMAX, {**RUN, **SIZE}, "area-and-clock"),
        (LATENCY, {"cases": [LATENCY_CASE]}, "latency"),
        (PACING, {"order": [PACING_CASE]}, "scale"),
    ],
)
def test_a_figure_older_than_the_core_makes_its_page_stale(
    kind: Kind[Any], report: Any, page: str, place: Records, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until the page says so."""
    (tmp_path / kind.file).write_text(json.dumps(report))
    place.take(kind)
    file = tmp_path / f"{page}.md"
    file.write_text(MADE[page](place))
    assert "Older" not in file.read_text() and page not in stale(tmp_path, place)
    monkeypatch.setattr(records, "rtl_hash", lambda: "another")
    assert page in stale(tmp_path, place)
    assert "Older than the core: all." in " ".join(MADE[page](place).split())


def test_a_report_from_before_a_change_of_the_core_is_not_of_this_core(place: Records, tmp_path: Path) -> None:
    file = tmp_path / "fmax.json"
    file.write_text(json.dumps({**RUN, **SIZE}))
    os.utime(file, (0, 0))
    place.take(FMAX)
    assert not place.entries(FMAX)[0].is_of_this_rtl


def test_a_comment_does_not_make_figures_older() -> None:
    assert records.code("/** a\n * b */\nval x = 1 // one\n") == records.code("val x =  1")
    assert records.code("val x = 1") != records.code("val x = 2")


def test_an_ultrascale_netlist_has_a_row_for_each_device(place: Records, tmp_path: Path) -> None:
    """A quarter of the small device's LUTs; of block RAM the middle one has too little."""
    area = {"name": "Downbeat", "lut": 19440, "ff": 38880, "bram": 961, "dsp": 5, "state_bits_per_flow": 1}
    run = {"target": "xcup", "device": "XCKU5P", "flows": 16, "preset": "lean", "requested": "Downbeat"}
    (tmp_path / "synth.json").write_text(json.dumps({**run, "rooms": [area], "state_bits_per_flow": 1}))
    assert place.take(CORE) == "make synth MODULE=Downbeat TARGET=xcup PRESET=lean"
    page = MADE["area-and-clock"](place)
    assert "|XCKU5P|`lean`|standard; reno|16|9 %|9 %|**does not fit**: 961 of 960|-|" in page
    assert "|XCAU15P|`lean`|standard; reno|16|25 %|25 %|**does not fit**: 961 of 288|-|" in page
    assert "|XCVU13P|`lean`|standard; reno|16|1 %|1 %|18 %|-|" in page


def test_a_core_that_does_not_fit_is_named(place: Records, tmp_path: Path) -> None:
    """One way of counting: LUT4, carries as two, LUT RAM as six; 208 block RAMs are there."""
    core = {**RUN, "module": "Downbeat", "preset": "lean,flows=64"}
    for seed, size in ((1, {"lut4": 8364, "carry": 4182, "lut_ram": 4182, "ff": 8364}), (2, {})):
        run = {**core, **SIZE, "bram": 209, "seed": seed, **size}
        (tmp_path / "fmax.json").write_text(json.dumps(run))
        place.take(FMAX)
    row = "|LFE5U-85F|`lean`|standard; reno|64|50 %|10 %|**does not fit**: 209 of 208|100.5|"
    assert row in MADE["area-and-clock"](place)


def test_a_report_that_is_a_list_replaces_the_one_before(place: Records, tmp_path: Path) -> None:
    for lut in (220, 272):
        policy = {
            "name": "standard",
            "kind": "startup",
            "dsp": 1,
            "state_bits": 0,
            "lut": lut,
            "ff": 771,
            "fmax_mhz": 145.0,
        }
        (tmp_path / "policies.json").write_text(json.dumps([policy]))
        place.take(POLICIES)
    (entry,) = place.entries(POLICIES)
    assert [each.lut for each in entry.figures.root] == [272]


def test_experiments_that_did_not_run_stay_in_the_record(place: Records, tmp_path: Path) -> None:
    def ran(*names: str, explained: str, form: str = "quick", file_hash: str = "0") -> None:
        outside = [{"figure": "1", "quantity": "gain", "published": 2, "ours": 1, "explained": explained}]
        file = {"title": "A", "source": "B", "form": form, "runs_of_a_cell": 1, "published": 3, "reproduced": 2}
        file["file_sha256"] = file_hash
        counts = dict.fromkeys(("published", "reproduced", "explained", "failed"), 0)  # over these files
        report = {**counts, "experiments": {name: {**file, "outside": outside} for name in names}}
        (tmp_path / "experiments.json").write_text(json.dumps(report))
        place.take(FILES)

    ran("a", "b", explained="")
    ran("b", "c", explained="a small buffer")
    (entry,) = place.entries(FILES)
    assert list(entry.figures.experiments) == ["a", "b", "c"]
    assert (entry.figures.published, entry.figures.reproduced) == (9, 6)
    assert (entry.figures.explained, entry.figures.failed) == (2, 1)
    ran("a", explained="twenty seeds", form="full")
    ran("a", explained="")
    (entry,) = place.entries(FILES)
    assert entry.figures.experiments["a"].form == "full" and entry.figures.explained == 3
    ran("a", explained="", form="full", file_hash="")
    ran("a", explained="")
    (entry,) = place.entries(FILES)
    assert entry.figures.experiments["a"].form == "quick"


def test_what_the_null_model_did_stays_with_its_file(place: Records, tmp_path: Path) -> None:
    row = {"figure": "1", "quantity": "gain", "level": "ratio", "unit": "", "published": 2, "tolerance": 1, "ours": 2}

    def ran(file_hash: str, null: bool = False) -> tuple[int, int]:
        rows = [row | {"within": True} | ({"null": {"ours": 1, "within": True}} if null else {})]
        file = {"title": "A", "source": "B", "form": "quick", "runs_of_a_cell": 1, "published": 1, "reproduced": 1}
        file |= {"file_sha256": file_hash, "rows": rows, "outside": []}
        tried = {"null_rows": 1, "null_reproduced": 1} if null else {}
        file |= tried
        counts = dict.fromkeys(("published", "reproduced", "explained", "failed"), 0) | tried
        (tmp_path / "experiments.json").write_text(json.dumps({**counts, "experiments": {"a": file}}))
        place.take(FILES)
        (entry,) = place.entries(FILES)
        assert (entry.figures.experiments["a"].rows[0].null is not None) is bool(entry.figures.null_rows)
        return entry.figures.null_rows, entry.figures.null_reproduced

    assert [ran("0", null=True), ran("0"), ran("1")] == [(1, 1), (1, 1), (0, 0)]


def test_the_league_has_each_path_and_the_mean_of_what_cubic_keeps(place: Records, tmp_path: Path) -> None:
    def listing(title: str, head: str, *values: float | None) -> dict[str, Any]:
        names = ("standard, cubic", "standard, reno", "hoe, reno", "nobody", "lbc, cubic", "ns-3's CUBIC", "ns-3's BBR")
        rows = [[name, 9, value] for name, value in zip(names, values, strict=True)]
        return {"title": title, "heads": ["policies", "other", head], "rows": rows}

    tables = [
        listing("Alone: start-up, steady policy: a", "1 MB, s", 1.5, 2.5, 9, None, 1.5, 1.0, 2.0),
        listing("Alone: start-up, steady policy: b", "1 MB, s", None, 3.5, 9, None, None, 1.0, 2.0),
        listing("Beside a running CUBIC: start-up, steady policy: a", "CUBIC keeps", 0.5, 0.9, 9, 1, 0.5, 0.8, 0.1),
        listing("Beside a running CUBIC: start-up, steady policy: b", "CUBIC keeps", 0.7, 0.25, 9, 1, 0.7, 0.3, 0.1),
        listing("Beside a running Reno: start-up, steady policy: a", "Reno keeps", 0.1, 0.1, 9, 1, 0.1, 0.1, 0.1),
    ]
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "league.json").write_text(json.dumps({"tables": tables}))
    place.take(LEAGUE)
    lines = league.page(place).splitlines()
    assert "|standard, cubic; lbc, cubic|1.5|-|0.6|" in lines and "|standard, reno|2.5|3.5|0.575|" in lines
    second = lines.index("## Seconds to 1 MB")
    chosen, each = lines[:second], lines[second:]
    assert "|a|standard, cubic; lbc, cubic|1.5|standard, reno|2.5|" in chosen
    assert "|b|standard, reno|3.5|hoe, reno|9|" in chosen
    assert not any("hoe" in line or "nobody" in line for line in each)


def test_names_of_fields_survive_a_record(place: Records, tmp_path: Path) -> None:
    errors = {"gap_error_ns": {"distance_p50": 1.0, "distance_p99": 2.0, "distance_p99.9": 3.0}}
    report = {"arrivals against departures": errors, "departures against schedule": errors}
    (tmp_path / "gap-selftest.json").write_text(json.dumps(report))
    place.take(SELFTEST)
    (entry,) = place.entries(SELFTEST)
    assert entry.figures.arrivals.gap_error_ns.p999 == 3.0


@pytest.mark.parametrize(
    ("report", "line"),
    [
        ({**RUN, **{name: 1 for name in SIZE if name != "ff"}}, "fmax.json: ff: Field required"),
        ({**RUN, **SIZE, "seed": "one"}, "fmax.json: seed: Input should be a valid integer"),
        ([], "fmax.json: all of it: Input should be an object"),
    ],
)
def test_a_report_with_another_schema_is_refused_in_a_line(
    report: Any, line: str, place: Records, tmp_path: Path
) -> None:
    (tmp_path / "fmax.json").write_text(json.dumps(report))
    with pytest.raises(Refused) as refused:
        place.take(FMAX)
    assert line in str(refused.value) and "\n" not in str(refused.value)


def test_a_report_that_is_not_there_is_named_with_its_command(place: Records) -> None:
    with pytest.raises(Refused, match=r"latency.json: there is no such report; make bench NAME=latency makes it"):
        place.take(LATENCY)


def test_a_record_without_a_field_is_refused(place: Records, tmp_path: Path) -> None:
    case = {"measure": "send", "payload": 64, "flows": 1, "load": "idle", "core_ps": 8000, "ns": {"median": 1.0}}
    (tmp_path / "records").mkdir()
    record = tmp_path / "records" / "latency.json"
    record.write_text(json.dumps([{"command": "x", "date": None, "figures": {"cases": [case]}}]))
    with pytest.raises(Refused, match=r"latency.json: cases.0.ns.max: Field required"):
        place.entries(LATENCY)
    record.write_text(json.dumps([{"command": "x", "figures": {"cases": []}}]))
    with pytest.raises(Refused, match=r"latency.json: date: Field required"):
        place.entries(LATENCY)


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        *((None, "-"), ("text", "text"), (1234567, "1,234,567"), (0.0, "0"), (16103.0, "16,100"), (0.98906, "0.9891")),
        *((1.12, "1.12"), (7.98, "7.98"), (8.0, "8"), (6.02e-10, "6.0e-10"), (-0.5, "-0.5"), (99.996, "100")),
    ],
)
def test_one_rounding_rule(value: Value, cell: str) -> None:
    assert number(value) == cell


def test_a_board_with_other_policies_has_an_entry_of_its_own(place: Records, tmp_path: Path) -> None:
    clock = {"name": "core", "wanted_mhz": 62.5, "reached_mhz": 93.0, "missed": False}
    run = {"board": "ecpix5-tcp", "device": "LFE5UM5G-85F-8BG554I", "seed": 3, "clocks": [clock]}
    kind = KINDS["bitstream-ecpix5-tcp"]
    for preset in ("board", "board,policies=standard,rapid;reno,flows=16"):
        (tmp_path / kind.file).write_text(json.dumps({**run, "preset": preset}))
        place.take(kind)
    other = "make bitstream BOARD=ecpix5-tcp POLICIES='standard,rapid;reno' FLOWS=16"
    assert [each.command for each in place.entries(kind)] == ["make bitstream BOARD=ecpix5-tcp", other]
