# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`downbeat board traffic` on a line behind which words stand at the addresses that the RTL gives its registers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import downbeat_toe.board.traffic_command as program
import pytest
from downbeat_toe.board.command import app
from downbeat_toe.board.device import MAGIC, REGION
from downbeat_toe.board.traffic import TrafficBoard
from typer.testing import CliRunner

BUILD = Path(__file__).resolve().parents[3] / "build" / "rtl"
FILES = {name: json.loads((BUILD / f"{name}.json").read_text()) for name in ("traffic_registers", "core_registers")}
LAYOUT = json.loads((BUILD / "downbeat_layout.json").read_text())


class Words:
    """A Line to registers that keep what they are given; `written` has the writes in order, by name."""

    def __init__(self) -> None:
        self.names = {0 + int(place["offset"]): name for name, place in FILES["core_registers"]["registers"].items()}
        self.names |= {
            REGION + int(place["offset"]): name for name, place in FILES["traffic_registers"]["registers"].items()
        }
        self.words = dict.fromkeys(self.names.values(), 0) | {
            "boardMagic": MAGIC,
            "boardContents": int.from_bytes(b"traf"),
        }
        self.written: list[tuple[str, int]] = []

    def exchange(self, request: bytes, answer: int) -> bytes:
        address = 4 * int.from_bytes(request[2:6])
        if answer:
            return b"".join(self.words[self.names[address + at]].to_bytes(4, "big") for at in range(0, answer, 4))
        for at in range(6, len(request), 4):
            name, word = self.names[address + at - 6], int.from_bytes(request[at : at + 4])
            self.words[name] = word
            self.written.append((name, word))
        return b""


@pytest.fixture
def far(monkeypatch: pytest.MonkeyPatch) -> Words:
    words = Words()
    monkeypatch.setattr(program, "Serial", lambda _: words)
    return words


def run(*words: str, status: int = 0) -> str:
    done = CliRunner().invoke(app, ["traffic", *words, "--build", str(BUILD)])
    assert done.exit_code == status, done.output
    return done.output


def test_the_board_s_core_keeps_no_records() -> None:
    registers = FILES["core_registers"]["registers"]
    assert registers["logCapacity"]["fields"]["value"]["reset"] == 0
    assert not [name for name in registers if name.startswith(("log", "record")) and name != "logCapacity"]


def test_addresses_are_given_while_the_core_rests(far: Words) -> None:
    run("address", "02:00:00:00:00:0a", "10.0.0.1/24", "--gateway", "10.0.0.254")
    assert far.written[0] == ("control", 0) and far.written[-1] == ("control", 1)
    given = dict(far.written)
    assert (given["localMacHigh"], given["localMacLow"]) == (0x0200, 0x0000000A)
    assert (given["localIp"], given["localNetmask"], given["localGateway"]) == (0x0A000001, 0xFFFFFF00, 0x0A0000FE)


def test_an_open_command_has_its_schedule_and_is_sent_last(far: Words) -> None:
    run("open", "10.0.0.2", "5001", "--startup", "paced", "--argument", "n=10, gap=700us", "--spacing", "16")
    given = dict(far.written)
    assert far.written[-1][0] == "commandSend"
    assert given["command_kind"] == LAYOUT["enums"]["CommandKind"]["open"]
    assert (given["command_remoteIp"], given["command_remotePort"]) == (0x0A000002, 5001)
    assert given["command_parameters_startup"] == LAYOUT["policies"]["StartupPolicy"]["paced"]
    words = [given[f"command_parameters_startupArgument{part}"] for part in ("", "_1", "_2")]
    assert sum(word << 32 * part for part, word in enumerate(words)) == 10 | (700_000 << 16) << 16
    assert (given["command_parameters_spacing"], given["command_parameters_spacing_1"]) == (0, 16)


def test_a_listen_command_names_its_port(far: Words) -> None:
    run("listen", "80")
    given = dict(far.written)
    assert given["command_kind"] == LAYOUT["enums"]["CommandKind"]["listen"]
    assert given["command_localPort"] == 80


def test_a_supply_is_forty_bits_and_may_close(far: Words) -> None:
    run("supply", "3", str(5 << 32 | 7), "--close")
    assert far.written == [("supplyFlow", 3), ("supplyBytes", 7), ("supply", 5 | 1 << 8)]


def test_flows_show_what_is_in_flight(far: Words) -> None:
    far.words |= {"flow_known": 1, "flow_state": LAYOUT["enums"]["TcpState"]["established"]}
    far.words |= {"flow_handed_value": 100, "flow_acknowledged_value": 0xFFFFFFF0, "flow_supply_high": 1}
    said = run("flows").splitlines()
    assert said[0] == "flow 0: established, 116 bytes in flight, 4,294,967,296 to send"
    assert len(said) == LAYOUT["numbers"]["flows"] + 1


def test_counters_are_those_that_counted(far: Words) -> None:
    far.words["counter_mac_receive_badFcs"] = 1234
    assert run("counters").split() == ["mac_receive_badFcs", "1,234"]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["address", "02:00:00:00:01", "10.0.0.1/24"], "is not a MAC address"),
        (["address", "02:00:00:00:00:01", "10.0.0.300/24"], "write 10.0.0.1/24"),
        (["open", "10.0.0.2", "5001", "--startup", "tango"], "no congestion policy 'tango'"),
        (["open", "10.0.0.2", "5001", "--startup", "paced", "--argument", "n=0"], "out of range"),
        (["supply", "999", "1"], "from 0 on"),
    ],
)
def test_what_cannot_be_is_refused_in_a_line(far: Words, words: list[str], reason: str) -> None:
    assert reason in run(*words, status=2)
    assert not far.written


def test_a_refusal_of_the_core_is_reported(far: Words, monkeypatch: pytest.MonkeyPatch) -> None:
    reasons: dict[str, Any] = LAYOUT["enums"]["CloseReason"]
    refusals = iter([(0, "none"), (1, "unreachable")])
    assert "unreachable" in reasons
    monkeypatch.setattr(TrafficBoard, "refusals", lambda _: next(refusals))
    assert "the core refused the connection: unreachable" in run("open", "10.0.0.2", "5001", status=2)


def test_a_missing_build_is_reported(far: Words, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["traffic", "flows", "--build", str(tmp_path)])
    assert done.exit_code == 2 and "make bitstream writes it, or name another (--build)" in done.output
