# SPDX-License-Identifier: BSD-2-Clause-Patent
"""States of RFC 9293 that one side alone does not reach: both open, both close; and why a connection ended."""

from __future__ import annotations

from typing import Any

import cocotb
import pytest

from cocotb_tests.bench.runner import run_module
from cocotb_tests.engine.endpoint import FLOW, MODULE, SECOND, Endpoint
from cocotb_tests.engine.segment import MODULUS, Options


def test_handshake() -> None:
    run_module(MODULE, __name__)


def test_handshake_with_spaced_events() -> None:
    run_module("FlowEngineSpaced", __name__, label="spaced")


@cocotb.test()
async def simultaneous_open_gets_a_reply_at_once(dut: Any) -> None:
    """RFC 9293 3.5, figure 7; the SYN-ACK has the first SYN's number."""
    endpoint = await Endpoint.create(dut, options=Options(sack=True, timestamp=5))
    syn = await endpoint.open()
    endpoint.send("S", seq=endpoint.first)
    (reply,) = await endpoint.replies()
    assert set(reply.flags) == {"S", "A"}
    assert (reply.seq, reply.ack) == (syn.seq, endpoint.seq)
    assert reply.fields["sackPermitted"] and reply.echo == 5
    assert endpoint.state == "synReceived"
    endpoint.send("SA", seq=endpoint.first)  # the other's, which crossed ours
    assert (await endpoint.acknowledged()).ack == endpoint.seq
    endpoint.send("A")  # its answer to ours
    await endpoint.settle()
    assert endpoint.state == "established"


@cocotb.test()
async def a_syn_that_comes_again_gets_its_reply_again_at_once(dut: Any) -> None:
    """The SYN-ACK was lost; an ACK would mean nothing to a peer in SYN-SENT."""
    endpoint = await Endpoint.create(dut)
    first = await endpoint.arrive()
    for _ in range(3):
        endpoint.send("S", seq=endpoint.first)
        (again,) = await endpoint.replies()
        assert (again.flags, again.seq, again.ack) == (first.flags, first.seq, first.ack)


@cocotb.test()
async def simultaneous_close_passes_closing(dut: Any) -> None:
    """RFC 9293 3.6, figure 13."""
    endpoint = await Endpoint.connected(dut)
    endpoint.application("shutdown")
    (fin,) = await endpoint.replies()
    assert "F" in fin.flags
    endpoint.send("FA", ack=endpoint.ack)
    assert (await endpoint.acknowledged()).ack == endpoint.seq
    assert endpoint.state == "closing"
    endpoint.ack = (endpoint.ack + 1) % MODULUS
    endpoint.send("A")
    await endpoint.settle()
    assert endpoint.state == "timeWait"
    assert await endpoint.expire() == pytest.approx(60 * SECOND, rel=0.01)
    assert (endpoint.state, endpoint.reason) == ("closed", "finished")
    endpoint.application("close")
    await endpoint.silent()
    assert [end["waits"] for end in endpoint.ends] == [0]


@cocotb.test()
async def a_fin_that_comes_again_restarts_time_wait(dut: Any) -> None:
    """RFC 9293 3.10.7.4: it is acknowledged and the 2 MSL begin again."""
    endpoint = await Endpoint.connected(dut)
    endpoint.application("shutdown")
    await endpoint.replies()
    endpoint.ack = (endpoint.ack + 1) % MODULUS
    endpoint.send("FA")
    await endpoint.replies()
    assert endpoint.state == "timeWait"
    await endpoint.advance(30 * SECOND)
    endpoint.send("FA", seq=endpoint.seq - 1)
    assert (await endpoint.acknowledged()).ack == endpoint.seq
    assert await endpoint.expire() == pytest.approx(60 * SECOND, rel=0.01)


@cocotb.test()
async def a_syn_finds_the_application_still_there(dut: Any) -> None:
    """It is challenged (RFC 5961 4); the directory's table lets it in when the application has closed."""
    endpoint = await Endpoint.connected(dut)
    endpoint.application("shutdown")
    await endpoint.replies()
    endpoint.ack = (endpoint.ack + 1) % MODULUS
    endpoint.send("FA")
    await endpoint.replies()
    endpoint.send("S", seq=endpoint.seq + 1)
    assert (await endpoint.acknowledged()).ack == endpoint.seq
    assert endpoint.state == "timeWait"


@cocotb.test()
@cocotb.parametrize(stamp=[None, 500], crossing=[False, True])
async def time_wait_gives_up_the_flow_of_an_application_that_has_closed(
    dut: Any, stamp: int | None, crossing: bool
) -> None:
    """After the ACK; the directory learns the numbers with which it answers from then on."""
    endpoint = await Endpoint.connected(dut, options=Options(timestamp=stamp))
    endpoint.application("written", 500)
    endpoint.application("close")
    (fin,) = await endpoint.replies()
    if not crossing:
        endpoint.ack = (fin.seq + 500 + 1) % MODULUS
    endpoint.send("FA", tsval=None if stamp is None else stamp + 9)
    assert (await endpoint.acknowledged()).ack == endpoint.seq
    if crossing:
        assert (endpoint.state, endpoint.released) == ("closing", 0)
        endpoint.ack = (fin.seq + 500 + 1) % MODULUS
        endpoint.send("A", tsval=None if stamp is None else stamp + 9)
        await endpoint.silent()
    (end,) = endpoint.ends
    assert (end["flow"], end["waits"], endpoint.released) == (FLOW, 1, 1)
    assert (end["numbers_next_value"], end["numbers_received_value"]) == (endpoint.ack, endpoint.seq)
    assert end["numbers_timestamped"] == int(stamp is not None)
    assert stamp is None or end["numbers_recent"] == stamp + 9
    assert (endpoint.state, endpoint.reason, endpoint.deadline) == ("closed", "finished", None)


@cocotb.test()
async def a_close_in_time_wait_gives_up_the_flow(dut: Any) -> None:
    """Data that the application has not read keeps the flow until then; an abort forgets the connection."""
    for kind in ("close", "abort"):
        endpoint = await Endpoint.connected(dut)
        endpoint.application("shutdown")
        await endpoint.replies()
        endpoint.ack = (endpoint.ack + 1) % MODULUS
        endpoint.send("FA", 10)
        await endpoint.replies()
        assert (endpoint.state, endpoint.released) == ("timeWait", 0)
        endpoint.application(kind)
        await endpoint.silent()
        assert [end["waits"] for end in endpoint.ends] == [int(kind == "close")]
        assert (endpoint.state, endpoint.released) == ("closed", 1)


@cocotb.test()
async def urgent_data_is_ordinary_bytes(dut: Any) -> None:
    """RFC 6093: in line."""
    endpoint = await Endpoint.connected(dut)
    endpoint.send("AU", 10)
    endpoint.send("A", 10)
    assert (await endpoint.acknowledged()).ack == endpoint.seq
    assert [placed.length for placed in endpoint.placements] == [10, 10]


@cocotb.test()
async def data_for_an_application_that_has_gone_gets_a_reset(dut: Any) -> None:
    """RFC 1122 4.2.2.13; a FIN behind bytes that have come before is none."""
    endpoint = await Endpoint.connected(dut)
    endpoint.send("A", 10)
    await endpoint.settle()
    endpoint.application("consumed", 10)
    endpoint.application("close")
    await endpoint.replies()
    endpoint.send("FA", 10, seq=endpoint.seq - 10)
    await endpoint.replies()
    assert endpoint.state == "closing"


@cocotb.test()
async def new_data_after_close_resets(dut: Any) -> None:
    """RFC 1122 4.2.2.13, also out of order."""
    endpoint = await Endpoint.connected(dut)
    endpoint.application("close")
    await endpoint.replies()
    endpoint.send("A", 10, seq=endpoint.seq + 50)
    assert any("R" in reply.flags for reply in await endpoint.replies())
    assert endpoint.reason == "aborted"


@cocotb.test()
async def a_connection_ends_with_its_reason(dut: Any) -> None:
    """Refused, unreachable, given up by us and by the timer: one connection after another on the flow."""
    endpoint = await Endpoint.create(dut)

    await endpoint.open()
    endpoint.send("RA", seq=0)
    await endpoint.settle()
    assert endpoint.reason == "refused"
    await endpoint.open()
    await endpoint.settle()
    endpoint.icmp_error()
    await endpoint.settle()
    assert endpoint.reason == "unreachable"
    await endpoint.open()
    await endpoint.settle()
    endpoint.application("close")
    await endpoint.replies()
    assert endpoint.reason == "aborted"
    await endpoint.open()
    for _ in range(16):
        await endpoint.expire()
    assert endpoint.reason == "timedOut"
