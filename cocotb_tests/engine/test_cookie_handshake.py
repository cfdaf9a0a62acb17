# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Handshakes whose SYN and ACK went before there was a connection (RFC 4987 3.6), and what the backlog learns of
handshakes."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

from cocotb_tests.bench.runner import run_module
from cocotb_tests.engine.endpoint import MODULE, Endpoint
from cocotb_tests.engine.segment import MODULUS, MSS, Options


def test_cookie_handshake() -> None:
    run_module(MODULE, __name__)


class Overs:
    """Counts what `handshakeOver` says."""

    def __init__(self, dut: Any) -> None:
        self.count = 0
        self._dut = dut
        cocotb.start_soon(self._watch())

    async def _watch(self) -> None:
        while True:
            await RisingEdge(self._dut.clk)
            self.count += int(self._dut.handshakeOver_valid.value)


def send_syn(endpoint: Endpoint, **fields: Any) -> None:
    """The SYN that makes the connection."""
    opening: dict[str, Any] = endpoint._open_fields()
    endpoint.send("S", seq=endpoint.first, fresh=1, **opening, **fields)


async def by_cookie(dut: Any, *, length: int = 0, initial: int = 1_000_000) -> Endpoint:
    """The directory's event for the ACK that brings a cookie back; it has no options but the MSS."""
    endpoint = await Endpoint.create(dut, initial=initial, options=Options(scale=None))
    send_syn(endpoint, cookie=1)
    endpoint.ack = (endpoint.initial + 1) % MODULUS
    endpoint.send("PA" if length else "A", length)
    await endpoint.settle()
    return endpoint


@cocotb.test()
@cocotb.parametrize(initial=[1_000_000, 2**32 - 1])
async def the_ack_establishes_and_no_second_syn_goes(dut: Any, initial: int) -> None:
    endpoint = await by_cookie(dut, initial=initial)
    assert endpoint.state == "established"
    await endpoint.silent()
    assert endpoint.deadline is None, "nothing is outstanding"


@cocotb.test()
async def data_with_the_ack_is_taken(dut: Any) -> None:
    endpoint = await by_cookie(dut, length=100)
    [placed] = endpoint.placements
    assert (placed.seq, placed.length) == ((endpoint.first + 1) % MODULUS, 100)
    endpoint.application("written", 10)
    reply = await endpoint.received()
    assert (reply.seq, reply.length, reply.ack) == (endpoint.ack, 10, endpoint.seq)
    assert reply.timestamps is None and reply.sack == []


@cocotb.test()
async def the_peers_window_is_not_scaled(dut: Any) -> None:
    endpoint = await by_cookie(dut)
    endpoint.window = 2 * MSS
    endpoint.send("A")
    endpoint.application("written", 20 * MSS)
    for _ in range(2):
        assert (await endpoint.received()).length == MSS
    await endpoint.silent()


@cocotb.test()
async def a_handshake_is_over_once(dut: Any) -> None:
    overs = Overs(dut)
    endpoint = await Endpoint.create(dut)
    send_syn(endpoint)
    reply = await endpoint.received()
    await endpoint.settle()
    assert overs.count == 0, "the peer is silent"
    endpoint.ack = (reply.seq + 1) % MODULUS
    endpoint.send("A")
    await endpoint.settle()
    assert overs.count == 1
    endpoint.application("abort")
    await endpoint.settle()
    assert overs.count == 1


@cocotb.test()
async def a_handshake_that_a_reset_ends_is_over(dut: Any) -> None:
    overs = Overs(dut)
    endpoint = await Endpoint.create(dut)
    send_syn(endpoint)
    await endpoint.received()
    endpoint.send("R")
    await endpoint.settle()
    assert overs.count == 1


@cocotb.test()
async def a_handshake_without_replies_is_over_in_the_end(dut: Any) -> None:
    overs = Overs(dut)
    endpoint = await Endpoint.create(dut)
    send_syn(endpoint)
    for _ in range(40):
        if endpoint.deadline is None and overs.count:
            break
        await endpoint.settle()
        if endpoint.deadline is not None:
            await endpoint.expire()
    assert overs.count == 1


@cocotb.test()
async def our_own_opens_are_nobodys_backlog(dut: Any) -> None:
    overs = Overs(dut)
    endpoint = await Endpoint.create(dut)
    await endpoint.open()
    endpoint.application("abort")
    await endpoint.settle()
    assert overs.count == 0


@cocotb.test()
async def a_cookies_handshake_is_over_too(dut: Any) -> None:
    overs = Overs(dut)
    await by_cookie(dut)
    assert overs.count == 1
