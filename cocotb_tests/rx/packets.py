# SPDX-License-Identifier: BSD-2-Clause-Patent
"""TCP frames to the core, good and bad, made by scapy, and what scapy reads in the good ones."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from scapy.layers.inet import IP, TCP, IPOption_LSRR, IPOption_SSRR, fragment
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Raw
from scapy.utils import checksum

from cocotb_tests.addresses import CORE_IP as LOCAL_IP
from cocotb_tests.addresses import CORE_MAC as LOCAL_MAC
from cocotb_tests.addresses import PEER_IP as REMOTE_IP
from cocotb_tests.addresses import PEER_MAC as REMOTE_MAC
from cocotb_tests.rx.options import any_edges, sack_fields

MINIMUM = 60  # bytes of the smallest Ethernet frame, without its FCS
LARGEST = 1514  # the default configuration, untagged

FLAGS = ("fin", "syn", "rst", "psh", "ack", "urg", "ece", "cwr")


def number(address: str) -> int:
    """A MAC or IP address as an integer, first byte of the wire uppermost."""
    parts = [int(part, 16) for part in address.split(":")] if ":" in address else map(int, address.split("."))
    return int.from_bytes(bytes(parts), "big")


def frame(
    payload: bytes = b"",
    *,
    ether: dict[str, Any] | None = None,
    tag: int | None = None,
    vlan: int = 0,
    ip: dict[str, Any] | None = None,
    tcp: dict[str, Any] | None = None,
    pad: bool = True,
) -> bytes:
    """A frame as scapy builds it: right wherever no field says otherwise. `tag` gives a priority, `vlan` is its VID."""
    packet: Any = Ether(**({"src": REMOTE_MAC, "dst": LOCAL_MAC} | (ether or {})))
    if tag is not None:
        packet /= Dot1Q(prio=tag % 8, id=tag >> 3 & 1, vlan=vlan)
    packet /= IP(**({"src": REMOTE_IP, "dst": LOCAL_IP} | (ip or {})))
    packet /= _tcp(tcp or {})
    raw = bytes(packet / Raw(payload)) if payload else bytes(packet)
    return raw.ljust(MINIMUM, b"\0") if pad else raw


def _tcp(fields: dict[str, Any]) -> TCP:
    every: dict[str, Any] = {"sport": 40000, "dport": 80, "flags": "A"} | fields
    return TCP(**every)


def with_tcp_options(options: bytes, payload: bytes = b"", *, flags: str = "S", **other: Any) -> bytes:
    """Option bytes as they are, a whole number of words, right or wrong."""
    return frame(options + payload, tcp={"flags": flags, "dataofs": 5 + len(options) // 4}, **other)


def with_ip_options(options: bytes, payload: bytes = b"", tag: int | None = None) -> bytes:
    """Likewise for the IP header."""
    plain = frame(payload, tag=tag, pad=False)
    ether, header, rest = _cut(plain)
    header[0] += len(options) // 4
    header[2:4] = (len(header) + len(options) + len(rest)).to_bytes(2, "big")
    return ether + _checked(bytes(header) + options) + rest


def read(raw: bytes) -> tuple[dict[str, int], bytes]:
    """The fields of the segment, as scapy dissects the frame, and its payload."""
    packet = Ether(raw)
    ip, tcp = packet[IP], packet[TCP]
    syn = "S" in tcp.flags
    options = {name: value for name, value in tcp.options if syn or name not in ("MSS", "WScale", "SAckOK")}
    selects = "A" in tcp.flags and not syn
    offset = len(raw) - len(packet[IP].original) + 4 * ip.ihl + 4 * tcp.dataofs
    length = ip.len - 4 * ip.ihl - 4 * tcp.dataofs
    fields = {
        "remoteMac": number(packet.src),
        "remoteIp": number(ip.src),
        "remotePort": tcp.sport,
        "localPort": tcp.dport,
        "sequence_value": tcp.seq,
        "acknowledgment_value": tcp.ack,
        "window": tcp.window,
        "urgentPointer": tcp.urgptr,
        "length": length,
        "payload_held": int(length > 0 or "F" in tcp.flags),
        "payload_offset": offset,
        "options_mssValid": int("MSS" in options),
        "options_windowScaleValid": int("WScale" in options),
        "options_sackPermitted": int("SAckOK" in options),
        "options_timestampValid": int("Timestamp" in options),
        "congestionExperienced": int(ip.tos & 3 == 3),
    }
    fields |= sack_fields(tcp.ack, options.get("SAck", ()) if selects else ())
    fields |= {f"flags_{name}": int(tcp.flags) >> bit & 1 for bit, name in enumerate(FLAGS)}
    if "MSS" in options:
        fields["options_mss"] = options["MSS"]
    if "WScale" in options:
        fields["options_windowScale"] = options["WScale"]
    if "Timestamp" in options:
        fields["options_timestampValue"], fields["options_timestampEcho"] = options["Timestamp"]
    return fields, raw[offset : offset + length]


def any_good(draw: random.Random, longest: int = LARGEST, vlan: int = 0) -> bytes:
    """A good segment: any fields, options, tag, length and padding; of a VLAN by its VID."""
    options: list[tuple[str, Any]] = []
    syn = draw.random() < 0.4
    acknowledgment = draw.getrandbits(32)
    choices: list[tuple[str, Any]] = [
        ("MSS", draw.randrange(64, 9000)),
        ("WScale", draw.randrange(15)),
        ("Timestamp", (draw.getrandbits(32), draw.getrandbits(32))),
        ("SAckOK", b""),
        ("SAck", tuple(any_edges(draw, acknowledgment, draw.randrange(1, 5)))),
        ("NOP", None),
        ("NOP", None),
    ]
    draw.shuffle(choices)
    module = 40
    for option in choices[: draw.randrange(len(choices) + 1)]:
        module -= len(bytes(TCP(options=[option]))) - 20
        if module < 0:
            break
        options.append(option)
    tcp = {
        "sport": draw.randrange(1, 1 << 16),
        "dport": draw.randrange(1, 1 << 16),
        "seq": draw.getrandbits(32),
        "ack": acknowledgment,
        "window": draw.getrandbits(16),
        "urgptr": draw.getrandbits(16),
        "options": options,
        "flags": draw.choice(
            ["S", "SA", "SEC"] if syn else ["A", "PA", "FA", "FPA", "R", "RA", "UA", "AEC", "", "FPU"]
        ),
    }
    ip = {
        "src": f"{draw.randrange(11, 120)}.{draw.randrange(256)}.{draw.randrange(256)}.{draw.randrange(256)}",
        "tos": draw.getrandbits(8),
        "id": draw.getrandbits(16),
        "flags": draw.choice([0, "DF"]),
        "ttl": draw.randrange(1, 256),
    }
    if draw.random() < 0.2:
        ip["options"] = b"\x01" * draw.randrange(1, 20) if draw.random() < 0.5 else b"\x94\x04\0\0"
    tag = draw.randrange(1 << 12) if vlan or draw.random() < 0.3 else None
    head = len(frame(ip=ip, tcp=tcp, tag=tag, pad=False))
    module = longest + (0 if tag is None else 4) - head
    length = draw.choice([0, 0, 1, 2, 5, 6, 7, 8, draw.randrange(module), draw.randrange(module), module])
    raw = frame(draw.randbytes(min(length, module)), ip=ip, tcp=tcp, tag=tag, vlan=vlan, pad=draw.random() < 0.8)
    # Padding is whatever it is (RFC 1042), and it is not part of the packet.
    if draw.random() < 0.3 and len(raw) + 9 < longest:
        raw += draw.randbytes(draw.randrange(10))
    return raw


def _cut(raw: bytes) -> tuple[bytes, bytearray, bytes]:
    """Ethernet header, IP header without options, the rest."""
    start = 18 if raw[12:14] == b"\x81\0" else 14
    return raw[:start], bytearray(raw[start : start + 20]), raw[start + 20 :]


def _checked(header: bytes) -> bytes:
    """An IP header with the checksum it should have."""
    blank = header[:10] + b"\0\0" + header[12:]
    right: int = checksum(blank)
    return header[:10] + right.to_bytes(2, "big") + header[12:]


def _flipped(raw: bytes, first: int, last: int, draw: random.Random) -> bytes:
    damaged = bytearray(raw)
    damaged[draw.randrange(first, last)] ^= 1 << draw.randrange(8)
    return bytes(damaged)


def _fragment(which: int, size: int) -> bytes:
    """One fragment of a packet whose TCP checksum is over all of them."""
    whole = IP(src=REMOTE_IP, dst=LOCAL_IP) / TCP(sport=40000, dport=80, flags="A") / Raw(bytes(range(100)))
    pieces: Any = fragment(whole, size)
    return bytes(Ether(src=REMOTE_MAC, dst=LOCAL_MAC) / pieces[which]).ljust(MINIMUM, b"\0")


Maker = Callable[[random.Random], bytes]

# Cause (the counter's name), what is wrong, and a frame that has it.
BAD: list[tuple[str, str, Maker]] = [
    ("ipVersion", "version 5", lambda _: frame(ip={"version": 5})),
    ("ipVersion", "version 0", lambda _: frame(b"x", ip={"version": 0})),
    ("ipHeaderLength", "four words", lambda _: frame(ip={"ihl": 4})),
    ("ipHeaderLength", "no words", lambda _: frame(b"abc", ip={"ihl": 0})),
    ("ipLength", "no space for a TCP header", lambda draw: frame(ip={"len": draw.randrange(40)})),
    ("ipLength", "no space behind IP options", lambda _: frame(ip={"ihl": 6, "len": 43})),
    ("ipLength", "no space behind the longest IP header", lambda _: frame(bytes(60), ip={"ihl": 15, "len": 79})),
    ("truncated", "last byte gone", lambda draw: frame(draw.randbytes(draw.randrange(9, 90)), pad=False)[:-1]),
    ("truncated", "ends in the TCP header", lambda draw: frame(pad=False)[: draw.randrange(34, 54)]),
    ("truncated", "tagged, last byte gone", lambda _: frame(b"x", tag=7, pad=False)[:-1]),
    ("truncated", "longer than any frame", lambda _: frame(ip={"len": 65535})),
    ("tcpHeaderLength", "below five words", lambda draw: frame(tcp={"dataofs": draw.randrange(5)})),
    ("tcpHeaderLength", "beyond the packet", lambda _: frame(bytes(3), tcp={"dataofs": 6})),
    ("tcpHeaderLength", "far beyond the packet", lambda _: frame(bytes(39), tcp={"dataofs": 15})),
    ("ipChecksum", "checksum", lambda draw: _flipped(frame(b"xy"), 24, 26, draw)),
    ("ipChecksum", "time to live", lambda draw: _flipped(frame(b"xy"), 22, 23, draw)),
    ("ipChecksum", "IP options", lambda draw: _flipped(with_ip_options(b"\1" * 8), 34, 42, draw)),
    ("tcpChecksum", "TCP header", lambda draw: _flipped(frame(b"x"), 34, 46, draw)),
    ("tcpChecksum", "payload", lambda draw: _flipped(frame(draw.randbytes(200)), 54, 254, draw)),
    ("tcpChecksum", "last byte", lambda draw: _flipped(frame(bytes(75)), 128, 129, draw)),
    ("fragment", "the first", lambda _: frame(bytes(8), ip={"flags": "MF"})),
    ("fragment", "the last", lambda draw: frame(b"x", ip={"frag": draw.randrange(1, 1 << 13)})),
    ("fragment", "the first of three", lambda _: _fragment(0, 48)),
    ("fragment", "the last, without a TCP header", lambda _: _fragment(-1, 112)),
    ("sourceRoute", "loose", lambda _: frame(ip={"options": IPOption_LSRR(routers=["1.2.3.4"])})),
    ("sourceRoute", "strict", lambda _: frame(b"x", ip={"options": IPOption_SSRR(routers=["1.2.3.4", "5.6.7.8"])})),
    ("options", "TCP, length 0", lambda _: with_tcp_options(b"\1\x08\0\1")),
    ("options", "TCP, length 1", lambda _: with_tcp_options(b"\2\1\5\5", flags="A")),
    ("options", "TCP, past the header", lambda _: with_tcp_options(b"\1\1\x08\x0a", bytes(20), flags="A")),
    ("options", "TCP, kind without length", lambda _: with_tcp_options(b"\1\1\1\5", b"\2abc", flags="PA")),
    ("options", "IP, length 1", lambda _: with_ip_options(b"\x07\1\0\0")),
    (
        "options",
        "IP, past the header",
        lambda draw: with_ip_options(b"\1\1\1\1\x07\5\0\0", b"x", draw.choice([None, 3])),
    ),
    ("invalidSource", "multicast", lambda _: frame(b"x", ip={"src": "224.0.0.5"})),
    ("invalidSource", "broadcast", lambda _: frame(ip={"src": "255.255.255.255"})),
    ("invalidSource", "loopback", lambda _: frame(ip={"src": "127.0.0.1"})),
    ("invalidSource", "this host", lambda _: frame(ip={"src": "0.0.0.0"})),
    ("invalidSource", "our IP", lambda _: frame(ip={"src": LOCAL_IP})),
    ("invalidSource", "our MAC", lambda _: frame(b"x", ether={"src": LOCAL_MAC})),
    ("invalidSource", "multicast MAC", lambda _: frame(ether={"src": "03:00:00:00:00:01"})),
    ("land", "our IP and port", lambda _: frame(ip={"src": LOCAL_IP}, tcp={"sport": 80, "flags": "S"})),
    ("portZero", "source", lambda _: frame(b"x", tcp={"sport": 0})),
    ("portZero", "destination", lambda _: frame(tcp={"dport": 0})),
    ("flags", "SYN FIN", lambda _: frame(tcp={"flags": "SF"})),
    ("flags", "SYN RST", lambda _: frame(tcp={"flags": "SRA"})),
    ("flags", "all", lambda _: frame(tcp={"flags": "FSRPAUEC"})),
]
