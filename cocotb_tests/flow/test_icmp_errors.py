# SPDX-License-Identifier: BSD-2-Clause-Patent
"""ICMP errors about segments of ours, as the directory sees them."""

from __future__ import annotations

from typing import Any

import cocotb

from cocotb_tests.bench.runner import run_module
from cocotb_tests.flow.directory import listening, segment


def test_reports() -> None:
    run_module("FlowDirectoryFewTimeWaits", __name__)


@cocotb.test()
async def a_report_goes_to_its_connection_and_is_never_answered(dut: Any) -> None:
    """An ICMP error makes no connection, listener or not, and gets no RST (RFC 1122 3.2.2)."""
    bench = await listening(dut)
    key, stranger, closed = (0x0A000001, 7, 80), (0x0A000001, 8, 80), (0x0A000001, 8, 81)
    bench.segment(segment(bench.random, key, "syn"))
    for kind in (1, 2):
        bench.segment(*(segment(bench.random, name, icmpError=kind, length=0) for name in (key, stranger, closed)))
    assert len(bench.model.events) == 3 and not bench.model.stateless_replies and bench.model.reports == 4
    await bench.check()
