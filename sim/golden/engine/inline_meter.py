# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A connection's inline measurement, from its messages, as rtl/downbeat/engine/measure/InlineMeter.scala has it."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from sim.golden.calculation.inline_measurement import MAX, Request, Response, Unit
from sim.golden.congestion.seam import CongestionEvent, Inline


@dataclass
class InlineMeter:
    """One connection's; `see` takes it through one recorded event."""

    result: Inline = field(default_factory=Inline)
    _unit: Unit = field(default_factory=Unit)
    _responses: deque[Response] = field(default_factory=deque)

    def see(self, event: CongestionEvent, row: Mapping[str, str | int]) -> None:
        def given(name: str) -> int:
            return int(row[f"inline_{name}"])

        arrives = row.get("event") == "measured"
        if arrives:
            found = self._responses.popleft()
            self.result = Inline(
                bool(found.valid), bool(found.alternate), found.gap, found.step, found.capacity, found.available
            )
        if given("completes") or given("forgets"):
            self.result = Inline(False, *self._kept())
        if given("opens"):
            self.result = Inline()
            self._responses.clear()
        if given("updated"):
            result = event.probe
            request = Request(
                opens=given("opens"),
                forgets=given("forgets"),
                completes=given("completes"),
                missed=given("missed"),
                acknowledged=int(result is not None),
                begins=int(result.begins) if result else 0,
                disturbed=int(result.disturbed) if result else 0,
                departure_gap=min(result.departure_gap, MAX) if result else 0,
                arrival_gap=min(result.arrival_gap, MAX) if result else 0,
                segment_size=event.segment_size,
            )
            response = Response.unpacked(self._unit.response(request.packed()))
            if response.tells:
                self._responses.append(response)

    def _kept(self) -> tuple[bool, int, int, int, int]:
        result = self.result
        return result.alternate, result.gap, result.step, result.capacity, result.available
