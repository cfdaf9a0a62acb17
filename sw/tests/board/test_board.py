# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`downbeat board` on a serial line behind which words stand where a board has its registers (RTL:
cocotb_tests/board)."""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path

import pytest
from downbeat_toe.board.bone import Bone, Serial
from downbeat_toe.board.command import app
from downbeat_toe.board.device import MAGIC, REGION, Board
from downbeat_toe.board.probes import parse
from downbeat_toe.gap import capture as captures
from downbeat_toe.refused import Refused
from typer.testing import CliRunner

from sw.tests.gap import synthetic

NAMES = [
    "boardMagic",
    "boardContents",
    *(f"boardName{i}" for i in range(4)),
    "boardTimeLow",
    "boardTimeHigh",
    "boardPorts",
    "phy0",
]
NAMES += ["captureRecordWords", "captureControl", "captureLevel", "captureData", "captureLost", "probeEntries"]
OFFSETS = {name: 4 * i for i, name in enumerate(NAMES)}
PROBES = int.from_bytes(b"prob")
FIELDS = {"enable": {"offset": 0, "width": 1}, "value": {"offset": 0, "width": 32, "reset": PROBES}}
REGISTERS = {name: {"offset": offset, "fields": FIELDS} for name, offset in OFFSETS.items()}


class Words:
    """LiteX's protocol on a pseudo terminal: reads and writes of words, `captureData` a queue."""

    def __init__(self) -> None:
        self.words = {OFFSETS["boardMagic"]: MAGIC, OFFSETS["boardContents"]: PROBES}
        self.queue: list[int] = []
        self.delay = 0.0  # seconds before the next word
        self._line, self._far = os.openpty()
        self.device = Path(os.ttyname(self._far))
        threading.Thread(target=self._serve, daemon=True).start()

    def set(self, name: str, value: int) -> None:
        self.words[OFFSETS[name]] = value

    def _take(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            data += os.read(self._line, count - len(data))
        return data

    def _serve(self) -> None:
        while True:
            command, count, *place = self._take(6)
            address = 4 * int.from_bytes(bytes(place), "big") - REGION
            for i in range(count):
                at = address + (4 * i if command in (1, 2) else 0)
                if command in (1, 3):
                    self.words[at] = int.from_bytes(self._take(4), "big")
                else:
                    time.sleep(self.delay)
                    self.delay = 0.0
                    os.write(self._line, self._word(at).to_bytes(4, "big"))

    def _word(self, at: int) -> int:
        if at == OFFSETS["captureData"]:
            word = self.queue.pop(0)
            self.set("captureLevel", len(self.queue) // 2)
            return word
        return self.words.get(at, 0)


@pytest.fixture
def far() -> Words:
    return Words()


@pytest.fixture
def build(tmp_path: Path) -> Path:
    (tmp_path / "probe_registers.json").write_text(json.dumps({"registers": REGISTERS}))
    return tmp_path


def record(number: int, stamp_ns: int, frame: bytes, causes: int = 0) -> list[int]:
    """As rtl/downbeat/board/CapturePort.scala lays it out."""
    head = frame[:64].ljust(64, b"\xee")
    words = [int.from_bytes(head[i : i + 4], "little") for i in range(0, 64, 4)]
    stamp = stamp_ns << 16
    return [*words, stamp & 0xFFFFFFFF, stamp >> 32, len(frame) | causes << 16, number]


def test_words_go_both_ways_in_requests_of_255_at_the_most(far: Words) -> None:
    bone = Bone(Serial(far.device))
    bone.write(REGION + 0x100, *range(1, 301))
    assert bone.read(REGION + 0x100, 300) == list(range(1, 301))


def test_a_record_is_head_stamp_and_verdict() -> None:
    frame = synthetic.probes(1)[0]
    good, bad = parse(record(5, 1_000_000_007, frame)), parse(record(6, 1, frame[:20], causes=0b010100))
    assert (good.number, good.stamp, good.length, good.head, good.wrong) == (
        5,
        1_000_000_007 << 16,
        100,
        frame[:64],
        (),
    )
    assert (bad.head, bad.wrong) == (frame[:20], ("runt", "badFcs"))


def test_a_capture_is_what_downbeat_gap_reads(far: Words, build: Path, tmp_path: Path) -> None:
    frames = synthetic.probes(3, length=200)
    for number, frame in enumerate(frames):
        far.queue += record(number, 10**9 + 5000 * number, frame, causes=16 if number == 1 else 0)
    far.set("captureRecordWords", 10)
    far.set("captureLevel", len(far.queue) // 2)
    file = tmp_path / "x.pcapng"
    arguments = ["capture", str(file), "--seconds", "0.2", "--device", str(far.device), "--build", str(build)]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert "2 frames; 1 damaged ones are not in it" in done.output
    found = captures.read(file).on(None)
    assert [(stamp, length, bytes(data)) for stamp, _, length, data in found.frames()] == [
        (10**9, 200, frames[0][:64]),
        (10**9 + 10_000, 200, frames[2][:64]),
    ]


def test_status_says_the_links_in_words(far: Words, build: Path) -> None:
    for i, letters in enumerate(("colo", "rlig", "ht-i", "9")):
        far.set(f"boardName{i}", int.from_bytes(letters.ljust(4, "\0").encode()))
    far.set("boardPorts", 1)
    far.set("phy0", 2)
    done = CliRunner().invoke(app, ["status", "--device", str(far.device), "--build", str(build)])
    assert "colorlight-i9" in done.output
    assert "port 0: refused: the other end does not offer 1000BASE-T full duplex" in done.output


def test_something_else_on_the_line_is_refused(far: Words, build: Path) -> None:
    far.set("boardMagic", 0)
    with pytest.raises(Refused, match="is not a Downbeat board"):
        Board.of_build(Serial(far.device), build)


def test_a_silent_line_is_refused(build: Path) -> None:
    line, far = os.openpty()
    with pytest.raises(Refused, match="does not answer"):
        Board.of_build(Serial(Path(os.ttyname(far)), time_limit=0.1), build)
    os.close(line)


def test_a_word_that_is_late_is_nobody_s(far: Words) -> None:
    """The reads after it have their own values."""
    bone = Bone(Serial(far.device, time_limit=0.2))
    bone.write(REGION, *range(100, 108))
    far.delay = 0.3
    with pytest.raises(Refused, match="the board does not answer"):
        bone.read(REGION)
    assert bone.read(REGION + 4, 7) == list(range(101, 108))


def test_a_line_that_goes_away_is_refused(build: Path) -> None:
    line, far = os.openpty()
    serial = Serial(Path(os.ttyname(far)), time_limit=5)
    os.close(far)
    threading.Timer(0.1, os.close, [line]).start()
    with pytest.raises(Refused, match="the serial device went away"):
        Board.of_build(serial, build)


def test_a_missing_device_and_a_missing_map_are_refused(far: Words, tmp_path: Path) -> None:
    with pytest.raises(Refused, match=r"none: no serial device \(No such file or directory\)"):
        Serial(tmp_path / "none")
    with pytest.raises(Refused, match="make bitstream writes it"):
        Board.of_build(Serial(far.device), tmp_path)


def test_a_board_with_something_else_inside_than_the_build_is_refused(far: Words, build: Path) -> None:
    far.set("boardContents", int.from_bytes(b"traf"))
    with pytest.raises(Refused, match="the board has 'traf' inside, the build 'prob'"):
        Board.of_build(Serial(far.device), build)
