# SPDX-License-Identifier: BSD-2-Clause-Patent
"""From a packet's first byte to its IP header: link types, VLAN tags, PPPoE, MPLS.

Link types by https://www.tcpdump.org/linktypes.html; 802.1Q, 802.1ad, RFC 2516 (PPPoE), RFC 3032 (MPLS), RFC 1661 and
1662 (PPP).
"""

from __future__ import annotations

NULL, ETHERNET, PPP, PPP_SERIAL, RAW_IP, LOOP, SLL, IPV4, IPV6, SLL2 = 0, 1, 9, 50, 101, 108, 113, 228, 229, 276
LINKS = (NULL, ETHERNET, PPP, PPP_SERIAL, RAW_IP, LOOP, SLL, IPV4, IPV6, SLL2)
VLAN_TAGS = (0x8100, 0x88A8, 0x9100)
PPPOE_SESSION = 0x8864
MPLS = (0x8847, 0x8848)
ETHER_TYPE_IPV4, ETHER_TYPE_IPV6 = 0x0800, 0x86DD
PPP_PROTOCOLS = {0x0021: ETHER_TYPE_IPV4, 0x0057: ETHER_TYPE_IPV6}
PPP_ADDRESS_AND_CONTROL = b"\xff\x03"  # RFC 1662, 3.1
VERSIONS = {4: ETHER_TYPE_IPV4, 6: ETHER_TYPE_IPV6}
BEYOND_ETHERNET = {SLL: 2, SLL2: 6}  # bytes by which such a header is longer than Ethernet's
UNKNOWN = 0  # no EtherType has this number


def network(link: int, data: memoryview) -> tuple[int, int]:
    """EtherType of what is inside tags and tunnels, and where it begins."""
    ether_type, at = _first(link, data)
    while ether_type in VLAN_TAGS:
        ether_type, at = int.from_bytes(data[at + 2 : at + 4]), at + 4
    if ether_type == PPPOE_SESSION:
        protocol = int.from_bytes(data[at + 6 : at + 8])
        return PPP_PROTOCOLS.get(protocol, PPPOE_SESSION), at + 8
    if ether_type in MPLS:
        return _behind_labels(ether_type, data, at)
    return ether_type, at


def _first(link: int, data: memoryview) -> tuple[int, int]:
    if link == ETHERNET:
        return int.from_bytes(data[12:14]), 14
    if link == SLL:
        return int.from_bytes(data[14:16]), 16
    if link == SLL2:
        return int.from_bytes(data[0:2]), 20
    if link in (PPP, PPP_SERIAL):
        at = 2 if data[:2] == PPP_ADDRESS_AND_CONTROL else 0
        return PPP_PROTOCOLS.get(int.from_bytes(data[at : at + 2]), UNKNOWN), at + 2
    return _by_version(data, 4 if link in (NULL, LOOP) else 0)


def _by_version(data: memoryview, at: int) -> tuple[int, int]:
    version = data[at] >> 4 if len(data) > at else 0
    return VERSIONS.get(version, UNKNOWN), at


def _behind_labels(ether_type: int, data: memoryview, at: int) -> tuple[int, int]:
    """No field says what is behind the last label: an IP version, or something else (RFC 4928)."""
    while len(data) >= at + 4:
        last = data[at + 2] & 1
        at += 4
        if last:
            found, at = _by_version(data, at)
            return found or ether_type, at
    return ether_type, at
