# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Standard slow start (RFC 5681 3.1), as rtl/downbeat/congestion/startup/Standard.scala."""

from __future__ import annotations

from dataclasses import dataclass

from sim.golden.congestion.seam import CongestionEvent, PolicyResult, Window
from sim.golden.congestion.slow_start import slow_start


@dataclass(frozen=True)
class Standard:
    name: str = "standard"

    def respond(self, event: CongestionEvent, window: Window, policy_state: int) -> PolicyResult:
        return PolicyResult(slow_start(event, window), policy_state)


POLICY = Standard()
