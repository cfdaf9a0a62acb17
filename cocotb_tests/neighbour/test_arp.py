# SPDX-License-Identifier: BSD-2-Clause-Patent
"""ARP as RFC 826 says, with RFC 1122's manners and RFC 5227's watch over our address."""

from __future__ import annotations

from typing import Any

import cocotb
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Packet

from cocotb_tests.bench import generator
from cocotb_tests.bench.widths import each_width, run_width
from cocotb_tests.neighbour.neighbour import ADDRESS, BROADCAST, MAC, SECOND, Neighbourhood, mac_of, number

PEER = "10.0.0.2"
OTHER_MAC = "02:bb:00:00:00:09"


@each_width
def test_arp(width: int) -> None:
    run_width("Neighbour", __name__, width)


@cocotb.test()
@cocotb.parametrize(stall=[0.0, 0.5])
async def a_request_for_us_is_answered_to_its_sender(dut: Any, stall: float) -> None:
    hood = await Neighbourhood.create(dut, stall=stall)
    for last in range(2, 10):
        address = f"10.0.0.{last}"
        hood.request(address)
        reply = await hood.sent()
        wanted = Ether(src=MAC, dst=mac_of(address)) / ARP(
            op="is-at", hwsrc=MAC, psrc=ADDRESS, hwdst=mac_of(address), pdst=address
        )
        assert bytes(reply) == bytes(wanted).ljust(60, b"\0")
    await hood.quiet()
    hood.nothing_else()
    assert hood.drops() == {}


@cocotb.test()
async def a_request_for_another_and_a_reply_are_not_answered(dut: Any) -> None:
    hood = await Neighbourhood.create(dut)
    hood.request(PEER, pdst="10.0.0.3")
    hood.reply(PEER)
    await hood.quiet()
    hood.nothing_else()
    assert hood.drops() == {}


@cocotb.test()
async def a_probe_for_our_address_is_answered_and_teaches_nothing(dut: Any) -> None:
    """RFC 5227 2.1.1: the sender has no address yet."""
    hood = await Neighbourhood.create(dut)
    hood.request("0.0.0.0", mac_of(PEER))
    reply = await hood.sent()
    assert (reply.dst, reply[ARP].hwdst, reply[ARP].pdst, reply[ARP].psrc) == (
        mac_of(PEER),
        mac_of(PEER),
        "0.0.0.0",
        ADDRESS,
    )
    assert dut.conflict.value == 0


@cocotb.test()
async def the_sender_of_a_request_for_us_is_learnt(dut: Any) -> None:
    """RFC 826: the sender of a request for us is learnt."""
    hood = await Neighbourhood.create(dut)
    hood.request(PEER)
    await hood.sent()
    await hood.quiet()
    hood.open(PEER, 7)
    assert await hood.opened() == (7, number(mac_of(PEER)))
    hood.nothing_else()


@cocotb.test()
async def the_sender_of_an_unsolicited_reply_is_not_learnt(dut: Any) -> None:
    hood = await Neighbourhood.create(dut)
    hood.reply(PEER)
    await hood.quiet()
    hood.open(PEER)
    assert await hood.next_request() == PEER


@cocotb.test()
async def a_neighbour_that_says_another_mac_is_believed(dut: Any) -> None:
    """RFC 826: an entry that is there takes what any packet of its address says."""
    hood = await Neighbourhood.create(dut)
    hood.request(PEER)
    await hood.sent()
    hood.request(PEER, OTHER_MAC, pdst=PEER)  # gratuitous
    await hood.quiet()
    hood.open(PEER)
    assert await hood.opened() == (1, number(OTHER_MAC))


@cocotb.test()
async def running_connections_hear_of_each_mac_that_a_neighbour_tells(dut: Any) -> None:
    """RFC 1122 2.3.2.1: with an entry or without, but for a static one, which the host alone changes."""
    hood = await Neighbourhood.create(dut, stall=0.3)
    hood.request(PEER, OTHER_MAC, pdst=PEER)  # gratuitous, without an entry
    hood.reply(PEER)
    hood.request(PEER, OTHER_MAC, psrc="0.0.0.0")  # a probe: it has no address
    await hood.quiet()
    assert hood.moved() == [(PEER, OTHER_MAC), (PEER, mac_of(PEER))]
    hood.enter(PEER)
    hood.reply(PEER, OTHER_MAC)
    hood.enter(PEER, OTHER_MAC)
    hood.enter(PEER, remove=True)
    await hood.quiet()
    assert hood.moved() == [(PEER, mac_of(PEER)), (PEER, OTHER_MAC)]


@cocotb.test()
async def a_neighbour_is_asked_again_when_nothing_confirmed_it_for_a_minute(dut: Any) -> None:
    """RFC 1122 2.3.2.1, time-out; the entry's age starts again with each packet."""
    hood = await Neighbourhood.create(dut)
    hood.request(PEER)
    await hood.sent()
    await hood.sleep(59 * SECOND)
    hood.reply(PEER)
    await hood.sleep(59 * SECOND)
    hood.open(PEER, 1)
    assert await hood.opened() == (1, number(mac_of(PEER)))
    await hood.sleep(2 * SECOND)
    hood.open(PEER, 2)
    assert await hood.next_request() == PEER
    hood.reply(PEER)
    assert await hood.opened() == (2, number(mac_of(PEER)))


@cocotb.test()
async def a_static_entry_outlives_time_and_lies(dut: Any) -> None:
    hood = await Neighbourhood.create(dut)
    hood.enter(PEER)
    hood.request(PEER, OTHER_MAC)
    await hood.sent()
    await hood.sleep(200 * SECOND)
    hood.open(PEER)
    assert await hood.opened() == (1, number(mac_of(PEER)))
    hood.enter(PEER, OTHER_MAC)
    await hood.quiet()
    hood.open(PEER, 2)
    assert await hood.opened() == (2, number(OTHER_MAC))
    hood.enter(PEER, remove=True)
    await hood.quiet()
    hood.open(PEER, 3)
    assert await hood.next_request() == PEER


@cocotb.test()
async def a_full_table_forgets_who_was_confirmed_longest_ago(dut: Any) -> None:
    hood = await Neighbourhood.create(dut)
    crowd = [f"10.0.0.{last}" for last in range(2, 18)]  # sixteen
    for address in crowd:
        hood.request(address)
        await hood.sent()
        await hood.sleep(SECOND)
    hood.reply(crowd[0])  # the second one is now the oldest
    await hood.sleep(SECOND)
    hood.request("10.0.0.100")
    await hood.sent()
    await hood.quiet()
    for request, address in enumerate([crowd[0], *crowd[2:], "10.0.0.100"]):
        hood.open(address, request)
        assert await hood.opened() == (request, number(mac_of(address)))
    hood.open(crowd[1])
    assert await hood.next_request() == crowd[1]


@cocotb.test()
async def a_static_entry_that_finds_no_place_is_counted(dut: Any) -> None:
    hood = await Neighbourhood.create(dut)
    for last in range(2, 20):
        hood.enter(f"10.0.0.{last}")
    await hood.quiet()
    assert hood.drops() == {"staticNoPlace": 2}
    hood.open("10.0.0.17")
    assert await hood.opened() == (1, number(mac_of("10.0.0.17")))
    hood.open("10.0.0.18")
    assert await hood.turned_down() == (1, "outOfResources")


@cocotb.test()
async def a_host_that_claims_our_address_is_counted_and_answered_once_in_ten_seconds(dut: Any) -> None:
    """RFC 5227 2.4 (b)."""
    hood = await Neighbourhood.create(dut)
    for _ in range(3):
        hood.put(Ether(src=OTHER_MAC, dst=BROADCAST) / ARP(hwsrc=OTHER_MAC, psrc=ADDRESS, pdst=ADDRESS))
        hood.put(Ether(src=OTHER_MAC, dst=MAC) / ARP(op=2, hwsrc=OTHER_MAC, psrc=ADDRESS, hwdst=MAC, pdst=PEER))
    assert await hood.next_request() == ADDRESS
    await hood.quiet()
    hood.nothing_else()
    assert hood.drops() == {"conflicts": 6}
    assert dut.conflict.value == 1
    await hood.sleep(9_999_000_000)
    assert dut.conflict.value == 1
    await hood.sleep(2_000_000)
    assert dut.conflict.value == 0
    hood.put(Ether(src=OTHER_MAC, dst=BROADCAST) / ARP(hwsrc=OTHER_MAC, psrc=ADDRESS, pdst=PEER))
    assert await hood.next_request() == ADDRESS


@cocotb.test()
async def our_own_packets_that_come_back_are_no_conflict(dut: Any) -> None:
    hood = await Neighbourhood.create(dut)
    hood.put(Ether(src=MAC, dst=BROADCAST) / ARP(hwsrc=MAC, psrc=ADDRESS, pdst=ADDRESS))
    hood.put(Ether(src=MAC, dst=BROADCAST) / ARP(hwsrc=MAC, psrc=ADDRESS, pdst=PEER))
    await hood.quiet()
    hood.nothing_else()
    assert hood.drops() == {}
    assert dut.conflict.value == 0


def malformed() -> list[tuple[Packet | bytes, bool]]:
    """Frames, and whether they are padded."""
    ether = Ether(src=mac_of(PEER), dst=BROADCAST)
    good = {"hwsrc": mac_of(PEER), "psrc": PEER, "pdst": ADDRESS}
    whole = bytes(ether / ARP(**good))
    wrong: list[dict[str, Any]] = [
        {"hwtype": 6},
        {"ptype": 0x86DD},
        {"op": 0},
        {"op": 3},
        {"op": 257},
        {"hwsrc": "00:00:00:00:00:00"},
        {"hwsrc": "03:00:00:00:00:01"},
        {"hwsrc": BROADCAST},
        {"psrc": "224.0.0.1"},
        {"psrc": "255.255.255.255"},
        {"psrc": "127.0.0.1"},
    ]
    frames: list[tuple[Packet | bytes, bool]] = [(ether / ARP(**good | fields), True) for fields in wrong]
    frames += [(whole[:length], False) for length in (14, 15, 21, 28, 37, 38, 40, 41)]
    for place in (18, 19):  # lengths of the addresses
        frames += [(whole[:place] + bytes([length]) + whole[place + 1 :], True) for length in (0, 5, 8, 255)]
    return frames


@cocotb.test()
async def a_malformed_packet_is_counted_and_the_next_good_one_answered(dut: Any) -> None:
    hood = await Neighbourhood.create(dut)
    hood.request(PEER)
    await hood.sent()  # so that what a short one lacks stands in the registers
    for count, (frame, pad) in enumerate(malformed(), 1):
        hood.put(frame, pad=pad, arp=True)
        await hood.quiet()
        assert hood.drops() == {"arpMalformed": count}, bytes(frame).hex()
        hood.nothing_else()
        hood.request(PEER)
        assert (await hood.sent())[ARP].pdst == PEER


@cocotb.test()
async def a_flood_of_requests_loses_replies_and_nothing_else(dut: Any) -> None:
    hood = await Neighbourhood.create(dut)
    hood.frames.stream.stall = 1.0
    random = generator()
    requested = [f"10.0.0.{random.randrange(2, 254)}" for _ in range(100)]
    for address in requested:
        hood.request(address)
    await hood.control.drained(20_000)  # the control line never waits
    hood.frames.stream.stall = 0.0
    await hood.quiet()
    lost = hood.drops()
    replies = [(await hood.sent())[ARP].pdst for _ in range(len(requested) - lost["replyOverflow"])]
    hood.nothing_else()
    assert lost["replyOverflow"] > 0
    assert lost.keys() <= {"replyOverflow", "learntOverflow"}
    left = iter(requested)
    assert all(address in left for address in replies)
    hood.request(PEER)
    assert (await hood.sent())[ARP].pdst == PEER
