# SPDX-License-Identifier: BSD-2-Clause-Patent
"""ICMP as RFC 792 says: echo, and errors taken with RFC 5927's care."""

from __future__ import annotations

from typing import Any

import cocotb
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw
from scapy.utils import checksum

from cocotb_tests.bench import clocks, generator
from cocotb_tests.bench.layout import element
from cocotb_tests.bench.widths import each_width, run_width
from cocotb_tests.neighbour.neighbour import ADDRESS, MAC, Neighbourhood, mac_of
from cocotb_tests.neighbour.neighbour import number as address

PEER = "10.0.0.2"
ROUTER = "10.0.0.254"
FAR = "192.0.2.7"
KINDS = ("none", "unreachable", "tooBig")


@each_width
def test_icmp(width: int) -> None:
    run_width("Neighbour", __name__, width)


def packet(*, ip: dict[str, Any] | None = None, icmp: dict[str, Any] | None = None, data: bytes = b"") -> Packet:
    """To us, an echo request unless said otherwise."""
    source = (ip or {}).get("src", PEER)
    layers = IP(**({"src": source, "dst": ADDRESS} | (ip or {}))) / ICMP(**({"type": 8} | (icmp or {})))
    return Ether(src=mac_of(PEER), dst=MAC) / layers / Raw(data)


def reply_to(request: Packet) -> bytes:
    """The reply of scapy, without padding."""
    sent = Ether(bytes(request))
    ip, icmp = sent[IP], sent[ICMP]
    header = IP(src=ip.dst, dst=ip.src, ttl=64, id=ip.id, tos=ip.tos, flags=ip.flags)
    reply = Ether(src=sent.dst, dst=sent.src) / header / ICMP(type=0, code=icmp.code, id=icmp.id, seq=icmp.seq)
    return bytes(reply / Raw(bytes(icmp.payload)[: ip.len - 28]))


async def is_echoed(hood: Neighbourhood, request: Packet) -> None:
    wanted = reply_to(request)
    frame = bytes(await hood.sent())[: len(wanted)]
    assert checksum(frame[34:]) == 0
    # Zero and all ones are the same sum.
    assert frame[:36] + frame[38:] == wanted[:36] + wanted[38:]


@cocotb.test()
@cocotb.parametrize(stall=[0.0, 0.4])
async def an_echo_request_of_any_length_is_answered_with_its_own_data(dut: Any, stall: float) -> None:
    hood = await Neighbourhood.create(dut, stall=stall)
    random = generator()
    sizes = [*range(20), 31, 32, 33, 55, 56, 57, 64, 511, 1000, *range(1463, 1473)]
    random.shuffle(sizes)
    for size in sizes:
        request = packet(
            ip={
                "ttl": random.randrange(1, 256),
                "tos": random.getrandbits(8),
                "id": random.getrandbits(16),
                "flags": random.choice([0, "DF"]),
            },
            icmp={"id": random.getrandbits(16), "seq": random.getrandbits(16)},
            data=random.randbytes(size),
        )
        hood.put(request)
        await is_echoed(hood, request)
    await hood.quiet()
    hood.nothing_else()
    assert hood.drops() == {}


@cocotb.test()
async def both_sums_stay_right_at_their_corners(dut: Any) -> None:
    """RFC 1624: carries, and a sum of zero."""
    hood = await Neighbourhood.create(dut)
    for high in range(0, 0x10000, 0x0555):
        for kind, value in (("seq", high), ("seq", (0xF7FF - high) & 0xFFFF), ("id", high)):
            request = packet(ip={"id": high, "ttl": high % 255 + 1}, icmp={kind: value})
            hood.put(request)
            await is_echoed(hood, request)
    for value in (0xF7FF, 0xF7FE, 0xF800, 0xFFFF, 0):  # type 8 brings 0x0800
        request = packet(icmp={"id": 0, "seq": value})
        hood.put(request)
        await is_echoed(hood, request)


@cocotb.test()
async def requests_right_behind_each_other_are_all_answered_in_order(dut: Any) -> None:
    hood = await Neighbourhood.create(dut)
    requests = [packet(icmp={"seq": n}, data=bytes([n]) * (n * 40)) for n in range(8)]
    for request in requests:
        hood.put(request)
    for request in requests:
        await is_echoed(hood, request)


@cocotb.test()
async def requests_that_find_no_space_are_counted_and_hold_up_nothing(dut: Any) -> None:
    hood = await Neighbourhood.create(dut)
    hood.frames.stream.stall = 1.0
    requests = [packet(icmp={"seq": n}, data=bytes(1472)) for n in range(9)]
    for request in requests:
        hood.put(request)
    await hood.control.drained(20_000)
    hood.frames.stream.stall = 0.0
    await hood.quiet()
    lost = hood.drops()["echoOverflow"]
    assert hood.drops() == {"echoOverflow": lost}
    assert 0 < lost <= len(requests) - 2
    for request in requests[: len(requests) - lost]:
        await is_echoed(hood, request)
    hood.nothing_else()


def bad_echo() -> list[tuple[str, bytes, bool]]:
    """Cause, frame, whether it is padded."""
    good = bytes(packet(data=b"0123456789"))

    def damaged(place: int, mask: int = 1) -> bytes:
        return good[:place] + bytes([good[place] ^ mask]) + good[place + 1 :]

    frames = [("ipChecksum", damaged(place), True) for place in (15, 18, 22, 24, 25, 33)]
    frames += [("checksum", damaged(place), True) for place in (35, 36, 39, 42, 50, len(good) - 1)]
    frames += [("length", damaged(14, 0x30), True)]  # version 7
    frames += [("length", good[:length], False) for length in (34, 41, len(good) - 1)]
    frames += [("length", bytes(packet(ip={"len": length})), True) for length in (0, 20, 27, 65535)]
    frames += [("source", bytes(packet(ip={"src": source})), True) for source in SOURCES]
    frames += [("source", good[:6] + bytes.fromhex(mac) + good[12:], True) for mac in ("ffffffffffff", "020000000001")]
    return frames


SOURCES = ("0.0.0.0", "127.0.0.1", "224.0.0.1", "255.255.255.255", ADDRESS)


@cocotb.test()
async def a_bad_request_is_counted_by_its_cause_and_the_next_good_one_answered(dut: Any) -> None:
    hood = await Neighbourhood.create(dut)
    counted: dict[str, int] = {}
    for cause, frame, pad in bad_echo():
        counted[f"icmp_{cause}"] = counted.get(f"icmp_{cause}", 0) + 1
        hood.put(frame, pad=pad, arp=False)
        await hood.quiet()
        assert hood.drops() == counted, frame.hex()
        hood.nothing_else()
        request = packet(data=b"still there?")
        hood.put(request)
        await is_echoed(hood, request)


def segment(*, length: int = 1500, **fields: Any) -> bytes:
    """The beginning of a segment of ours, as a router saw it: IP header and eight bytes."""
    tcp = TCP(**({"sport": 4711, "dport": 80, "seq": 0x89ABCDEF} | fields))
    return bytes(IP(src=ADDRESS, dst=FAR, flags="DF", ttl=61) / tcp / Raw(bytes(length - 40)))[:28]


def error(kind: int, code: int, *, mtu: int = 0, about: bytes | None = None, more: bytes = b"") -> Packet:
    body = segment() if about is None else about
    message = ICMP(type=kind, code=code, reserved=0, nexthopmtu=mtu) if kind == 3 else ICMP(type=kind, code=code)
    return Ether(src=mac_of(ROUTER), dst=MAC) / IP(src=ROUTER, dst=ADDRESS) / message / Raw(body + more)


async def reported(hood: Neighbourhood) -> dict[str, int]:
    beat = await hood.reports.receive(4000)
    assert beat["payload_held"] == beat["length"] == 0
    assert not any(value for name, value in beat.items() if name.startswith("flags_"))
    return beat


@cocotb.test()
async def a_hard_error_names_the_connection_and_the_segment(dut: Any) -> None:
    """RFC 1122 4.2.3.9: protocol and port unreachable."""
    hood = await Neighbourhood.create(dut)
    for code, vlan in ((2, 0), (3, 0), (2, 1), (3, 3)):
        for more in (b"", bytes(100)):  # RFC 1812: as much as fits
            hood.put(error(3, code, more=more), vlan=vlan)
            beat = await reported(hood)
            assert beat["vlan"] == vlan, "another network's connection"
            assert (KINDS[beat["icmpError"]], beat["window"]) == ("unreachable", 1 | code << 2)
            ports = (beat["remoteIp"], beat["remotePort"], beat["localPort"], beat["sequence_value"])
            assert ports == (address(FAR), 80, 4711, 0x89ABCDEF)
    assert hood.drops() == {}


@cocotb.test()
async def soft_errors_are_reported_with_their_type_and_code(dut: Any) -> None:
    """RFC 9293 3.9.2.2."""
    hood = await Neighbourhood.create(dut)
    kinds = {name: element("NetworkErrorKind", name) for name in ("unreachable", "timeExceeded", "parameterProblem")}
    names = {3: "unreachable", 11: "timeExceeded", 12: "parameterProblem"}
    for kind, code in [(3, 0), (3, 1), (3, 5), (3, 13), (3, 15), (11, 0), (11, 1), (12, 0), (12, 2)]:
        hood.put(error(kind, code))
        beat = await reported(hood)
        assert (KINDS[beat["icmpError"]], beat["window"]) == ("unreachable", kinds[names[kind]] | code << 2)
        assert (beat["remoteIp"], beat["sequence_value"]) == (address(FAR), 0x89ABCDEF)
    assert hood.drops() == {}


@cocotb.test()
@cocotb.parametrize(
    (
        ("mtu", "length", "size"),
        [
            (1400, 1500, 1360),
            (1499, 1500, 1459),
            (552, 1500, 512),
            (551, 1500, 512),  # below what we believe
            (68, 1500, 512),
            (1, 1500, 512),
            (0, 1500, 1452),  # RFC 1191 7.1: the next plateau
            (0, 1492, 966),
            (0, 1006, 512),
            (0, 600, 512),
        ],
    )
)
async def a_path_mtu_becomes_a_segment_size(dut: Any, mtu: int, length: int, size: int) -> None:
    hood = await Neighbourhood.create(dut)
    hood.put(error(3, 4, mtu=mtu, about=segment(length=length)))
    beat = await reported(hood)
    assert (KINDS[beat["icmpError"]], beat["window"]) == ("tooBig", size)
    assert (beat["remoteIp"], beat["sequence_value"]) == (address(FAR), 0x89ABCDEF)


@cocotb.test()
async def an_error_that_cannot_be_true_or_is_not_about_tcp_is_dropped(dut: Any) -> None:
    hood = await Neighbourhood.create(dut)
    whole = segment()
    irrelevant = [
        error(3, 4, mtu=1500),  # the packet was no larger
        error(3, 4, mtu=9000),
        error(3, 3, about=bytes(IP(src=ADDRESS, dst=FAR) / UDP() / Raw(bytes(20)))),
        error(3, 3, about=bytes(IP(src=FAR, dst=ADDRESS) / TCP())),  # not ours
        error(3, 3, about=whole[:6] + b"\0\1" + whole[8:]),  # a fragment without ports
        error(3, 3, about=b"\x46" + whole[1:]),
        error(3, 3, about=b"\x65" + whole[1:]),
        error(3, 16),  # no such code (RFC 1812)
        error(11, 0x83),
    ]
    for count, frame in enumerate(irrelevant, 1):
        hood.put(frame)
        await hood.quiet()
        assert hood.drops() == {"icmp_irrelevant": count}
    hood.nothing_else()


@cocotb.test()
async def a_bad_error_is_counted_by_its_cause(dut: Any) -> None:
    hood = await Neighbourhood.create(dut)
    good = bytes(error(3, 3))
    hood.put(error(3, 3, about=segment()[:27]))
    hood.put(good[:69], pad=False)
    await hood.quiet()
    assert hood.drops() == {"icmp_length": 2}
    hood.put(good[:50] + b"\xff" + good[51:])
    await hood.quiet()
    assert hood.drops() == {"icmp_length": 2, "icmp_checksum": 1}
    hood.nothing_else()
    hood.put(good)
    await reported(hood)


@cocotb.test()
async def reports_that_nobody_takes_are_counted(dut: Any) -> None:
    hood = await Neighbourhood.create(dut)
    hood.reports.stall = 1.0
    for n in range(20):
        hood.put(error(3, 3, about=segment(seq=n)))
    await hood.control.drained(20_000)
    await clocks(dut, 50)
    hood.reports.stall = 0.0
    await hood.quiet()
    arrived = [beat["sequence_value"] for beat in hood.reports.pending()]
    assert hood.drops() == {"icmpErrorOverflow": 20 - len(arrived)}
    assert arrived == list(range(len(arrived)))
    assert 4 <= len(arrived) < 20
