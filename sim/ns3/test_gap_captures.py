# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`downbeat gap` on captures of the simulated core, and its reading of captures against scapy's."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from downbeat_toe import schedule_file
from downbeat_toe.gap import capture, frames, probe
from downbeat_toe.refused import Refused
from scapy.layers.inet import IP, TCP, UDP, IPOption_NOP
from scapy.layers.l2 import Dot1Q, Ether
from scapy.layers.ppp import PPP
from scapy.packet import Packet, Padding, Raw
from scapy.utils import PcapNgReader, PcapNgWriter, PcapWriter

from sim.ns3.test_make_sim import passed

BOTTLENECK = 1502 * 8 * 50  # ns: 1,500 bytes and PPP's two at 20 Mb/s
FULL = 1514  # bytes
IP_AND_TCP = 40


def segments(path: Path, link: Packet) -> list[tuple[str, int, int]]:
    """Fields that `downbeat gap` reads of one packet, through scapy's own pcap writer."""
    with PcapWriter(str(path), nano=True, linktype={Ether: 1, PPP: 9, IP: 101}[type(link)]) as file:
        file.write(link)
    found = frames.select("tcp", capture.read(path).on(None).frames())
    return list(zip(found.flow, found.sequence.tolist(), found.length.tolist(), strict=True))


PLAIN = IP(src="10.1.2.3", dst="10.4.5.6") / TCP(sport=1234, dport=80, seq=0xFEDCBA98) / Raw(b"x" * 10)
OPTIONS = IP(src="10.1.2.3", dst="10.4.5.6", options=[IPOption_NOP()] * 4) / TCP(
    sport=1234, dport=80, seq=0xFEDCBA98, options=[("Timestamp", (1, 2))]
)


@pytest.mark.parametrize(
    "packet",
    [
        Ether() / PLAIN,
        Ether() / Dot1Q(vlan=7) / PLAIN,
        Ether(type=0x88A8) / Dot1Q(vlan=7) / Dot1Q(vlan=9) / PLAIN,
        PPP() / PLAIN,
        PLAIN,
        Ether() / OPTIONS / Raw(b"x" * 10),
    ],
)
def test_a_segment_is_found_under_every_header(tmp_path: Path, packet: Packet) -> None:
    assert segments(tmp_path / "x.pcap", packet) == [("10.1.2.3:1234-10.4.5.6:80", 0xFEDCBA98, 54 + 10)]


@pytest.mark.parametrize(
    "packet",
    [
        Ether() / IP() / TCP(),
        Ether() / IP() / TCP() / Padding(bytes(6)),
        Ether() / IP() / UDP() / Raw(b"x" * 10),
        Ether() / IP(frag=5) / Raw(b"x" * 40),
        Ether(type=probe.ETHER_TYPE) / Raw(b"x" * 40),
    ],
)
def test_what_is_no_segment_with_data_is_none(tmp_path: Path, packet: Packet) -> None:
    assert segments(tmp_path / "x.pcap", packet) == []


def test_a_frame_of_replay_is_what_the_page_says() -> None:
    frame = probe.Frame(bytes([2, 0, 0, 0, 0, 9]), bytes([2, 0, 0, 0, 0, 1]), 70)
    sent = Ether(bytes(frame.number(3, 5, 1000)))
    assert (sent.dst, sent.src, sent.type, len(sent)) == ("02:00:00:00:00:09", "02:00:00:00:00:01", 0x88B5, 70)
    assert bytes(sent.payload) == b"DnBt" + bytes([0, 0, 0, 3, *[0] * 7, 5, *[0] * 6, 3, 0xE8]) + bytes(32)


def test_stamps_of_microseconds_have_their_step_and_are_refused_if_strict(tmp_path: Path) -> None:
    """scapy's writer of pcapng stamps in microseconds by default."""
    with PcapNgWriter(str(tmp_path / "x.pcapng")) as file:
        file.write(Ether() / PLAIN)
    read = capture.read(tmp_path / "x.pcapng")
    assert read.on(None).interface.step == 1000
    with pytest.raises(Refused, match=r"microseconds.*--strict.*--time-stamp-precision nano"):
        read.on(None, strict=True)


@pytest.fixture(scope="module")
def sim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short transfer of the core over ns-3, captured, with a loss or two."""
    place = tmp_path_factory.mktemp("gap")
    passed(place, size="300kB", loss="0.01", seed=3, compare=0, pcap=place / "path.pcapng")
    return place


def gap(place: Path, *options: str) -> dict[str, Any]:
    command = [
        sys.executable,
        "-m",
        "downbeat_toe",
        "gap",
        str(place / "path.pcapng"),
        "--reports",
        str(place),
        *options,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    data: dict[str, Any] = json.loads((place / "gap-capture.json").read_text())
    return data


def test_every_segment_of_the_core_s_record_is_on_its_wire(sim: Path) -> None:
    """None leaves before its grant, by the same clock."""
    data = gap(sim, "--schedule", str(sim / "sim.csv"), "--interface", "sender", "--common-time")
    assert data["frames"]["lost"] == 0 and data["frames"]["fine"] > 150 and data["frames"]["unscheduled"] == 0
    assert data["delay_ns"]["minimum"] > 0 and data["gaps"]["disturbed"]["lost"] == 0
    report = json.loads((sim / "sim.json").read_text())
    assert report["retransmissions"] > 0
    planned = schedule_file.read(sim / "sim.csv")
    assert int(planned.retransmission.sum()) == report["retransmissions"]
    assert data["frames"]["retransmitted"] >= report["retransmissions"]


def test_an_empty_link_keeps_the_gaps(sim: Path) -> None:
    """From the core's SFD to ns-3's last bit a full frame always takes the same time: gaps between full frames are
    equal."""
    path = str(sim / "path.pcapng")
    data = gap(sim, "--schedule", path, "--schedule-interface", "sender", "--interface", "bottleneck-in")
    assert data["gap_error_ns"]["p5"] == data["gap_error_ns"]["p95"] == 0
    assert abs(data["drift"]["ppb"]) < 1


def test_the_bottleneck_sets_the_gap_and_its_losses_are_seen(sim: Path) -> None:
    """Behind it full frames that queued are as far apart as its rate has them."""
    with PcapNgReader(str(sim / "path.pcapng")) as packets:
        arrived = [packet for packet in packets if packet.sniffed_on == "receiver" and packet.direction == 1]
    count = sum(packet[IP].len > IP_AND_TCP for packet in arrived)
    path = str(sim / "path.pcapng")
    options = ("--schedule", path, "--schedule-interface", "sender", "--interface", "receiver", "--common-time")
    data = gap(sim, *options)
    assert data["frames"]["lost"] + data["frames"]["retransmitted"] > 0
    assert data["frames"]["fine"] <= count
    assert data["gap_error_ns"]["p50"] == BOTTLENECK - (FULL + 24) * 8
