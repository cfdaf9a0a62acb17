# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Which ports listen, and with which parameters."""

from __future__ import annotations

from typing import Any

import cocotb

from cocotb_tests.bench.runner import run_module
from cocotb_tests.flow.directory import listen_request, listening, segment
from cocotb_tests.flow.model import ADDRESS_IN_USE


def test_listener_table() -> None:
    run_module("FlowDirectoryFewTimeWaits", __name__)


@cocotb.test()
async def listeners_are_removed_and_limited(dut: Any) -> None:
    bench = await listening(dut, ports=(1, 2, 3, 4))
    draw = bench.random
    bench.listen(listen_request(draw, 5), listen_request(draw, 3, remove=True))
    bench.listen(listen_request(draw, 9, remove=True), listen_request(draw, 0), listen_request(draw, 65535))
    assert len(bench.model.refused) == 2
    await bench.check()
    keys = [(0x0A000001, 7, port) for port in (1, 2, 3, 4, 5, 65535, 0)]
    bench.segment(*(segment(draw, key, "syn") for key in keys))
    assert len(bench.model.events) == 4 and len(bench.model.stateless_replies) == 3
    await bench.check()
    # A listener that is gone leaves its connections alone.
    bench.listen(listen_request(draw, 1, remove=True))
    bench.segment(segment(draw, keys[0], "ack"))
    await bench.check()


@cocotb.test()
async def a_second_listen_is_refused_and_changes_nothing(dut: Any) -> None:
    """RFC 9293 3.9.1.1, MUST-41: connections to come have the parameters of the first; the place that is free stays
    so."""
    bench = await listening(dut, ports=(1, 2, 3))
    draw = bench.random
    key = (0x0A000001, 7, 2)
    bench.listen(listen_request(draw, 2), listen_request(draw, 2), listen_request(draw, 4), listen_request(draw, 2))
    assert [refusal["reason"] for refusal in bench.model.refused] == [ADDRESS_IN_USE] * 3
    await bench.check()
    bench.segment(segment(draw, key, "syn"), segment(draw, (0x0A000001, 7, 4), "syn"))
    assert len(bench.model.events) == 2
    await bench.check()
    bench.listen(listen_request(draw, 2, remove=True), listen_request(draw, 2))
    bench.segment(segment(draw, (0x0A000002, 7, 2), "syn"))
    await bench.check()


@cocotb.test()
async def each_of_several_listeners_gives_its_own_parameters(dut: Any) -> None:
    """SYNs for all of them and for ports between them, mixed, without a pause."""
    ports = (80, 8080, 443, 65535)
    bench = await listening(dut, ports=ports)
    draw = bench.random
    for _ in range(10):
        ports_requested = [port for port in ports for _ in range(2)] + [79, 81, 442, 65534]
        draw.shuffle(ports_requested)
        keys = [(0x0A000000 + number, 1024, port) for number, port in enumerate(ports_requested)]
        bench.segment(*(segment(draw, key, "syn") for key in keys))
        assert [sum(key[2] == port for key in bench.model.table) for port in ports] == [2] * 4
        assert len(bench.model.stateless_replies) == 4
        await bench.check()
        bench.release(*[flow.number for flow in bench.model.table.values()])
        await bench.check()
