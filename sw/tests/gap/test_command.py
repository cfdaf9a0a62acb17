# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`downbeat gap CAPTURE` as a user calls it."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sw.tests.gap import synthetic
from sw.tests.gap.calling import downbeat

SEED = int(os.environ.get("SEED", "1"))
COUNT, GAP = 2000, 1_000_000  # ns


def gap(
    place: Path, capture: bytes, launches: list[int], *options: object
) -> tuple[subprocess.CompletedProcess[str], Any]:
    (place / "x.pcap").write_bytes(capture)
    plan = synthetic.schedule(place / "plan.csv", launches)
    done = downbeat("gap", place / "x.pcap", "--schedule", plan, "--reports", place / "out", *options)
    report = place / "out" / "gap-capture.json"
    return done, json.loads(report.read_text()) if report.exists() else None


def test_known_noise_and_drift_are_reported(tmp_path: Path) -> None:
    """White noise of 100 ns, drift of 30 ppm: a gap's error has sqrt(2) times the noise, and its percentiles are the
    normal's."""
    print(f"SEED={SEED}")
    launches = [GAP * number for number in range(COUNT)]
    noise = np.random.default_rng(SEED).normal(0, 100, COUNT)
    stamps = [round(launch * (1 + 30e-6) + 5000 + error) for launch, error in zip(launches, noise, strict=True)]
    done, data = gap(tmp_path, synthetic.pcap(zip(stamps, synthetic.probes(COUNT), strict=True)), launches)
    assert done.returncode == 0, done.stderr
    assert data["frames"]["fine"] == COUNT and data["gaps"]["fine"] == COUNT - 1
    assert data["drift"]["removed"] and data["drift"]["ppb"] == pytest.approx(30_000, abs=40)
    errors = data["gap_error_ns"]
    assert abs(errors["mean"]) < 1  # 30 if the drift were still in it
    assert errors["standard_deviation"] == pytest.approx(141.4, rel=0.1)
    assert errors["p95"] == pytest.approx(1.645 * 141.4, rel=0.15) and errors["p5"] == pytest.approx(
        -1.645 * 141.4, rel=0.15
    )
    assert data["allan"][0]["deviation"] == pytest.approx(np.sqrt(3) * 100 / GAP, rel=0.1)
    assert data["delay_ns"] is None and data["notes"] == []
    page = (tmp_path / "out" / "gap-capture.html").read_text()
    assert "Allan deviation" in page and "Plotly" in page


def test_with_one_clock_nothing_is_removed_and_the_delay_is_known(tmp_path: Path) -> None:
    launches = [synthetic.EPOCH + GAP * number for number in range(100)]
    frames = zip([GAP * number + 4321 for number in range(100)], synthetic.probes(100), strict=True)
    done, data = gap(tmp_path, synthetic.pcap(frames), launches, "--common-time")
    assert done.returncode == 0, done.stderr
    assert data["delay_ns"]["minimum"] == data["delay_ns"]["maximum"] == 4321
    assert data["gap_error_ns"]["worst"] == 0 and not data["drift"]["removed"]


def test_stamps_of_microseconds_in_a_file_of_nanoseconds_are_noticed(tmp_path: Path) -> None:
    launches = [GAP * number + 137 * number for number in range(200)]
    stamps = [launch // 1000 * 1000 for launch in launches]
    done, data = gap(tmp_path, synthetic.pcap(zip(stamps, synthetic.probes(200), strict=True)), launches)
    assert data["capture"]["stamp_step_ns"] == 1000
    assert "no finer step" in " ".join(data["notes"]) and "no finer step" in " ".join(done.stdout.split())


def test_a_slope_that_is_no_clock_s_is_not_removed(tmp_path: Path) -> None:
    """A path that gets slower by a thousandth: a queue grows."""
    launches = [GAP * number for number in range(200)]
    frames = zip([round(launch * 1.001) for launch in launches], synthetic.probes(200), strict=True)
    done, data = gap(tmp_path, synthetic.pcap(frames), launches)
    assert not data["drift"]["removed"] and data["gap_error_ns"]["p50"] == 1000
    assert "1000 ppm" in " ".join(done.stdout.split())


def test_a_clock_that_was_set_is_noticed(tmp_path: Path) -> None:
    launches = [GAP * number for number in range(300)]
    stamps = [launch - (300_000 if launch >= 150 * GAP else 0) + 1_000_000 for launch in launches]
    _, data = gap(tmp_path, synthetic.pcap(zip(stamps, synthetic.probes(300), strict=True)), launches)
    assert any("At entry 151 the time error moves by -300,000 ns" in note for note in data["notes"])


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda capture: capture[:-7], "cut off at byte"),
        (lambda capture: capture[:24], "no packet in it"),
        (lambda capture: capture[:24] + capture[24 + 116 :] + capture[24 : 24 + 116], "is stamped"),
        (
            lambda capture: capture.replace(b"DnBt", b"else"),
            "no frames of downbeat replay.*TCP has the column sequence.*UDP is not",
        ),
    ],
)
def test_a_bad_capture_ends_with_one_sentence(tmp_path: Path, spoil: Any, says: str) -> None:
    frames = zip([GAP * number for number in range(5)], synthetic.probes(5), strict=True)
    done, data = gap(tmp_path, spoil(synthetic.pcap(frames)), [GAP * number for number in range(5)])
    assert done.returncode == 2 and data is None and "Traceback" not in done.stderr
    assert re.search(says, done.stderr), done.stderr


def test_a_schedule_may_be_a_capture_of_what_left(tmp_path: Path) -> None:
    segments = [synthetic.segment(1000 + 500 * number, 500) for number in range(50)]
    left = [GAP * number + number % 7 for number in range(50)]
    (tmp_path / "left.pcap").write_bytes(synthetic.pcap(zip(left, segments, strict=True)))
    (tmp_path / "came.pcap").write_bytes(
        synthetic.pcap([(stamp + 9000, frame) for stamp, frame in zip(left, segments, strict=True)])
    )
    options = ("--schedule", tmp_path / "left.pcap", "--reports", tmp_path, "--flow", "10.0.0.1:40000-10.0.0.2:5001")
    done = downbeat("gap", tmp_path / "came.pcap", *options)
    assert done.returncode == 0, done.stderr
    data = json.loads((tmp_path / "gap-capture.json").read_text())
    assert data["gaps"]["fine"] == 49 and data["gap_error_ns"]["worst"] < 1e-3
    done = downbeat("gap", tmp_path / "came.pcap", *options[:-1], "1.2.3.4:5>6.7.8.9:10")
    assert done.returncode == 2 and "no flow 1.2.3.4:5>6.7.8.9:10; it has 10.0.0.1:40000-10.0.0.2:5001" in done.stderr


def test_a_paced_flow_needs_no_schedule(tmp_path: Path) -> None:
    """500 bytes at 4 Mb/s take a millisecond; the numbers wrap, the last segment is shorter, one is sent again."""
    start = 2**32 - 5 * 500
    segments = [synthetic.segment((start + 500 * number) % 2**32, 500 if number < 49 else 100) for number in range(50)]
    frames = list(zip([GAP * number for number in range(50)], segments, strict=True))
    frames.insert(20, (frames[19][0] + 300, segments[7]))
    (tmp_path / "x.pcap").write_bytes(synthetic.pcap(frames))
    done = downbeat("gap", tmp_path / "x.pcap", "--paced", "4Mb/s", "--reports", tmp_path)
    assert done.returncode == 0, done.stderr
    data = json.loads((tmp_path / "gap-capture.json").read_text())
    assert data["schedule"]["frames"] == 50 and data["gaps"]["disturbed"]["duplicated"] == 2
    assert data["gap_error_ns"]["worst"] < 1e-3 and abs(data["drift"]["ppb"]) < 1e-3


def test_of_several_paced_flows_the_largest_is_taken_and_said(tmp_path: Path) -> None:
    segments = [synthetic.segment(500 * number, 500) for number in range(50)]
    small = (GAP * 60, synthetic.segment(5, 10, (7, 8)))
    (tmp_path / "x.pcap").write_bytes(
        synthetic.pcap([*zip([GAP * number for number in range(50)], segments, strict=True), small])
    )
    done = downbeat("gap", tmp_path / "x.pcap", "--paced", "4Mbit", "--reports", tmp_path)
    assert done.returncode == 0, done.stderr
    data = json.loads((tmp_path / "gap-capture.json").read_text())
    assert data["schedule"]["frames"] == 50
    said = " ".join(data["notes"])
    assert "2 flows: 10.0.0.1:40000-10.0.0.2:5001 is the largest" in said
    assert "--flow 10.0.0.1:7-10.0.0.2:8" in said


def test_merged_segments_are_no_paced_flow(tmp_path: Path) -> None:
    """Two frames in one, as segmentation offload hands them to a capture: once a wrong figure with status 0."""
    segments = [synthetic.segment(2920 * number, 2920) for number in range(50)]
    (tmp_path / "x.pcap").write_bytes(
        synthetic.pcap(zip([GAP * number for number in range(50)], segments, strict=True))
    )
    words = ("gap", tmp_path / "x.pcap", "--paced", "20Mb/s", "--reports", tmp_path)
    done = downbeat(*words)
    assert done.returncode == 2 and "ethtool -K IFACE tso off" in done.stderr and "--mtu 9000" in done.stderr
    assert downbeat(*words, "--mtu", "3000").returncode == 0


def test_frames_that_arrive_before_they_leave_are_warned_of(tmp_path: Path) -> None:
    launches = [synthetic.EPOCH + GAP * number for number in range(100)]
    frames = zip([GAP * number - 4321 for number in range(100)], synthetic.probes(100), strict=True)
    done, data = gap(tmp_path, synthetic.pcap(frames), launches, "--common-time")
    assert done.returncode == 0 and data["delay_ns"]["minimum"] == -4321
    assert any("100 of 100 frames arrive before they leave, up to 4321 ns" in note for note in data["notes"])


def test_microseconds_are_read_with_their_step_in_the_verdict(tmp_path: Path) -> None:
    """Stamps of 1 us each: a gap is right to 1000 (1 - sqrt(0.05)) = 776 ns at 95 %, whatever the gaps are."""
    print(f"SEED={SEED}")
    launches = np.cumsum(np.random.default_rng(SEED).integers(900_000, 1_100_000, 300)).tolist()
    capture = synthetic.pcap(zip(launches, synthetic.probes(300), strict=True), magic=0xA1B2C3D4)
    done, data = gap(tmp_path, capture, launches)
    assert done.returncode == 0 and data["capture"]["stamp_step_ns"] == 1000
    verdict = data["verdict"]
    assert verdict["floor_ns"] == pytest.approx(776, rel=0.01) and verdict["within_floor"] >= 0.9
    assert verdict["half_width_ns"] == pytest.approx(776, rel=0.03) and verdict["level"] == 0.95
    assert (
        f"If a NIC stamped at the wire, one gap of {verdict['gap_ns']:,.0f} ns is right to ±7" in done.stdout
        and "Floor of this" in done.stdout
    )
    page = (tmp_path / "out" / "gap-capture.html").read_text()
    assert "one gap of" in page and "<b>" not in page
    done, _ = gap(tmp_path, capture, launches, "--strict")
    assert done.returncode == 2 and "microseconds" in done.stderr


def test_a_selftest_gives_the_floor_of_a_kernel_s_stamps(tmp_path: Path) -> None:
    """Errors even within 100 ns: 95 % of them within 95 ns. At the NIC's step it would be 1 ns."""
    launches = np.cumsum(np.random.default_rng(SEED).integers(900_000, 1_100_000, 300)).tolist()
    (tmp_path / "self.json").write_text(json.dumps({"floor": {"quantiles_ns": [-100.0, 0.0, 100.0]}}))
    capture = synthetic.pcap(zip(launches, synthetic.probes(300), strict=True))
    _, data = gap(tmp_path, capture, launches, "--selftest", tmp_path / "self.json")
    assert data["verdict"]["floor_ns"] == pytest.approx(95, rel=0.01)
    assert "the kernel's stamps" in data["verdict"]["budget"][0]["cause"]
    _, data = gap(tmp_path, capture, launches)
    assert data["verdict"]["floor_ns"] < 1 and "does not say who stamped" in data["verdict"]["assumes"]


def test_a_drift_stays_where_it_is_not_significant_or_is_to_stay(tmp_path: Path) -> None:
    """White noise of 100 ns over 0.2 s: a slope of a few 100 ppb is chance. 30 ppm is not, unless it is to stay."""
    draw, launches = np.random.default_rng(SEED), [GAP * number for number in range(200)]
    noise = draw.normal(0, 100, 200)
    for drift, options, why_not in (
        (0, (), "not significant"),
        (30e-6, (), None),
        (30e-6, ("--keep-drift",), "--keep-drift"),
    ):
        stamps = [
            round(launch * (1 + drift) + error) for launch, error in zip(launches, noise - noise[::-1], strict=True)
        ]
        done, data = gap(tmp_path, synthetic.pcap(zip(stamps, synthetic.probes(200), strict=True)), launches, *options)
        assert data["drift"]["why_not"] == why_not and data["drift"]["removed"] == (why_not is None), done.stderr
        left = drift * GAP if why_not else 0
        assert (
            data["gap_error_ns"]["mean"] == pytest.approx((stamps[-1] - stamps[0] - launches[-1]) / 199, abs=0.1)
            or not left
        )
    assert "not removed: --keep-drift" in done.stdout
    assert data["verdict"]["half_width_ns"] == pytest.approx(30, rel=0.05), "30 ppm of a millisecond are in each gap"


@pytest.mark.parametrize(
    ("options", "says"),
    [(("--paced", "4Mb/s"), "by no clock; leave --common-time out"), ((), "launches count from the start")],
)
def test_what_has_no_common_time_is_refused_with_it(tmp_path: Path, options: tuple[str, ...], says: str) -> None:
    segments = [synthetic.segment(1000 + 500 * number, 500) for number in range(50)]
    launches = [GAP * number for number in range(50)]
    (tmp_path / "x.pcap").write_bytes(synthetic.pcap(zip(launches, segments, strict=True)))
    plan = tmp_path / "plan.csv"
    rows = (f"{launch},554,{1000 + 500 * number}" for number, launch in enumerate(launches))
    plan.write_text("\n".join(["launch_ns,length,sequence", *rows]) + "\n")
    words = ("gap", tmp_path / "x.pcap", *(options or ("--schedule", plan)), "--reports", tmp_path)
    assert downbeat(*words).returncode == 0
    done = downbeat(*words, "--common-time")
    assert done.returncode == 2 and says in done.stderr, done.stdout + done.stderr


def test_the_page_names_the_worst_gaps(tmp_path: Path) -> None:
    launches = [GAP * number for number in range(100)]
    stamps = [launch + 700 * (at == 41) for at, launch in enumerate(launches)]
    gap(tmp_path, synthetic.pcap(zip(stamps, synthetic.probes(100), strict=True)), launches)
    page = (tmp_path / "out" / "gap-capture.html").read_text().partition("<h2>Worst gaps</h2>")[2]
    assert [re.findall("<td[^>]*>(.*?)</td>", row) for row in page.split("<tr>")[2:4]] == [
        ["41", "0", "40,000,000", "1,000,000", "700.0"],
        ["42", "0", "41,000,000", "1,000,000", "-700.0"],
    ]


def test_the_report_is_there_when_nobody_reads_what_is_printed(tmp_path: Path) -> None:
    """`downbeat gap ... | head -1`: the reader's end is closed."""
    launches = [GAP * number for number in range(100)]
    (tmp_path / "x.pcap").write_bytes(synthetic.pcap(zip(launches, synthetic.probes(100), strict=True)))
    plan = synthetic.schedule(tmp_path / "plan.csv", launches)
    reader, writer = os.pipe()
    os.close(reader)
    words = ("gap", tmp_path / "x.pcap", "--schedule", plan, "--reports", tmp_path / "out")
    done = downbeat(*words, stdout=writer)
    os.close(writer)
    assert done.returncode != 0 and "Traceback" not in done.stderr
    assert json.loads((tmp_path / "out" / "gap-capture.json").read_text())["gaps"]["fine"] == 99
    assert (tmp_path / "out" / "gap-capture.html").exists()
