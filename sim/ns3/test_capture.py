# SPDX-License-Identifier: BSD-2-Clause-Patent
"""make sim PCAP=file: what others read in the capture, and that it is what happened."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether
from scapy.layers.ppp import PPP
from scapy.utils import PcapNgReader

from sim.ns3.test_make_sim import make_sim, passed

INBOUND, OUTBOUND = 1, 2  # epb_flags, bits 1 to 0
TAPS = ("sender", "bottleneck-in", "bottleneck-out", "receiver")
SEED = int(os.environ.get("SEED", "1"))
SIZE = 150_000
LINK_DELAY = 1_000_000  # ns: 5 % of half of 40 ms
NANOSECONDS_PER_BYTE = 8
BEHIND_SFD = 1 + 4  # bytes of the SFD itself and of the FCS


@dataclass(frozen=True)
class Run:
    file: Path
    contents: bytes
    report: dict[str, Any]
    packets: Sequence[Any]

    def at(self, tap: str, direction: int) -> list[Any]:
        return [packet for packet in self.packets if packet.sniffed_on == tap and packet.direction == direction]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A short transfer with losses of both kinds."""
    place = tmp_path_factory.mktemp("capture")
    contents = bytes(range(256)) * (SIZE // 256)
    (place / "sent").write_bytes(contents)
    file = place / "path.pcapng"
    report = passed(place, file=place / "sent", loss="0.02", buffer="5kB", seed=SEED, compare=0, pcap=file)
    assert report["queue_drops"] > 0 and report["random_losses"] > 0
    return Run(file, contents, report, list(PcapNgReader(str(file))))


def data(packets: Sequence[Any]) -> list[tuple[int, bytes]]:
    """Sequence number and payload of each segment with data."""
    found = []
    for packet in packets:
        ip, tcp = packet[IP], packet[TCP]
        length = ip.len - 4 * ip.ihl - 4 * tcp.dataofs
        if length:
            found.append((tcp.seq, bytes(tcp.payload)[:length]))
    return found


def test_each_tap_is_an_interface_that_says_what_it_is(run: Run) -> None:
    reader = PcapNgReader(str(run.file))
    reader.read_packet()
    assert [interface[0] for interface in reader.interfaces] == [1, 9, 9, 9]  # Ethernet, PPP
    options = [interface[2] for interface in reader.interfaces]
    assert [option["tsresol"] for option in options] == [10**9] * 4
    assert {(packet.sniffed_on, type(packet)) for packet in run.packets} == {
        (TAPS[0], Ether),
        *((tap, PPP) for tap in TAPS[1:]),
    }
    texts = list(option_texts(run.file))
    assert len(texts) == 4 and all("name" in text and "description" in text for text in texts)


def option_texts(file: Path) -> list[dict[str, str]]:
    """Names and descriptions of the interface blocks, read by the format's definition."""
    contents, at, found = file.read_bytes(), 0, []
    while at < len(contents):
        kind, length = struct.unpack_from("<II", contents, at)
        if kind == 1:
            found.append(
                {
                    {2: "name", 3: "description"}[code]: value.decode()
                    for code, value in options(contents[at + 16 : at + length - 4])
                    if code in (2, 3)
                }
            )
        assert struct.unpack_from("<I", contents, at + length - 4) == (length,)
        at += length
    return found


def options(block: bytes) -> list[tuple[int, bytes]]:
    found, at = [], 0
    while at < len(block):
        code, length = struct.unpack_from("<HH", block, at)
        found.append((code, block[at + 4 : at + 4 + length]))
        at += 4 + (length + 3) // 4 * 4
    assert found[-1] == (0, b"")
    return found


def test_the_section_says_which_instant_is_stamped_and_that_the_fcs_is_absent(run: Run) -> None:
    contents = run.file.read_bytes()
    (length,) = struct.unpack_from("<I", contents, 4)
    comment = dict(options(contents[24 : length - 4]))[1].decode()
    assert "SFD" in comment and "No frame has its FCS" in comment


def test_every_checksum_is_right(run: Run) -> None:
    for packet in run.packets:
        again = packet[IP].copy()
        del again[IP].chksum, again[TCP].chksum
        again = IP(bytes(again))
        assert (packet[IP].chksum, packet[TCP].chksum) == (again[IP].chksum, again[TCP].chksum)
        assert "A" in packet[TCP].flags or packet[TCP].ack == 0


def test_what_goes_in_at_one_tap_comes_out_at_the_next_but_for_what_was_lost(run: Run) -> None:
    sender, entering, leaving, receiver = (
        run.at(tap, direction) for tap, direction in zip(TAPS, (OUTBOUND, OUTBOUND, INBOUND, INBOUND), strict=True)
    )
    assert data(sender) == data(entering) and data(leaving) == data(receiver)
    lost = run.report["queue_drops"] + run.report["random_losses"]
    assert len(entering) - len(leaving) - lost in (0, 1)  # the run ends while the core's last ACK is on its way
    for tap in TAPS[:-1]:  # nothing is lost on the way back
        back = INBOUND if tap != "bottleneck-out" else OUTBOUND
        assert len(run.at(tap, back)) == len(run.at("receiver", OUTBOUND))


def test_the_receiver_s_tap_carries_the_file(run: Run) -> None:
    segments = sorted(data(run.at("receiver", INBOUND)), key=lambda segment: segment[0])
    first, stream = segments[0][0], bytearray()
    for sequence, payload in segments:
        place = (sequence - first) % 2**32
        assert place <= len(stream)
        stream[place : place + len(payload)] = payload
    assert stream == run.contents


def test_times_are_nanoseconds_at_the_sfd(run: Run) -> None:
    """A frame is at router A when its last bit and the link's delay have passed since its SFD."""
    pairs = list(
        zip(run.at("sender", OUTBOUND), run.at("bottleneck-in", OUTBOUND), strict=False)
    )  # the last may be on its way
    assert len(pairs) >= len(run.at("sender", OUTBOUND)) - 1
    for sent, entered in pairs:
        expected = (len(sent) + BEHIND_SFD) * NANOSECONDS_PER_BYTE + LINK_DELAY
        assert round((entered.time - sent.time) * 10**9) == expected
    times = [packet.time for packet in run.packets]
    assert times == sorted(times)


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_tshark_finds_no_fault(run: Run) -> None:
    """Each interface by itself, since a segment passes all of them."""

    def tshark(*arguments: str) -> str:
        command = ["tshark", "-r", str(run.file), "-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]
        done = subprocess.run([*command, *arguments], text=True, capture_output=True, timeout=120, check=True)
        said = [line for line in done.stderr.splitlines() if not line.startswith("Running as user")]
        assert not said, said
        return done.stdout

    statuses = tshark("-T", "fields", "-e", "ip.checksum.status", "-e", "tcp.checksum.status").splitlines()
    assert statuses == ["1\t1"] * len(run.packets)
    alone = ("-o", "tcp.analyze_sequence_numbers:FALSE")
    for fault in (
        "_ws.malformed",
        "_ws.expert.severity >= 0x600000",
        "_ws.expert.group == 0x01000000",
    ):  # warnings; checksums
        assert tshark(*alone, "-Y", fault) == ""


def test_a_capture_that_cannot_be_written_is_explained(tmp_path: Path) -> None:
    done = make_sim(tmp_path, size="10kB", pcap=tmp_path / "nowhere" / "x.pcapng")
    assert done.returncode == 2 and "no such directory" in " ".join((done.stdout + done.stderr).split())
