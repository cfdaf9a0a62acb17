# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The report of a policy whose RTL and golden model differ."""

from __future__ import annotations

from cocotb_tests.congestion.policy_bench import Counterexample


def test_a_counterexample_shows_what_differs_alone() -> None:
    same = {"window_ssthresh": 1 << 16}
    given = Counterexample("ACKNOWLEDGED", "cwnd 1", {"window_cwnd": 3 << 15, **same}, {"window_cwnd": 1 << 16, **same})
    assert given.lines() == [
        "  event     ACKNOWLEDGED",
        "  state     cwnd 1",
        "  expected  window_cwnd 0x18000 (1.5 bytes)",
        "  got       window_cwnd 0x10000 (1 bytes)",
    ]
