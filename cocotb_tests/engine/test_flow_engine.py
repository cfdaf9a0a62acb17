# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The engine's line at its ports: how many events a clock, how far apart those of one flow, and that none is lost; with
events a clock apart and with events eight clocks apart (`FlowEngineSpaced`, and with more flows than distributed RAM
holds).

Events for flows without a connection do here: they pass all stages, and each stage counts them in a memory of its own.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import cocotb
import pytest
from cocotb.triggers import RisingEdge

from cocotb_tests.bench import CLOCK_NS, StreamSource, clocks, generator, start, until
from cocotb_tests.bench.runner import run_module

FLOWS = 16
FLOW_SPACING = 8  # clocks
STAGES = 5
SOURCES = ("placed", "application", "grants", "departed", "timers")
OUTPUTS = ("descriptors", "placements")


@pytest.mark.parametrize(
    "module",
    ["FlowEngineCounted", "FlowEngineSpaced", pytest.param("FlowEngineSpacedInBlockRam", marks=pytest.mark.soak)],
)
def test_flow_engine(module: str) -> None:
    run_module(module, __name__, label=module.removeprefix("FlowEngine").lower())


def event_spacing(dut: Any) -> int:
    return FLOW_SPACING if dut._name.startswith("FlowEngineSpaced") else 1


@dataclass
class Line:
    """A record of the engine's events: the flow of each event with its clock, what the stages had counted, how old it
    was."""

    events: list[tuple[int, int]] = field(default_factory=list)
    counts: list[tuple[int, ...]] = field(default_factory=list)
    ages: set[int] = field(default_factory=set)  # ns since the event entered, by the time that it carries


async def engine(dut: Any) -> tuple[dict[str, StreamSource], Line]:
    """Events queue up at the sources until the engine has swept its memory, so all begin in the same clock."""
    sources = {name: StreamSource(dut, name) for name in SOURCES}
    for name in OUTPUTS:
        getattr(dut, f"{name}_ready").value = 1
    dut.directory_valid.value = 0
    await start(dut, now_fraction=0, now_ns=1_000_000)
    line = Line()
    cocotb.start_soon(watch(dut, line))
    return sources, line


async def watch(dut: Any, line: Line) -> None:
    clock = 0
    while True:
        await RisingEdge(dut.clk)
        clock += 1
        now = int(dut.now_ns.value)
        dut.now_ns.value = now + CLOCK_NS
        if dut.trace_valid.value == 1:
            line.events.append((clock, int(dut.trace_payload_reference_flow.value)))
            line.ages.add(now - int(dut.trace_payload_time_ns.value))
            line.counts.append(tuple(int(getattr(dut, f"stageCounts_payload_{i}").value) for i in range(STAGES)))


def feed(source: StreamSource, flows: Iterator[int], count: int) -> None:
    """Events whose only meaning is their flow; what else a source's words hold is 0."""
    names = source.ports.fields
    flow = "reference_flow" if "reference_flow" in names else "flow"
    source.put(*({**dict.fromkeys(names, 0), flow: next(flows)} for _ in range(count)))


def round_robin(first: int, step: int, flows: int) -> Iterator[int]:
    while True:
        yield first % flows
        first += step


@cocotb.test()
@cocotb.parametrize(flows=[8, 16])
async def an_event_in_each_clock_that_is_for_one(dut: Any, flows: int) -> None:
    """Round robin: the sources take turns, so that the flows come in order."""
    sources, line = await engine(dut)
    for i, source in enumerate(sources.values()):
        feed(source, round_robin(i, len(sources), flows), 600)
    await until(dut, lambda: len(line.events) >= 1600, "1,600 events", clocks=4_000 * event_spacing(dut))
    taken = line.events[1500][0] - line.events[100][0]
    dut._log.info("%d events in %d clocks", 1400, taken)
    assert taken == 1400 * event_spacing(dut)


@cocotb.test()
async def one_flow_alone_has_every_eighth_clock(dut: Any) -> None:
    sources, line = await engine(dut)
    for source in sources.values():
        feed(source, itertools.repeat(5), 60)
    await until(dut, lambda: len(line.events) >= 250, "250 events", clocks=4_000)
    assert line.events[240][0] - line.events[40][0] == 200 * FLOW_SPACING


@cocotb.test()
async def no_stage_loses_an_update_under_random_traffic(dut: Any) -> None:
    sources, line = await engine(dut)
    random = generator()
    weights = [1 / (rank + 1) for rank in range(FLOWS)]
    total = 0
    for source in sources.values():
        flows = random.choices(range(FLOWS), weights, k=1200)
        feed(source, iter(flows), len(flows))
        total += len(flows)
    await until(dut, lambda: len(line.events) == total, f"{total} events", clocks=60_000)
    seen: Counter[int] = Counter()
    last: dict[int, int] = {}
    first: dict[int, tuple[int, ...]] = {}  # a memory keeps what cases before this one left
    for (clock, flow), counts in zip(line.events, line.counts, strict=True):
        seen[flow] += 1
        since = tuple(now - then + 1 for now, then in zip(counts, first.setdefault(flow, counts), strict=True))
        assert since == (seen[flow],) * STAGES, f"flow {flow}: stages counted {since}, events {seen[flow]}"
        assert clock - last.get(flow, -FLOW_SPACING) >= FLOW_SPACING
        last[flow] = clock


@cocotb.test()
async def an_event_keeps_what_it_carries_past_others_and_past_gaps(dut: Any) -> None:
    """All events take the same time through the line, so the instant at which each entered is as old at its end."""
    sources, line = await engine(dut)
    random = generator()
    total = 0
    for _ in range(60):
        for i, source in enumerate(sources.values()):
            count = random.randrange(12)
            feed(source, round_robin(i, len(sources), FLOWS), count)
            total += count
        await clocks(dut, random.randrange(80))
    await until(dut, lambda: len(line.events) == total, f"{total} events", clocks=20_000)
    assert len(line.ages) == 1, f"ages at the end: {sorted(line.ages)} ns"
