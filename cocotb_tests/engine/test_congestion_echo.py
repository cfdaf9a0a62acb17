# SPDX-License-Identifier: BSD-2-Clause-Patent
"""ECN: agreement and the receiver's echo (RFC 3168 6.1)."""

from __future__ import annotations

from typing import Any

import cocotb

from cocotb_tests.bench.runner import run_module
from cocotb_tests.engine.endpoint import MODULE, Endpoint
from cocotb_tests.engine.segment import Options, Segment


def test_congestion_echo() -> None:
    run_module(MODULE, __name__)


async def acknowledgment(endpoint: Endpoint, **fields: Any) -> Segment:
    """The ACK of two segments, the second as given."""
    endpoint.send("A", 10)
    endpoint.send(fields.pop("flags", "A"), 10, **fields)
    return await endpoint.acknowledged()


@cocotb.test()
@cocotb.parametrize(ours=[0, 1], theirs=[False, True])
async def a_syn_that_requests_ecn_is_granted_if_we_want_it(dut: Any, ours: int, theirs: bool) -> None:
    """RFC 3168 6.1.1: the SYN-ACK has ECE without CWR."""
    endpoint = await Endpoint.create(dut, options=Options(ecn=theirs), parameters={"ecn": ours})
    reply = await endpoint.accept()
    assert ("E" in reply.flags) == bool(ours and theirs)
    assert ("E" in (await acknowledgment(endpoint, marked=True)).flags) == bool(ours and theirs)


@cocotb.test()
async def our_syn_requests_ecn_with_both_bits(dut: Any) -> None:
    endpoint = await Endpoint.create(dut, options=Options(ecn=True), parameters={"ecn": 1})
    syn = await endpoint.connect()
    assert {"E", "C"} < set(syn.flags)
    assert "E" in (await acknowledgment(endpoint, marked=True)).flags


@cocotb.test()
async def our_syn_requests_nothing_by_default(dut: Any) -> None:
    endpoint = await Endpoint.create(dut)
    assert (await endpoint.connect()).flags == "S"


@cocotb.test()
@cocotb.parametrize(flags=["SA", "SAEC"])
async def a_syn_ack_that_grants_nothing_agrees_to_nothing(dut: Any, flags: str) -> None:
    """RFC 3168 6.1.1.1: also one that only reflects our bits."""
    endpoint = await Endpoint.create(dut, parameters={"ecn": 1})
    await endpoint.open()
    endpoint.send(flags, seq=endpoint.first)
    await endpoint.acknowledged()
    assert (await acknowledgment(endpoint, marked=True)).flags == "A"


async def connected(dut: Any) -> Endpoint:
    return await Endpoint.connected(dut, options=Options(ecn=True), parameters={"ecn": 1})


@cocotb.test()
async def a_mark_is_echoed_until_the_sender_knows(dut: Any) -> None:
    """RFC 3168 6.1.3."""
    endpoint = await connected(dut)
    assert (await acknowledgment(endpoint)).flags == "A"
    assert "E" in (await acknowledgment(endpoint, marked=True)).flags
    for _ in range(3):
        assert "E" in (await acknowledgment(endpoint)).flags
    assert (await acknowledgment(endpoint, flags="AC")).flags == "A"


@cocotb.test()
async def data_that_is_marked_and_says_cwr_begins_again(dut: Any) -> None:
    """RFC 3168 6.1.3."""
    endpoint = await connected(dut)
    assert "E" in (await acknowledgment(endpoint, marked=True)).flags
    assert "E" in (await acknowledgment(endpoint, flags="AC", marked=True)).flags


@cocotb.test()
async def marks_of_what_is_not_acceptable_do_not_count(dut: Any) -> None:
    """RFC 3168 6.1.5: data outside the window; 6.1.4: pure ACKs."""
    endpoint = await connected(dut)
    endpoint.send("A", 10, seq=endpoint.seq - 2000, marked=True)
    assert (await endpoint.acknowledged()).flags == "A"
    endpoint.send("A", marked=True)
    assert (await acknowledgment(endpoint)).flags == "A"
