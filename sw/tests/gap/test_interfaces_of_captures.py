# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Captures of several interfaces, with steps, link types and FCS of their own: each is judged by itself."""

from __future__ import annotations

import struct

import pytest
from downbeat_toe.gap import capture, frames
from downbeat_toe.refused import Refused

from sw.tests.gap import synthetic
from sw.tests.gap.synthetic import Port, Stamped

RADIO = 105  # IEEE 802.11


def probes(count: int, length: int = 100) -> list[Stamped]:
    return [(1000 * number, frame) for number, frame in enumerate(synthetic.probes(count, length))]


def chosen(data: bytes, name: str | None, strict: bool = False) -> capture.Capture:
    return capture.parse("x.pcapng", data).on(name, strict)


def test_only_the_chosen_interface_is_judged() -> None:
    fine, coarse, radio = Port("fine", probes(3)), Port("coarse", probes(2), b""), Port("radio", probes(1), link=RADIO)
    data = synthetic.ports([fine, coarse, radio])
    assert len(chosen(data, "fine", strict=True).packets) == 3
    assert chosen(data, "coarse").interface.step == 1000
    with pytest.raises(Refused, match="coarse have microseconds"):
        chosen(data, "coarse", strict=True)
    with pytest.raises(Refused, match="radio has link type 105"):
        chosen(data, "radio")


def test_interfaces_of_one_name_are_chosen_by_number_and_never_joined() -> None:
    data = synthetic.ports([Port("eth0", probes(3)), Port("eth0", probes(2))])
    for name in (None, "eth0"):
        with pytest.raises(Refused, match="#0 eth0, #1 eth0"):
            chosen(data, name)
    assert [len(chosen(data, name).packets) for name in ("#0", "#1", "0", "1")] == [3, 2, 3, 2]
    twice = synthetic.ports([Port("eth0", probes(3))]) * 2  # two sections, as cat joins files
    with pytest.raises(Refused, match=r"several interfaces have the name eth0.*--interface 0"):
        chosen(twice, "eth0")


@pytest.mark.parametrize("order", ["<", ">"])
def test_packet_blocks_of_type_2_are_read(order: str) -> None:
    """Its interface has 16 bits; the next 16 count drops."""
    data = synthetic.ports([Port("a", probes(1)), Port("b", probes(4), old=True)], order)
    found = frames.select("probe", chosen(data, "b").frames())
    assert found.sequence.tolist() == [0, 1, 2, 3]
    assert (found.stamp - synthetic.EPOCH).tolist() == [0, 1000, 2000, 3000]


@pytest.mark.parametrize(
    ("resolution", "step"),
    [(b"\x09", 1), (b"", 1000), (b"\x06", 1000), (b"\x03", 10**6), (bytes([0x80 | 20]), 954), (bytes([0x80 | 32]), 1)],
    ids=["10^-9", "none", "10^-6", "10^-3", "2^-20", "2^-32"],
)
def test_the_declared_step_is_known(resolution: bytes, step: int) -> None:
    """draft-ietf-opsawg-pcapng 4.2, if_tsresol: 10^-v, or with the highest bit 2^-v seconds; rounded up to whole ns."""
    assert chosen(synthetic.ports([Port("eth0", probes(2), resolution)]), None).interface.step == step


@pytest.mark.parametrize(
    ("options", "packet_options"),
    [
        ([(13, bytes([32]))], []),  # if_fcslen in bits, as the draft has it
        ([(13, bytes([4]))], []),  # in bytes, as programs write it
        ([], [(2, struct.pack("<I", 4 << 5))]),  # epb_flags, bits 5 to 8: bytes
        ([(13, bytes([16]))], [(2, struct.pack("<I", 4 << 5))]),  # the packet's word counts
    ],
    ids=["bits", "bytes", "packet", "both"],
)
def test_a_frame_check_sequence_is_no_part_of_the_frame(
    options: list[tuple[int, bytes]], packet_options: list[tuple[int, bytes]]
) -> None:
    port = Port("eth0", probes(2, 104), options=options, packet_options=packet_options)
    assert frames.select("probe", chosen(synthetic.ports([port]), None).frames()).length.tolist() == [100, 100]


@pytest.mark.parametrize(("field", "length"), [(0x24000001, 100), (0x14000001, 102), (0x20000001, 104), (1, 104)])
def test_the_pcap_header_says_how_long_an_fcs_is(field: int, length: int) -> None:
    """draft-ietf-opsawg-pcap, 4: 16-bit words in the upper four bits, if bit 0x04000000 is set."""
    read = capture.parse("x.pcap", synthetic.pcap(probes(1, 104), link=field))
    assert frames.select("probe", read.on(None).frames()).length.tolist() == [length]


def test_pcap_of_microseconds_has_the_right_stamps() -> None:
    read = capture.parse("x.pcap", synthetic.pcap(probes(3), magic=0xA1B2C3D4)).on(None)
    assert [packet.stamp - synthetic.EPOCH for packet in read.packets] == [0, 1000, 2000]
    assert read.interface.step == 1000
