# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The next hop of a connection (RFC 1122 3.3.1.1), and an open that waits for it."""

from __future__ import annotations

from typing import Any

import cocotb

from cocotb_tests.bench import clocks
from cocotb_tests.bench.widths import each_width, run_width
from cocotb_tests.neighbour.neighbour import ADDRESS, GATEWAY, SECOND, Neighbourhood, mac_of, number

PEER = "10.0.0.2"


@each_width
def test_next_hop(width: int) -> None:
    run_width("Neighbour", __name__, width)


@cocotb.test()
@cocotb.parametrize(stall=[0.0, 0.5])
async def an_open_waits_for_the_answer_and_goes_on_as_it_was(dut: Any, stall: float) -> None:
    hood = await Neighbourhood.create(dut, stall=stall)
    fields = {
        "localPort": 4711,
        "parameters_ssthresh": 123456,
        "parameters_spacing": 0xABCDEF0123456,
        "parameters_initialWindow": 9,
    }
    hood.open(PEER, 5, **fields)
    assert await hood.next_request() == PEER
    await hood.quiet()
    hood.nothing_else()
    hood.reply(PEER)
    beat = await hood.resolved.receive()
    wanted = {"request": 5, "remoteIp": number(PEER), "remotePort": 80, "remoteMac": number(mac_of(PEER))} | fields
    assert {name: beat[name] for name in wanted} == wanted
    await hood.quiet()
    hood.nothing_else()


@cocotb.test()
async def three_requests_a_second_apart_and_then_it_fails(dut: Any) -> None:
    hood = await Neighbourhood.create(dut)
    began = hood.time.ns
    hood.open(PEER, 9)
    times = []
    for _ in range(3):
        assert await hood.next_request() == PEER
        times.append(hood.time.ns - began)
        hood.nothing_else()
        await hood.quiet()
        await hood.time.jump()
    assert times == [0, SECOND, 2 * SECOND]
    assert await hood.turned_down() == (9, "unreachable")
    assert hood.time.ns - began == 3 * SECOND
    hood.nothing_else()
    assert not await hood.time.jump(), "nothing is waited for"
    hood.open(PEER, 10)  # and it can be asked again
    assert await hood.next_request() == PEER
    await hood.quiet()
    await hood.time.jump()
    assert await hood.next_request() == PEER
    hood.reply(PEER)
    assert await hood.opened() == (10, number(mac_of(PEER)))


@cocotb.test()
async def two_opens_to_one_unknown_neighbour_make_one_series(dut: Any) -> None:
    hood = await Neighbourhood.create(dut)
    hood.open(PEER, 1)
    hood.open(PEER, 2)
    assert await hood.next_request() == PEER
    await hood.quiet()
    hood.nothing_else()
    await hood.time.jump()
    assert await hood.next_request() == PEER
    await hood.quiet()
    hood.nothing_else()
    hood.reply(PEER)
    assert [await hood.opened() for _ in range(2)] == [(1, number(mac_of(PEER))), (2, number(mac_of(PEER)))]


@cocotb.test()
async def two_opens_to_one_silent_neighbour_both_fail(dut: Any) -> None:
    hood = await Neighbourhood.create(dut)
    hood.open(PEER, 1)
    await hood.sleep(SECOND // 2)
    hood.open(PEER, 2)
    await hood.sleep(3 * SECOND)
    assert [await hood.turned_down() for _ in range(2)] == [(1, "unreachable"), (2, "unreachable")]
    assert [await hood.next_request() for _ in range(3)] == [PEER] * 3
    hood.nothing_else()


@cocotb.test()
async def an_open_to_a_known_neighbour_passes_those_that_wait(dut: Any) -> None:
    hood = await Neighbourhood.create(dut)
    hood.enter("10.0.0.100")
    for last in range(2, 6):
        hood.open(f"10.0.0.{last}", last)
    for request in range(50, 70):
        hood.open("10.0.0.100", request)
        assert await hood.opened() == (request, number(mac_of("10.0.0.100")))


@cocotb.test()
async def a_fifth_open_that_would_wait_is_refused(dut: Any) -> None:
    hood = await Neighbourhood.create(dut)
    for last in range(2, 7):
        hood.open(f"10.0.0.{last}", last)
    assert await hood.turned_down() == (6, "outOfResources")
    for last in (4, 2, 5, 3):
        hood.reply(f"10.0.0.{last}")
        assert await hood.opened() == (last, number(mac_of(f"10.0.0.{last}")))
    hood.open("10.0.0.77", 77)
    await hood.quiet()
    hood.reply("10.0.0.77")
    assert await hood.opened() == (77, number(mac_of("10.0.0.77")))


@cocotb.test()
async def a_static_entry_ends_the_waiting(dut: Any) -> None:
    hood = await Neighbourhood.create(dut)
    hood.open(PEER, 3)
    await hood.next_request()
    hood.enter(PEER)
    assert await hood.opened() == (3, number(mac_of(PEER)))
    await hood.quiet()
    assert not await hood.time.jump(), "a static entry asks for no time"


@cocotb.test()
@cocotb.parametrize(
    (
        ("netmask", "target", "hop"),
        [
            ("255.255.255.0", "10.0.0.200", "10.0.0.200"),
            ("255.255.255.0", "10.0.1.2", GATEWAY),
            ("255.255.255.0", "192.168.0.1", GATEWAY),
            ("255.255.255.0", GATEWAY, GATEWAY),
            ("255.255.254.0", "10.0.1.2", "10.0.1.2"),
            ("255.255.255.254", "10.0.0.0", "10.0.0.0"),  # RFC 3021: a link of two
            ("255.255.255.255", "10.0.0.2", GATEWAY),
            ("0.0.0.0", "192.0.2.1", "192.0.2.1"),  # no network: everybody is a neighbour
            ("0.0.0.0", "10.0.0.255", "10.0.0.255"),
        ],
    )
)
async def the_next_hop_is_the_peer_on_our_network_and_the_gateway_otherwise(
    dut: Any, netmask: str, target: str, hop: str
) -> None:
    hood = await Neighbourhood.create(dut, netmask=netmask)
    hood.open(target, 2)
    assert await hood.next_request() == hop
    hood.reply(hop)
    beat = await hood.resolved.receive()
    assert (beat["remoteIp"], beat["remoteMac"]) == (number(target), number(mac_of(hop)))


@cocotb.test()
async def without_a_gateway_other_networks_are_unreachable(dut: Any) -> None:
    hood = await Neighbourhood.create(dut, gateway="0.0.0.0")
    hood.open("10.0.1.2", 4)
    assert await hood.turned_down() == (4, "unreachable")
    hood.open(PEER, 5)
    assert await hood.next_request() == PEER


@cocotb.test()
async def an_address_of_no_peer_is_refused_at_once(dut: Any) -> None:
    """RFC 1122 3.2.1.3: no host has such an address; and ourselves, whom the wire does not reach."""
    hood = await Neighbourhood.create(dut)
    nobody = ["0.0.0.0", "0.1.2.3", "127.0.0.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255"]
    for request, address in enumerate([*nobody, ADDRESS, "10.0.0.0", "10.0.0.255"]):
        hood.open(address, request)
        assert await hood.turned_down() == (request, "unreachable"), address
    await hood.quiet()
    hood.nothing_else()
    for address in ("10.0.1.255", "126.0.0.1", "128.0.0.1", "223.255.255.255"):  # hosts as far as we know
        hood.open(address)
        await hood.quiet()
    assert hood.refused.pending() == []


@cocotb.test()
async def a_refusal_that_nobody_takes_is_not_lost(dut: Any) -> None:
    hood = await Neighbourhood.create(dut)
    hood.refused.stall = 1.0
    hood.enter(PEER)
    for request in (1, 2):
        hood.open("127.0.0.1", request)
    hood.open(PEER, 3)
    await clocks(dut, 200)
    hood.refused.stall = 0.0
    assert [await hood.turned_down() for _ in range(2)] == [(1, "unreachable"), (2, "unreachable")]
    assert await hood.opened() == (3, number(mac_of(PEER)))


@cocotb.test()
@cocotb.parametrize(vlan=[0, 1, 3])
async def each_request_for_a_neighbour_goes_to_its_own_network(dut: Any, vlan: int) -> None:
    """RFC 1122 2.3.2.1: the second and the third one as well; an answer on another VLAN is none."""
    hood = await Neighbourhood.create(dut)
    hood.open("10.0.0.7", 5, vlan=vlan)
    for _ in range(3):
        frame = await hood.frames.receive(4000)
        assert frame.data[12:14] == b"\x08\x06" and frame.extras["vlan"] == vlan
        await hood.sleep(SECOND)
    assert await hood.turned_down() == (5, "unreachable")
