# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What counts as a schedule is in a file's bytes, not in its name; and its numbers are taken as they are meant."""

from __future__ import annotations

import bz2
import gzip
import lzma
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from downbeat_toe import schedule_file
from downbeat_toe.gap import capture
from downbeat_toe.refused import Refused

from sw.tests.gap import synthetic


def zstd(data: bytes) -> bytes:
    return subprocess.run(["zstd", "-cq"], input=data, capture_output=True, check=True).stdout


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstd,
}
CAPTURE = synthetic.pcap([(5, synthetic.segment(1000, 500)), (900, synthetic.segment(1500, 500))])


@pytest.mark.parametrize("packing", PACKERS)
@pytest.mark.parametrize("name", ["left.pcap", "left.PCAP", "left.csv", "left"])
def test_a_capture_is_known_by_its_magic_number(tmp_path: Path, packing: str, name: str) -> None:
    if packing == ".zst" and shutil.which("zstd") is None:
        pytest.skip("zstd is not installed")
    path = tmp_path / f"{name}{packing}"
    path.write_bytes(PACKERS[packing](CAPTURE))
    assert capture.is_capture(path)
    assert len(capture.read(path).packets) == 2


def test_a_csv_stays_a_csv_whatever_its_name(tmp_path: Path) -> None:
    path = tmp_path / "x.pcap"
    path.write_bytes(gzip.compress(b"launch_ns,length\n10,60\n"))
    assert not capture.is_capture(path)
    assert schedule_file.read(path).launch.tolist() == [10]


@pytest.mark.parametrize("packing", [".gz", ".bz2", ".xz", ".zst"])
def test_packed_files_that_are_damaged_are_refused(tmp_path: Path, packing: str) -> None:
    if packing == ".zst" and shutil.which("zstd") is None:
        pytest.skip("zstd is not installed")
    path = tmp_path / "x"
    path.write_bytes(PACKERS[packing](CAPTURE)[:-9])
    with pytest.raises(Refused, match=str(path)):
        capture.read(path)


@pytest.mark.parametrize(
    "text",
    [
        "\ufefflaunch_ns,length,flow,sequence,retransmission\n10,60,a,7,1\n",
        "launch_ns, length, flow, sequence, retransmission\n10, 60, a, 7, 1\n",
        "launch_ns ,length ,flow ,sequence ,retransmission \n 10 ,60 ,a ,7 , 1 \n",
    ],
    ids=["byte order mark", "blanks behind commas", "blanks everywhere"],
)
def test_spreadsheets_marks_and_blanks_are_no_difference(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.csv").write_text(text, encoding="utf-8")
    found = schedule_file.read(tmp_path / "x.csv")
    assert (found.launch.tolist(), found.length.tolist(), found.flow) == ([10], [60], ("a",))
    assert (found.sequence.tolist(), found.retransmission.tolist()) == ([7], [True])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("launch_ns,length,retransmission\n1,60,false\n", "line 2: retransmission is 'false': write 0 or 1"),
        ("launch_ns,length,retransmission\n1,60,2\n", "line 2: retransmission is '2': write 0 or 1"),
        ("launch_ns,length\n1_0,60\n", "launch_ns is '1_0'"),
        ("launch_ns,length\n1,5,60\n", "more values than columns"),
        ("launch_ns,length,length\n1,5,60\n", "several columns are called length"),
        pytest.param("launch_ns,length\n" + "9" * 5000 + ",60\n", "launch_ns is '999", id="5000 digits"),
        ("launch_ns,length,sequence\n1,60,-3\n", "sequence is -3, outside"),
        (
            "time_ns,flow,sent_sequence,sent_length,retransmission,live\n1,0,5,100,0,yes\n",
            "line 2: live is 'yes': write 0 or 1",
        ),
    ],
)
def test_what_could_be_misread_is_refused(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises(Refused, match=says):
        schedule_file.read(tmp_path / "x.csv")


def test_sequence_numbers_go_on_beyond_32_bits(tmp_path: Path) -> None:
    """Whether they wrap in the file or not: both are the same bytes."""
    starts = [2**32 - 1000, 2**32, 2**32 + 1000]
    for name, numbers in (("wrapped", [start % 2**32 for start in starts]), ("plain", starts)):
        rows = "".join(f"{10 * at},1054,0,{number}\n" for at, number in enumerate(numbers))
        (tmp_path / name).write_text("launch_ns,length,flow,sequence\n" + rows)
        assert schedule_file.read(tmp_path / name).sequence.tolist() == starts


def test_flow_07_is_flow_7(tmp_path: Path) -> None:
    """A frame carries a number: two names of one would be one flow on the wire with two in the schedule."""
    (tmp_path / "x.csv").write_text("launch_ns,length,flow\n1,60,07\n2,60,7\n3,60,00\n")
    found = schedule_file.read(tmp_path / "x.csv")
    assert found.flow == ("7", "7", "0") and found.sequence.tolist() == [0, 1, 0]
