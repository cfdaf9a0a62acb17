# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Keep-alive (RFC 9293 3.8.4): off unless asked for, and then a request that costs a living peer one ACK."""

from __future__ import annotations

from typing import Any

import cocotb
import pytest

from cocotb_tests.bench.runner import run_module
from cocotb_tests.engine.endpoint import MODULE, SECOND, Endpoint

UNIT = 2**30  # ns


def test_keep_alive() -> None:
    run_module(MODULE, __name__)


async def connected(dut: Any, units: int, **fields: Any) -> Endpoint:
    return await Endpoint.connected(dut, parameters={"keepAlive": units}, **fields)


@cocotb.test()
async def it_is_off_by_default(dut: Any) -> None:
    endpoint = await connected(dut, 0)
    assert endpoint.deadline is None


@cocotb.test()
@cocotb.parametrize(units=[1, 60, 7200, 65535])
async def an_idle_peer_is_probed_and_its_reply_is_enough(dut: Any, units: int) -> None:
    """The request is an ACK of what has been acknowledged: RFC 9293 3.8.4, SEG.SEQ = SND.NXT-1."""
    endpoint = await connected(dut, units, now=2**48 - 10 * SECOND)
    for _ in range(3):
        passed = await endpoint.expire()
        assert units <= passed / UNIT <= units + 1
        probe = await endpoint.acknowledged()
        assert (probe.seq, probe.length) == (endpoint.ack - 1, 0)
        endpoint.send("A")
        await endpoint.silent()


@cocotb.test()
async def nine_unanswered_requests_end_the_connection(dut: Any) -> None:
    endpoint = await connected(dut, 100)
    passed = [await endpoint.expire()]
    await endpoint.acknowledged()
    for _ in range(8):
        passed.append(await endpoint.expire())
        await endpoint.acknowledged()
    passed.append(await endpoint.expire())
    assert endpoint.state == "closed" and endpoint.reason == "timedOut"
    assert [duration / SECOND for duration in passed[1:]] == pytest.approx([75] * 9, abs=2)


@cocotb.test()
async def data_of_the_peer_puts_the_request_off(dut: Any) -> None:
    endpoint = await connected(dut, 100)
    for _ in range(4):
        await endpoint.advance(60 * SECOND)
        endpoint.send("A", 10)
        endpoint.send("A", 10)
        await endpoint.acknowledged()
    assert await endpoint.expire() > 99 * SECOND


@cocotb.test()
async def while_data_is_outstanding_nobody_is_probed(dut: Any) -> None:
    """RFC 9293 3.8.4: only of an idle connection; retransmission finds out."""
    endpoint = await connected(dut, 1)
    endpoint.application("written", 10)
    first = (await endpoint.replies())[0]
    again = 0
    for _ in range(8):
        await endpoint.expire()
        for reply in await endpoint.replies():
            assert (reply.seq, reply.length) == (first.seq, 10)
            again += 1
    assert again > 2


@cocotb.test()
async def a_peer_that_has_sent_its_fin_is_probed_too(dut: Any) -> None:
    """RFC 9293 3.8.4 leaves out no state in which a connection is idle: CLOSE-WAIT lasts as long as the application
    likes."""
    endpoint = await connected(dut, 2)
    endpoint.send("FA")
    await endpoint.acknowledged()
    assert endpoint.state == "closeWait"
    for _ in range(2):
        assert 2 <= await endpoint.expire() / UNIT <= 3
        probe = await endpoint.acknowledged()
        assert (probe.seq, probe.length) == (endpoint.ack - 1, 0)
        endpoint.send("A")
        await endpoint.silent()


@cocotb.test()
@cocotb.parametrize((("before", "after"), [(0, 10), (100, 10), (10, 100)]))
async def another_interval_holds_at_once(dut: Any, before: int, after: int) -> None:
    """It counts from when the peer was last heard."""
    endpoint = await connected(dut, before)
    await endpoint.advance(5 * UNIT)
    endpoint.set_times(keep_alive=after)
    await endpoint.silent()
    assert after - 6 <= await endpoint.expire() / UNIT <= after - 4
    await endpoint.acknowledged()


@cocotb.test()
async def no_interval_ends_it(dut: Any) -> None:
    endpoint = await connected(dut, 10)
    endpoint.set_times()
    await endpoint.silent()
    assert endpoint.deadline is None
