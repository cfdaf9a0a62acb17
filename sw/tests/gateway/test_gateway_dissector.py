# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Wireshark's dissector reads what the protocol's page says; tshark is the judge, scapy writes the capture."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from downbeat_toe.gateway import wire
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.utils import wrpcap

from sw.tests.gateway.virtual import SITE_KEY

ROOT = Path(__file__).resolve().parents[3]
PREFIX = "192.0.2.0/24"


def fields(tmp_path: Path, datagrams: list[bytes], *names: str) -> list[list[str]]:
    """For each datagram the values of the fields, as tshark prints them."""
    if shutil.which("tshark") is None:
        pytest.skip("tshark is not installed: apt-get install tshark")
    file = tmp_path / "capture.pcap"
    wrpcap(str(file), [Ether() / IP(dst="192.0.2.9") / UDP(sport=4000, dport=4780) / each for each in datagrams])
    command = ["tshark", "-X", f"lua_script:{ROOT}/sw/gateway/tools/downbeat.lua", "-r", str(file), "-T", "fields"]
    done = subprocess.run(
        [*command, *(f"-edownbeat.{name}" for name in names)], text=True, capture_output=True, check=False
    )
    assert done.returncode == 0 and "error" not in done.stderr.lower(), done.stderr
    return [line.split("\t") for line in done.stdout.splitlines()]


def test_each_message_shows_its_fields_and_what_is_none_is_malformed(tmp_path: Path) -> None:
    host = wire.Host(SITE_KEY, 258, key_id=3, session=0x0102030405060708, stamp=77)
    answer = wire.RESPONSE_ITEM.pack(
        6, 48, 0, 0, bytes.fromhex("20010db80001").ljust(16, b"\0"), 9000, 1, 2, 3, 0, 5, *range(1, 8)
    )
    datagrams = [
        host.hello(0xAB),
        host.message(wire.WELCOME, struct.pack(">QQ", 0xAB, 0xCD)),
        host.report(wire.transfer(PREFIX, 30_000, 0.25, 1.5), wire.state("2001:db8:1::/48", 3, 17_520, 29_200)),
        host.query(PREFIX, "10.0.0.0/8"),
        host.message(wire.RESPONSE, answer),
        host.message(wire.REFUSAL, struct.pack(">Q", 15)),
        host.message(wire.RELAY, struct.pack(">I", 250) + wire.saved(PREFIX, 9e4, 0.5)),
        host.message(wire.CHALLENGE, struct.pack(">QQ", 0xAB, 0xEF)),
    ]
    names = ("type", "reporter", "session", "sequence", "prefix", "wrong")
    numbers = ("window", "rtt", "steady", "oldest", "saved_window", "cause", "age", "lifetime", "cookie")
    cut = host.report(wire.transfer(PREFIX, 1))[:90]
    odd = [cut, b"\0" * 60, host.message(wire.REPORT, b"123"), host.message(9, b"12345678")]
    rows = fields(tmp_path, [*datagrams, *odd], *names, *numbers)  # one run: tshark takes seconds to start
    whole, rest = rows[: len(datagrams)], rows[len(datagrams) :]
    assert whole[0][:4] == ["1", "258", "0x0000000000000000", "0"]
    assert [row[2] for row in whole[1:]] == ["0x0102030405060708"] * 7 and [row[0] for row in whole] == [*"12345678"]
    prefixes = ["", "", f"{PREFIX},2001:db8:1::/48", f"{PREFIX},10.0.0.0/8", "2001:db8:1::/48", "", PREFIX, ""]
    assert [row[4] for row in whole] == prefixes
    assert all(row[5] == "" for row in whole), "no message of the page is malformed"
    seen = [row[6:] for row in whole]
    assert seen[2][:4] == ["30000", "0.25", "3", "29200"]
    assert seen[4] == ["1", "2", "", "4", "6", "", "", "9000", ""]
    assert seen[0][8] == "0x0000000000000000" and seen[7][8] == "0x00000000000000ef"
    assert seen[5][5] == "15" and seen[6][6] == "250" and seen[6][4] == "90000"
    assert [row[1] for row in rest] == ["258", "", "258", "258"], "zeros are somebody else's"
    assert [bool(row[5]) for row in rest] == [True, False, True, True]
