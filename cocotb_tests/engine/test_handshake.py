# SPDX-License-Identifier: BSD-2-Clause-Patent
"""States of RFC 9293 that one side alone does not reach: both open, both close; and why a connection ended."""

from __future__ import annotations

from typing import Any

import cocotb
import pytest

from cocotb_tests.bench.runner import run_module
from cocotb_tests.engine.endpoint import MODULE, SECOND, Endpoint
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
    endpoint.application("close")
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


@cocotb.test()
async def a_fin_that_comes_again_restarts_time_wait(dut: Any) -> None:
    """RFC 9293 3.10.7.4: it is acknowledged and the 2 MSL begin again."""
    endpoint = await Endpoint.connected(dut)
    endpoint.application("close")
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
@cocotb.parametrize(
    (
        ("first", "next_", "ahead", "beyond", "reopens"),
        [
            (None, None, 1, 0, True),
            (None, None, 1, 2**30, True),
            (None, None, 1, -1, False),
            (None, None, 1, -(2**30), False),
            (None, None, 0, 0, False),
            (None, None, -5000, 0, False),
            (100, 101, -5000, -(2**30), True),
            (100, 100, 1, -1, True),
            (100, 100, 0, 0, False),
            (100, 99, 5000, 0, False),
            (100, None, 1, 0, True),
            (100, None, 1, -1, False),
            (100, None, -5000, 0, False),
        ],
    )
)
async def a_later_syn_ends_time_wait(
    dut: Any, first: int | None, next_: int | None, ahead: int, beyond: int, reopens: bool
) -> None:
    """RFC 6191 2: by timestamps if both SYNs have them; otherwise by sequence number, and then our next one must lie
    beyond all that were used (RFC 9293 3.10.7.4). Others are challenged (RFC 5961 4).
    """
    endpoint = await Endpoint.connected(dut, options=Options(timestamp=first))
    endpoint.application("written", 500)
    endpoint.application("close")
    (fin,) = await endpoint.replies()
    endpoint.ack = (fin.seq + 500 + 1) % MODULUS  # SND.MAX
    endpoint.send("FA")
    await endpoint.replies()
    assert endpoint.state == "timeWait"
    numbers: dict[str, Any] = {"initialSequence_value": (endpoint.ack + beyond) % MODULUS}
    endpoint.send("S", seq=endpoint.seq + ahead, tsval=next_, timestamped=next_ is not None, **numbers)
    if reopens:
        await endpoint.silent()
        assert (endpoint.state, endpoint.reason) == ("closed", "finished")
    else:
        await endpoint.settle()
        assert endpoint.state == "timeWait"


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
