# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Errors that end nothing are reported to the application (RFC 9293 3.9.1.8, MUST-47): ICMP errors, and R1."""

from __future__ import annotations

from typing import Any

import cocotb

from cocotb_tests.bench.layout import layout
from cocotb_tests.bench.runner import run_module
from cocotb_tests.engine.endpoint import MODULE, Endpoint


def test_soft_errors() -> None:
    run_module(MODULE, __name__)


def _error(endpoint: Endpoint) -> tuple[str, int, int]:
    """Kind, code, and how many there were, as the last status says."""
    names = {value: name for name, value in layout()["enums"]["NetworkErrorKind"].items()}
    status = endpoint.status
    return names[status["error_kind"]], status["error_code"], status["errors"]


@cocotb.test()
async def icmp_errors_about_data_in_flight_are_reported_and_end_nothing(dut: Any) -> None:
    """RFC 9293 3.9.2.2, SHLD-25; hard ones likewise (RFC 5927 6)."""
    endpoint = await Endpoint.connected(dut)
    endpoint.application("written", 1000)
    await endpoint.replies()
    assert _error(endpoint) == ("none", 0, 0)
    errors = [("unreachable", 0), ("unreachable", 1), ("unreachable", 3), ("timeExceeded", 0), ("parameterProblem", 2)]
    for count, (kind, code) in enumerate(errors, 1):
        endpoint.status.clear()
        endpoint.icmp_error(kind, code, seq=endpoint.ack + 999)
        await endpoint.silent()
        assert _error(endpoint) == (kind, code, count % 4)
        assert endpoint.state == "established"
    endpoint.ack += 1000
    endpoint.send("A")
    await endpoint.silent()
    assert _error(endpoint) == ("parameterProblem", 2, 1)


@cocotb.test()
async def an_error_about_nothing_in_flight_is_counted_and_not_reported(dut: Any) -> None:
    """RFC 5927 4.1."""
    endpoint = await Endpoint.connected(dut)
    endpoint.application("written", 1000)
    await endpoint.replies()
    endpoint.status.clear()
    before = int(dut.ignoredIcmpErrors.value)
    for number in (endpoint.ack - 1, endpoint.ack + 1000, endpoint.ack + 2**31):
        endpoint.icmp_error("unreachable", 1, seq=number)
    await endpoint.silent()
    assert not endpoint.status and dut.ignoredIcmpErrors.value == before + 3


@cocotb.test()
async def while_opening_soft_errors_are_reported_and_hard_ones_end_it(dut: Any) -> None:
    """SHLD-26."""
    endpoint = await Endpoint.create(dut)
    await endpoint.open()
    await endpoint.settle()
    endpoint.icmp_error("unreachable", 1)
    await endpoint.settle()
    assert (endpoint.state, *_error(endpoint)) == ("synSent", "unreachable", 1, 1)
    endpoint.icmp_error("unreachable", 2)
    await endpoint.settle()
    assert (endpoint.state, endpoint.reason) == ("closed", "unreachable")
    await endpoint.open()
    assert _error(endpoint) == ("none", 0, 0)


@cocotb.test()
async def the_third_retransmission_is_reported_until_an_ack_comes(dut: Any) -> None:
    """3.8.3: R1 (SHLD-9, SHLD-10)."""
    endpoint = await Endpoint.connected(dut)
    endpoint.application("written", 3000)
    sent = await endpoint.replies()
    reported = []
    for _ in range(5):
        await endpoint.expire()
        await endpoint.replies()
        reported.append(endpoint.status["struggling"])
    assert reported == [0, 0, 1, 1, 1] and endpoint.state == "established"
    endpoint.ack += sent[0].length
    endpoint.send("A")
    await endpoint.replies()
    assert endpoint.status["struggling"] == 0


@cocotb.test()
async def a_syn_without_replies_is_reported_too(dut: Any) -> None:
    endpoint = await Endpoint.create(dut)
    await endpoint.open()
    reported = []
    for _ in range(4):
        await endpoint.expire()
        await endpoint.received()
        await endpoint.settle()
        reported.append(endpoint.status["struggling"])
    assert reported == [0, 0, 1, 1]


@cocotb.test()
async def probes_of_a_shut_window_are_none(dut: Any) -> None:
    endpoint = await Endpoint.connected(dut)
    endpoint.window = 0
    endpoint.send("A")
    endpoint.application("written", 100)
    await endpoint.replies()
    for _ in range(6):
        await endpoint.expire()
        assert (await endpoint.replies())[0].length == 1
        endpoint.send("A")
        await endpoint.silent()
    assert endpoint.status["struggling"] == 0
