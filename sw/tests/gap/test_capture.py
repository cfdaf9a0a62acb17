# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Captures: exact stamps from every form of the two formats, and a sentence for whatever is wrong with one."""

from __future__ import annotations

import os
import random

import pytest
from downbeat_toe.gap import capture, frames, headers
from downbeat_toe.refused import Refused

from sw.tests.gap import synthetic
from sw.tests.gap.synthetic import EPOCH, Stamped

SEED = int(os.environ.get("SEED", "1"))
NANOSECONDS = b"\x09"
STAMPS = [0, 1, 999_999_999, 1_000_000_000, 1_000_000_007]  # ns


def stamped(stamps: list[int]) -> list[Stamped]:
    return list(zip(stamps, synthetic.probes(len(stamps)), strict=True))


def read(data: bytes, interface: str | None = None) -> frames.Frames:
    return frames.select("probe", capture.parse("x.pcap", data).on(interface).frames()).in_order("x.pcap")


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("form", ["pcap", "pcapng"])
def test_stamps_are_exact_to_the_nanosecond(form: str, order: str) -> None:
    data = (
        synthetic.pcap(stamped(STAMPS), order=order)
        if form == "pcap"
        else synthetic.pcapng([("eth0", NANOSECONDS, stamped(STAMPS))], order)
    )
    found = read(data)
    assert (found.stamp - EPOCH).tolist() == STAMPS
    assert found.sequence.tolist() == [0, 1, 2, 3, 4] and set(found.length.tolist()) == {100}


def test_stamps_in_powers_of_two_are_cut_to_a_nanosecond() -> None:
    found = read(synthetic.pcapng([("eth0", bytes([0x80 | 32]), stamped(STAMPS))]))
    assert all(0 <= wanted - there <= 1 for wanted, there in zip(STAMPS, (found.stamp - EPOCH).tolist(), strict=True))


def test_an_interface_is_chosen_by_name() -> None:
    data = synthetic.pcapng([("here", NANOSECONDS, stamped([5, 6])), ("there", NANOSECONDS, stamped([7, 8, 9]))])
    assert len(read(data, "there")) == 3
    with pytest.raises(Refused, match=r"several interfaces.*--interface.*here, there"):
        read(data)
    with pytest.raises(Refused, match="no packet of an interface nowhere; there are here, there"):
        read(data, "nowhere")


WHOLE = synthetic.pcapng([("eth0", NANOSECONDS, stamped([0]))])
WRONG = {
    "two lengths of a block": (WHOLE[:-4] + b"\x88\0\0\0", "whose two lengths differ; capture again"),
    "a block that is too short": (WHOLE + b"\x06\0\0\0\x08\0\0\0", "a block of 8 bytes"),
    "a packet of an unknown interface": (synthetic.pcapng([]) + WHOLE[-132:], "of interface 0"),
    "no byte order": (WHOLE[:8] + bytes(4) + WHOLE[12:], "without byte order"),
    "no stamp": (WHOLE + b"\x03\0\0\0\x10\0\0\0\0\0\0\0\x10\0\0\0", "packet 2 has no time stamp"),
    "an option beyond its block": (WHOLE[: 28 + 16 + 2] + b"\xff" + WHOLE[28 + 16 + 3 :], "longer than its block"),
    "no nanoseconds": (synthetic.pcap([])[:24] + b"\xff" * 16, "units behind its second; capture again"),
    "another link": (synthetic.pcap(stamped([0]), link=105), "link type 105; Ethernet"),
    "back": (
        synthetic.pcap(stamped([5_000, 2_000])),
        "frame 2 of flow 0 is stamped 3000 ns before.*slewed.*reordercap",
    ),
    "empty": (b"", "cut off at byte 0, behind 0 whole packets"),
    "text": (b"launch_ns,length\n", "neither pcap nor pcapng"),
    "second of two seconds": (synthetic.pcap(stamped([0]))[:28] + b"\xff" * 4, "cut off"),
    "no packet": (synthetic.pcap([]), "no packet in it"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_with_what_to_do(name: str) -> None:
    data, says = WRONG[name]
    with pytest.raises(Refused, match=says):
        read(data)


@pytest.mark.parametrize("form", ["pcap", "pcapng"])
def test_every_prefix_is_read_whole_or_said_to_be_cut_off(form: str) -> None:
    stamps = [0, 10, 20]
    data = (
        synthetic.pcap(stamped(stamps))
        if form == "pcap"
        else synthetic.pcapng([("eth0", NANOSECONDS, stamped(stamps))])
    )
    clean = 0
    for length in range(len(data) + 1):
        try:
            packets = capture.parse("x.pcap", data[:length]).packets
        except Refused as refused:
            said = str(refused)
            cut = f"cut off at byte {length}, behind" in said and "editcap" in said
            if not cut:
                pytest.fail(f"{length} bytes: {said}")
        else:
            clean += 1
            assert [packet.stamp - EPOCH for packet in packets] == stamps[: len(packets)]
    # Where a packet or, in pcapng, a block has just ended.
    assert clean == (4 if form == "pcap" else 5)


@pytest.mark.parametrize("form", ["pcap", "pcapng"])
def test_damage_of_any_kind_is_refused_or_harmless(form: str) -> None:
    print(f"SEED={SEED}")
    draw = random.Random(SEED)
    data = (
        synthetic.pcap(stamped([0, 10, 20]))
        if form == "pcap"
        else synthetic.pcapng([("eth0", NANOSECONDS, stamped([0, 10])), ("eth1", b"", stamped([5]))])
    )
    refused = 0
    for _ in range(3000):
        damaged = bytearray(data)
        for _ in range(draw.randint(1, 4)):
            damaged[draw.randrange(len(damaged))] = draw.choice([0, 1, 0x7F, 0x80, 0xFF, draw.randrange(256)])
        try:
            seen = capture.parse("x.pcap", bytes(damaged)).on("eth0" if form == "pcapng" else None)
            frames.select("probe", seen.frames())
            frames.select("tcp", seen.frames())
        except Refused:
            refused += 1
    assert 0 < refused < 3000


def test_packets_of_every_shape_are_looked_at_without_a_fault() -> None:
    """Headers cut anywhere, and bytes changed anywhere, in each kind of link."""
    print(f"SEED={SEED}")
    draw = random.Random(SEED)
    whole = synthetic.segment(1000, 100)
    assert frames.select("tcp", [(0, headers.ETHERNET, len(whole), memoryview(whole))]).sequence.tolist() == [1000]
    for length in range(len(whole)):
        for link in headers.LINKS:
            frames.select("tcp", [(0, link, length, memoryview(whole[:length]))])
            frames.select("probe", [(0, link, length, memoryview(whole[:length]))])
    for _ in range(3000):
        damaged = bytearray(whole)
        damaged[draw.randrange(60)] = draw.randrange(256)
        for link in headers.LINKS:
            frames.select("tcp", [(0, link, len(damaged), memoryview(bytes(damaged)))])
