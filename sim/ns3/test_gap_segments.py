# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Segments under every header that captures have, made by scapy; and frames that segmentation offload merged."""

from __future__ import annotations

import pytest
from downbeat_toe.gap import frames, planning
from downbeat_toe.gap.headers import ETHERNET, IPV6, RAW_IP, SLL, SLL2
from downbeat_toe.refused import Refused
from scapy.contrib.mpls import MPLS
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment, IPv6ExtHdrHopByHop
from scapy.layers.l2 import ARP, CookedLinux, CookedLinuxV2, Dot1Q, Ether
from scapy.layers.ppp import PPP, PPPoE
from scapy.packet import Packet, Raw

NAME, NAME6 = "10.1.2.3:1234-10.4.5.6:80", "2001:db8::1.1234-2001:db8::2.80"
DATA = TCP(sport=1234, dport=80, seq=0xFEDCBA98) / Raw(b"x" * 10)
PLAIN = IP(src="10.1.2.3", dst="10.4.5.6") / DATA
SIX = IPv6(src="2001:db8::1", dst="2001:db8::2")


def selected(*packets: Packet, link: int = ETHERNET, mtu: int | None = None, kept: int | None = None) -> frames.Frames:
    whole = [bytes(packet) for packet in packets]
    captured = [(number, link, len(data), memoryview(data[:kept])) for number, data in enumerate(whole)]
    return frames.select("tcp", captured, mtu=mtu)


@pytest.mark.parametrize(
    ("packet", "link"),
    [
        (Ether() / PLAIN, ETHERNET),
        (Ether(type=0x9100) / Dot1Q(vlan=7, type=0x0800) / PLAIN, ETHERNET),
        (Ether(type=0x88A8) / Dot1Q(vlan=7, type=0x8100) / Dot1Q(vlan=9) / PLAIN, ETHERNET),
        (Ether(type=0x8864) / PPPoE(sessionid=1) / PPP() / PLAIN, ETHERNET),
        (Ether() / Dot1Q(vlan=7, type=0x8864) / PPPoE(sessionid=1) / PPP() / PLAIN, ETHERNET),
        (Ether(type=0x8847) / MPLS(label=5, s=0) / MPLS(label=6, s=1) / PLAIN, ETHERNET),
        (CookedLinux() / PLAIN, SLL),
        (CookedLinux(proto=0x8100) / Dot1Q(vlan=7) / PLAIN, SLL),
        (CookedLinuxV2() / PLAIN, SLL2),
        (PLAIN, RAW_IP),
    ],
)
def test_ipv4_is_found(packet: Packet, link: int) -> None:
    found = selected(packet, link=link)
    assert (found.flow, found.sequence.tolist(), found.length.tolist()) == ((NAME,), [0xFEDCBA98], [14 + 40 + 10])


@pytest.mark.parametrize(
    ("packet", "link"),
    [
        (Ether() / SIX / DATA, ETHERNET),
        (Ether() / SIX / IPv6ExtHdrHopByHop() / IPv6ExtHdrDestOpt() / DATA, ETHERNET),
        (Ether(type=0x8864) / PPPoE(sessionid=1) / PPP(proto=0x0057) / SIX / DATA, ETHERNET),
        (Ether(type=0x8847) / MPLS(label=5, s=1) / SIX / DATA, ETHERNET),
        (CookedLinux(proto=0x86DD) / SIX / DATA, SLL),
        (SIX / DATA, RAW_IP),
        (SIX / DATA, IPV6),
    ],
)
def test_ipv6_is_found(packet: Packet, link: int) -> None:
    found = selected(packet, link=link)
    assert (found.flow, found.sequence.tolist(), found.length.tolist()) == ((NAME6,), [0xFEDCBA98], [14 + 60 + 10])


def test_what_is_there_instead_is_named() -> None:
    others = [Ether() / ARP(), Ether() / ARP(), Ether() / IP() / UDP(), Ether(type=0x1234) / Raw(bytes(50))]
    others += [Ether() / SIX / IPv6ExtHdrFragment() / Raw(bytes(30)), Ether() / IP() / TCP(flags="A")]
    found = selected(*others)
    with pytest.raises(
        Refused, match="no TCP segment with data in it; its packets are 2 ARP, 1 UDP, 1 EtherType 0x1234"
    ):
        planning.left(found, "x.pcap")
    assert dict(found.others)["TCP without data"] == 1 and dict(found.others)["fragments"] == 1


def test_headers_that_were_cut_off_are_said() -> None:
    cut = selected(Ether() / SIX / DATA, Ether() / PLAIN, kept=60)
    assert cut.flow == (NAME,) and "1 packets are cut before the end of their headers" in cut.notes()[0]


def test_a_length_of_zero_is_an_offloaded_segment_of_the_frame_s_length() -> None:
    """Linux hands over more than 65,535 bytes with IPv4's total length or IPv6's payload length 0 (RFC 2675, 3)."""
    big = Raw(bytes(70_000))
    for network in (IP(src="10.1.2.3", dst="10.4.5.6", len=0), IPv6(src="2001:db8::1", dst="2001:db8::2", plen=0)):
        whole = Ether() / network / TCP(sport=1234, dport=80, dataofs=5) / big
        found = selected(whole)
        assert found.merged is not None and found.merged.tolist() == [True]
        assert found.length.tolist() == [len(bytes(whole))]


def segment(payload: int, seq: int = 0) -> Packet:
    return Ether() / IP(src="10.1.2.3", dst="10.4.5.6") / TCP(sport=1234, dport=80, seq=seq) / Raw(bytes(payload))


def syn(mss: int) -> Packet:
    return Ether() / IP(src="10.4.5.6", dst="10.1.2.3") / TCP(sport=80, dport=1234, flags="SA", options=[("MSS", mss)])


@pytest.mark.parametrize(
    ("handshake", "mtu", "merged"),
    [
        ([], None, [False, True, True]),  # an Ethernet frame carries 1,500 bytes
        ([syn(1000)], None, [True, True, True]),  # RFC 6691: the peer takes 1,000
        ([syn(8960)], None, [False, False, True]),
        ([], 4000, [False, False, True]),
        ([syn(8960)], 1500, [False, True, True]),
    ],
)
def test_what_is_larger_than_the_path_carries_was_merged(
    handshake: list[Packet], mtu: int | None, merged: list[bool]
) -> None:
    found = selected(segment(1460), segment(2920, 1460), segment(9000, 4380), *handshake, mtu=mtu)
    assert found.merged is not None and found.merged.tolist() == merged


def test_merged_frames_are_no_paced_flow() -> None:
    found = selected(segment(1460), segment(2920, 1460))
    with pytest.raises(Refused, match=r"1 of 2 segments of flow .* are larger.*ethtool -K IFACE tso off.*--mtu 9000"):
        planning.paced(found, "x.pcap", None, 10**6)


def test_a_flow_beyond_4_gib_has_no_number_twice() -> None:
    """Five segments of a GiB apart: the numbers of 32 bits repeat, the data do not (RFC 9293, 3.4)."""
    found = selected(*(segment(1000, number * 2**30 % 2**32) for number in range(9)))
    assert found.sequence.tolist() == [number * 2**30 for number in range(9)]
    assert not planning.left(found, "x.pcap").retransmission.any()
    planned, _ = planning.paced(found, "x.pcap", None, 8 * 10**9)
    assert planned.launch.tolist() == [number * 2**30 for number in range(9)]
