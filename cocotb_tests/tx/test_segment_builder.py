# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Headers: every field as in the descriptor, both checksums as scapy has them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import cocotb
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether

from cocotb_tests.bench.widths import each_width, run_width
from cocotb_tests.tx.segment import ASAP, AT, PEERS, Peer, Segment, random_segment, scapy_frame
from cocotb_tests.tx.transmitter import Transmitter


@each_width
def test_segment_builder(width: int) -> None:
    run_width("Transmitter", __name__, width)


@cocotb.test()
@cocotb.parametrize(capable=[False, True])
async def data_says_whether_it_may_be_marked(dut: Any, capable: bool) -> None:
    """RFC 3168 5: ECT(0) is 10."""
    bench = await Transmitter.create(dut)
    for flags in ("PA", "A", "SAE", "PAEC"):
        segment = random_segment(bench.random, flags=flags, length=0, ecn_capable=capable)
        bench.send(segment)
        assert Ether((await bench.expect(segment)).data)[IP].tos & 3 == 2 * capable


@cocotb.test()
async def a_syn_may_carry_payload(dut: Any) -> None:
    bench = await Transmitter.create(dut)
    segments = [
        random_segment(bench.random, flags="S", length=length, window_scale=scale, mode=AT)
        for length in (1, 5, 6, 7, 100)
        for scale in (False, True)
    ]
    bench.send(*segments)
    for segment in segments:
        await bench.expect(segment)


@cocotb.test()
async def each_flag_has_its_bit(dut: Any) -> None:
    bench = await Transmitter.create(dut)
    segments = [random_segment(bench.random, flags=flag, length=0, mode=AT) for flag in "FSRPAEC"]
    bench.send(*segments)
    for segment in segments:
        await bench.expect(segment)


@cocotb.test()
async def a_connections_packets_have_its_services_and_time_to_live(dut: Any) -> None:
    """RFC 9293 MUST-48, MUST-49; all 64 and all 256 are somebody's, those of 16 flows are drawn."""
    bench = await Transmitter.create(dut)
    for flow, peer in enumerate(PEERS):
        segment = Segment(flow=flow, length=1, flags="PA")
        bench.send(segment)
        header = Ether((await bench.expect(segment)).data)[IP]
        assert (header.tos >> 2, header.ttl) == (peer.differentiated_services, peer.time_to_live)


@cocotb.test()
@cocotb.parametrize(sequence=[5, 0xFFFF_FFFF, 0x7FFF_0000, 0x0001_FFF0])
async def the_urgent_pointer_is_one_past_the_urgent_data(dut: Any, sequence: int) -> None:
    """RFC 9293 3.8.5, MUST-62; behind the end there is no URG, and what is farther than 16 bits is as far as they
    reach."""
    bench = await Transmitter.create(dut)
    for distance in (-(2**17) + 1, -65_536, -1, 0, 1, 2, 100, 65_534, 65_535, 65_536, 100_000):
        for flags, length in (("A", 0), ("PA", 100)):
            end = (sequence + distance) % 2**32
            segment = Segment(sequence=sequence, urgent_end=end, flags=flags, length=length)
            bench.send(segment)
            header = Ether((await bench.expect(segment)).data)[TCP]
            assert ("U" in header.flags, header.urgptr) == (distance > 0, max(0, min(distance, 65_535)))


@cocotb.test()
async def carries_go_around_twice(dut: Any) -> None:
    """RFC 1071: the last word of the sum takes every value near the point where a fold carries again."""
    bench = await Transmitter.create(dut)
    plain = Segment(sequence=0xFFFFFFFF, acknowledgment=0xFFFFFFFF, flags="A", mode=AT)
    checksum = Ether(plain.frame())[TCP].chksum
    segments = [Segment(**(vars(plain) | {"window": (checksum + near) % 65536})) for near in range(-4, 5)]
    assert {0, 1, 0xFFFE} <= {Ether(segment.frame())[TCP].chksum for segment in segments}
    bench.send(*segments)
    for segment in segments:
        await bench.expect(segment)


@cocotb.test()
async def a_fin_stays_behind_its_data(dut: Any) -> None:
    bench = await Transmitter.create(dut, latency=300)
    data = random_segment(bench.random, flags="PA", length=1000, mode=ASAP)
    fin = Segment(flow=data.flow, sequence=data.end, flags="FA")
    bench.send(data, fin)
    await bench.expect(data)
    await bench.expect(fin)


def _stateless(peer: Peer, sequence: int, acknowledgment: int, *, ack: int, syn: int = 0) -> dict[str, int]:
    """On port `statelessReplies`."""
    return {
        "remoteMac": peer.mac,
        "vlan": peer.vlan,
        "remoteIp": peer.ip,
        "remotePort": peer.remote_port,
        "localPort": peer.local_port,
        "sequence_value": sequence,
        "acknowledgment_value": acknowledgment,
        "ack": ack,
        "syn": syn,
        "rst": 1 - syn,
        "timestamped": 0,
        "timestampValue": 0,
        "timestampEcho": 0,
    }


@cocotb.test()
@cocotb.parametrize(stamps=[None, (0x89ABCDEF, 0x12345678)])
async def a_stateless_ack_has_the_numbers_of_its_connection(dut: Any, stamps: tuple[int, int] | None) -> None:
    """TIME-WAIT answers without a flow: its timestamps go along, if there are any (RFC 7323 3.2)."""
    bench = await Transmitter.create(dut)
    peer = Peer(*(bench.random.getrandbits(bits) for bits in (48, 32, 16, 16)))
    reply = _stateless(peer, 5, 6, ack=1) | {"rst": 0}
    options: list[tuple[str, Any]] = []
    if stamps is not None:
        reply |= {"timestamped": 1, "timestampValue": stamps[0], "timestampEcho": stamps[1]}
        options = [("NOP", None), ("NOP", None), ("Timestamp", stamps)]
    bench.stateless_replies.put(reply)
    expected = scapy_frame(peer, b"", seq=5, ack=6, flags="A", window=0, options=options)
    assert (await bench.receive()).data == expected
    await bench.quiet()


@cocotb.test()
async def an_ack_waits_for_data_of_its_own_flow_and_for_no_other(dut: Any) -> None:
    """RFC 9293 3.10.7.4: the peer takes the later one of two windows with equal SEQ and ACK."""
    bench = await Transmitter.create(dut, latency=400)
    data = [Segment(flow=flow, flags="PA", length=100) for flow in range(15)]
    behind, other = Segment(flow=14, sequence=100, window=7), Segment(flow=15, window=9)
    bench.send(*data[:14])
    await bench.descriptors.send(data[14].beat())
    stranger = Peer(mac=1, ip=2, remote_port=3, local_port=4)
    bench.stateless_replies.put(_stateless(stranger, 5, 0, ack=0))
    bench.send(behind, other)
    sent = {(await bench.receive()).data for _ in range(2)}
    assert sent == {scapy_frame(stranger, b"", seq=5, ack=0, flags="R", window=0), other.frame()}
    for segment in [*data, behind]:
        await bench.expect(segment)
    bench.send(behind)
    await bench.expect(behind)
    await bench.quiet()


@cocotb.test()
@cocotb.parametrize(stall=[0.0, 0.4])
async def an_unexpected_segment_is_answered_by_a_reset(dut: Any, stall: float) -> None:
    """RFC 9293 3.10.7.1; its addresses are its own, and descriptors go on meanwhile."""
    bench = await Transmitter.create(dut, stall=stall)
    segments = [random_segment(bench.random, flags="PA", length=20, mode=AT) for _ in range(10)]
    bench.send(*segments)
    resets = []
    for number in range(10):
        vlan = bench.random.choice((0, 1, 3))
        peer = replace(Peer(*(bench.random.getrandbits(bits) for bits in (48, 32, 16, 16))), vlan=vlan)
        sequence, acknowledgment = bench.random.getrandbits(32), bench.random.getrandbits(32)
        ack = number % 2
        bench.stateless_replies.put(_stateless(peer, sequence, acknowledgment, ack=ack))
        flags = "RA" if ack else "R"
        resets.append(scapy_frame(peer, b"", seq=sequence, ack=acknowledgment, flags=flags, window=0))
    lines = [[segment.frame() for segment in segments], resets]
    for _ in range(20):
        sent = await bench.receive()
        next(line for line in lines if line and line[0] == sent.data).pop(0)
    assert bench.address_reads == len(segments)
    await bench.quiet()


@cocotb.test()
async def a_stateless_syn_is_answered_by_a_syn_and_ack_with_our_mss_alone(dut: Any) -> None:
    """RFC 4987 3.6: nothing is kept of the peer, so nothing is agreed upon. The window, not scaled, is the receive
    buffer's."""
    bench = await Transmitter.create(dut)
    for vlan in (0, 1, 3):
        peer = replace(Peer(*(bench.random.getrandbits(bits) for bits in (48, 32, 16, 16))), vlan=vlan)
        sequence, acknowledgment = bench.random.getrandbits(32), bench.random.getrandbits(32)
        bench.stateless_replies.put(_stateless(peer, sequence, acknowledgment, ack=1, syn=1))
        options = [("MSS", 1460)]
        expected = scapy_frame(peer, b"", seq=sequence, ack=acknowledgment, flags="SA", window=65535, options=options)
        assert (await bench.receive()).data == expected
    assert bench.address_reads == 0
    await bench.quiet()
