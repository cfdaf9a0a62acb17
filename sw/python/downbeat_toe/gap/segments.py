# SPDX-License-Identifier: BSD-2-Clause-Patent
"""TCP segments in captured packets: IPv4 (RFC 791) and IPv6 (RFC 8200), however they are wrapped."""

from __future__ import annotations

import functools
import ipaddress
import struct
from typing import NamedTuple

from downbeat_toe.gap.headers import ETHER_TYPE_IPV4, ETHER_TYPE_IPV6, UNKNOWN, network

TCP = 6
PROTOCOLS = {1: "ICMP", 2: "IGMP", 17: "UDP", 41: "IPv6 in IPv4", 47: "GRE", 50: "ESP", 58: "ICMPv6", 132: "SCTP"}
ETHER_TYPES = {0x0806: "ARP", 0x88CC: "LLDP", 0x8864: "PPPoE", 0x8847: "MPLS", 0x8848: "MPLS", 0x88F7: "PTP"}
HOP_BY_HOP, ROUTING, FRAGMENT, AUTHENTICATION, DESTINATION = 0, 43, 44, 51, 60
EXTENSIONS = (HOP_BY_HOP, ROUTING, AUTHENTICATION, DESTINATION)
IPV6_HEADER, SYN, MSS, END, NO_OPERATION = 40, 0x02, 2, 0, 1
CUT = "cut before the end of their headers (capture more bytes of each: -s 128)"


class Segment(NamedTuple):
    flow: str  # SOURCE:PORT-DESTINATION:PORT; of IPv6 as ADDRESS.PORT, so that no name needs quoting
    back: str  # the other direction's name
    sequence: int  # 32 bits
    payload: int  # bytes
    options: int  # bytes of TCP options
    headers: int  # bytes of IP and TCP headers without options
    unsized: bool  # IP gives no length: segmentation offload handed over more than 65,535 bytes
    mss: int  # of a SYN: what its sender takes; else 0


def segment(link: int, length: int, data: memoryview) -> Segment | str:
    """The segment in a packet of `length` bytes on the wire, or what the packet is instead."""
    ether_type, at = network(link, data)
    if ether_type == ETHER_TYPE_IPV4:
        return _ipv4(length, data, at)
    if ether_type == ETHER_TYPE_IPV6:
        return _ipv6(length, data, at)
    if ether_type == UNKNOWN:
        return "neither IPv4 nor IPv6"
    return ETHER_TYPES.get(ether_type, f"EtherType {ether_type:#06x}")


def _ipv4(length: int, data: memoryview, at: int) -> Segment | str:
    if len(data) < at + 20:
        return CUT
    if data[at] >> 4 != 4:
        return "damaged IPv4"
    if data[at + 9] != TCP:
        return PROTOCOLS.get(data[at + 9], f"IP protocol {data[at + 9]}")
    if (data[at + 6] & 0x3F) or data[at + 7]:  # offset, or more of them to come
        return "fragments"
    total = int.from_bytes(data[at + 2 : at + 4])
    tcp = at + 4 * (data[at] & 15)
    end = at + (total or length - at)
    return _tcp(data, tcp, end, data[at + 12 : at + 16], data[at + 16 : at + 20], 40, not total)


def _ipv6(length: int, data: memoryview, at: int) -> Segment | str:
    if len(data) < at + IPV6_HEADER:
        return CUT
    total, following, tcp = int.from_bytes(data[at + 4 : at + 6]), data[at + 6], at + IPV6_HEADER
    while following in EXTENSIONS:
        if len(data) < tcp + 2:
            return CUT
        unit = 4 * (data[tcp + 1] + 2) if following == AUTHENTICATION else 8 * (data[tcp + 1] + 1)
        following, tcp = data[tcp], tcp + unit
    if following == FRAGMENT:
        return "fragments"
    if following != TCP:
        return PROTOCOLS.get(following, f"IP protocol {following}")
    end = at + IPV6_HEADER + total if total else length  # 0: a jumbogram (RFC 2675), as offload makes them
    return _tcp(data, tcp, end, data[at + 8 : at + 24], data[at + 24 : at + 40], 60, not total)


def _tcp(
    data: memoryview, at: int, end: int, source: memoryview, destination: memoryview, headers: int, unsized: bool
) -> Segment | str:
    if len(data) < at + 14:
        return CUT
    options = 4 * (data[at + 12] >> 4) - 20
    payload = end - at - 20 - options
    if options < 0 or payload < 0:
        return "damaged TCP"
    mss = _mss(data[at + 20 : at + 20 + options]) if data[at + 13] & SYN else 0
    if payload == 0 and not mss:
        return "TCP without data"
    (sequence,) = struct.unpack_from(">I", data, at + 4)
    from_port, to_port = bytes(data[at : at + 2]), bytes(data[at + 2 : at + 4])
    ends = (bytes(source), from_port), (bytes(destination), to_port)
    return Segment(_named(*ends), _named(*reversed(ends)), sequence, payload, options, headers, unsized, mss)


def _mss(options: memoryview) -> int:
    """RFC 9293, 3.2: kind, length, value; 0 where there is none."""
    at = 0
    while at + 4 <= len(options) and options[at] != END:
        if options[at] == NO_OPERATION:
            at += 1
            continue
        if options[at] == MSS:
            return int.from_bytes(options[at + 2 : at + 4])
        at += max(2, options[at + 1])
    return 0


@functools.lru_cache(65536)
def _named(source: tuple[bytes, bytes], destination: tuple[bytes, bytes]) -> str:
    return f"{_end(*source)}-{_end(*destination)}"


def _end(address: bytes, port: bytes) -> str:
    between = ":" if len(address) == 4 else "."
    return f"{ipaddress.ip_address(address)}{between}{int.from_bytes(port)}"
