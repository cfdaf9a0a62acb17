# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Peers of several VLANs that have the same addresses and ports: each has a connection of its own."""

from __future__ import annotations

from typing import Any

import cocotb

from cocotb_tests.bench.runner import run_module
from cocotb_tests.flow.directory import cookie_ack, listening, open_request, segment
from cocotb_tests.flow.model import FLOWS

VLANS = (0, 1, 2, 3)
KEY = (0x0A000005, 40000, 80)


def test_vlans() -> None:
    run_module("FlowDirectoryFewTimeWaits", __name__)


@cocotb.test()
async def one_4_tuple_of_each_vlan_is_a_connection_of_its_own(dut: Any) -> None:
    """From SYN to release; the model keys them apart, and gives each its own numbers."""
    bench = await listening(dut)
    draw = bench.random
    for _ in range(3):
        for vlan in draw.sample(VLANS, len(VLANS)):
            bench.segment(segment(draw, KEY, "syn", vlan=vlan))
        await bench.check()
        assert len(bench.model.table) == len(VLANS)
        first = {event["initialSequence_value"] for event in bench.made[-len(VLANS) :]}
        assert len(first) == len(VLANS), "initial sequence numbers say nothing of each other"
        bench.established(*(flow.number for flow in bench.model.table.values()))
        for _ in range(12):
            bench.segment(segment(draw, KEY, "ack", vlan=draw.choice(VLANS)))
        await bench.check()
        # A segment of a connection that is gone belongs to no connection, even if others have its 4-tuple.
        gone = draw.choice(VLANS)
        key = (*KEY, gone) if gone else KEY
        bench.release(bench.model.table[key].number)
        await bench.idle()
        bench.segment(*(segment(draw, KEY, "ack", vlan=vlan) for vlan in VLANS))
        await bench.check()
        bench.release(*(flow.number for flow in bench.model.table.values()))
        await bench.check()


@cocotb.test()
async def an_unexpected_segment_of_a_vlan_is_answered_there(dut: Any) -> None:
    bench = await listening(dut)
    for vlan in VLANS:
        bench.segment(segment(bench.random, (*KEY[:2], 9), "syn", vlan=vlan))
        assert bench.model.stateless_replies[-1]["vlan"] == vlan
        await bench.check()


@cocotb.test()
async def an_open_names_its_vlan_and_may_use_the_port_of_another(dut: Any) -> None:
    bench = await listening(dut)
    draw = bench.random
    for port in (4000, 0):
        for vlan in VLANS:
            bench.open(open_request(draw, KEY[:2], port) | {"vlan": vlan})
        await bench.check()
    assert len(bench.model.table) == 2 * len(VLANS)
    bench.open(open_request(draw, KEY[:2], 4000) | {"vlan": 2})
    assert len(bench.model.refused) == 1, "this one is taken"
    await bench.check()


@cocotb.test()
async def a_cookie_of_one_vlan_is_none_in_another(dut: Any) -> None:
    bench = await listening(dut)
    draw = bench.random
    await bench.moves(1 << 40)
    for host in range(FLOWS // 2):
        bench.segment(segment(draw, (KEY[0] + 1 + host, KEY[1], 80), "syn"))
    await bench.check()
    for vlan in VLANS:
        bench.segment(segment(draw, KEY, "syn", vlan=vlan))
        reply = bench.model.stateless_replies[-1]
        await bench.check()
        assert reply["syn"] and reply["vlan"] == vlan
        for other in draw.sample(VLANS, len(VLANS)):
            bench.segment(cookie_ack(draw, reply, vlan=other))
            await bench.check()
    assert bench.model.cookies_accepted == len(VLANS)
    assert bench.model.cookies_refused >= len(VLANS)
