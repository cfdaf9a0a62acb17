# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A memory that answers SLVERR: the connection whose bytes it refused ends with a reason, and nothing else is lost."""

from __future__ import annotations

import functools
from typing import Any

import cocotb

from cocotb_tests.bench import AXI_STREAM, StreamMonitor, generator, until
from cocotb_tests.bench.layout import number
from cocotb_tests.bench.runner import run_module
from cocotb_tests.core.core import Core
from cocotb_tests.core.crowd import LISTEN_PORT, Crowd, Stream
from cocotb_tests.memory.axi import outside_memory
from cocotb_tests.memory.layout import BUFFER_BYTES, RECEIVE, SEND

KINDS = ("place", "accept", "fetch", "deliver")


def test_downbeat_memory_errors() -> None:
    run_module("DownbeatExternalMemory", __name__)


def complete(stream: Stream) -> bool:
    return len(stream.arrived) >= len(stream.given)


@cocotb.test()
@cocotb.parametrize(kind=KINDS, stall=[0.0, 0.4])
async def a_refused_access_ends_its_connection_and_no_other(dut: Any, kind: str, stall: float) -> None:
    writes, reads = outside_memory(dut, stall=stall, late=30)
    core = await Core.create(dut, stall=stall)
    deliveries = StreamMonitor(dut, "m_axis_rx", naming=AXI_STREAM)
    crowd = Crowd(core, generator(), loss=0.0)
    core.listen(LISTEN_PORT)
    await core.idle()
    crowd.peer_connects()
    crowd.application_connects()
    await crowd.settle()
    victim, other = crowd.connections.values()

    async def both_ways() -> None:
        for connection in (victim, other):
            crowd.application_writes(connection)
            crowd.peer_sends(connection)
        await crowd.settle()

    await both_ways()
    assert (victim.state, other.state) == ("established", "established")
    assert victim.flow is not None
    deliveries.pending()
    first = (SEND if kind in ("accept", "fetch") else RECEIVE).addresses(victim.flow, 0, 1)[0]
    (writes if kind in ("place", "accept") else reads).faults = range(first, first + BUFFER_BYTES, 8)
    await both_ways()
    assert victim.reason == "memoryError"
    assert victim.gone, "the peer got no RST"
    counts = {each: int(getattr(dut, f"counters_memory_{each}").value) for each in KINDS}
    assert counts[kind] >= 1
    assert sum(counts.values()) == counts[kind]
    assert victim.to_peer.given.startswith(victim.to_peer.arrived), "the peer got what the memory did not have"
    flagged = [beat["user"] for beat in deliveries.pending() if beat["dest"] == victim.flow and beat["last"]]
    if kind == "deliver":
        assert 1 in flagged
    else:
        assert 1 not in flagged
        assert victim.to_core.given.startswith(victim.to_core.arrived), "the application got what never was in memory"

    writes.faults = reads.faults = ()
    for _ in range(3):
        await both_ways()
    for _ in range(20):
        if other.acknowledged < len(other.to_core.given):
            crowd.speak(other)
        await crowd.settle()
    for stream in (other.to_peer, other.to_core):
        await until(dut, functools.partial(complete, stream), "the other connection's last byte", 50_000)
        assert stream.arrived == stream.given

    for _ in range(number("flows") - 1):
        crowd.application_connects()
    await crowd.settle()
    states = [connection.state for connection in crowd.connections.values() if connection is not victim]
    assert states == ["established"] * number("flows"), "the flow did not come back"
