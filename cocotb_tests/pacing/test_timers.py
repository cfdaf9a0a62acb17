# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The timers: each deadline expires once, never early, in its turn, unless another took its place."""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

from cocotb_tests.bench import StreamSink, StreamSource, clocks, generator, start, until
from cocotb_tests.bench.runner import run_module
from cocotb_tests.pacing.virtual_time import HOUR, WRAP, VirtualTime

FLOWS = 16


def test_timers() -> None:
    run_module("Timers", __name__, random_power_up=True)


class Bench:
    def __init__(self, dut: Any, *, at: int = WRAP - 20 * HOUR, stall: float = 0.0) -> None:
        self.dut = dut
        self.random: random.Random = generator()
        self.time = VirtualTime(dut, at)
        self.source = StreamSource(dut, "deadlines")
        self.sink = StreamSink(dut, "expired", stall=stall)
        self.pending: dict[int, tuple[int, int]] = {}  # flow to instant and generation

    async def start(self) -> None:
        await start(self.dut, **self.time.inputs)
        await self.time.quiet()
        assert self.time.next() is None

    def post(self, flow: int, at: int | None, generation: int) -> None:
        """A deadline at `at` ns; None: none."""
        self.source.put(
            {
                "reference_flow": flow,
                "reference_generation": generation,
                "armed": int(at is not None),
                "at_ns": (self.random.getrandbits(48) if at is None else at) % WRAP,
            }
        )
        self.pending.pop(flow, None)
        if at is not None:
            self.pending[flow] = (at, generation)

    async def quiet(self) -> None:
        await self.source.drained(100_000)
        await self.time.quiet()

    def check_expired(self) -> None:
        """All that is due has come, each flow once, and nothing else."""
        due = {flow: both for flow, both in self.pending.items() if both[0] <= self.time.ns}
        came = [(beat["reference_flow"], beat["reference_generation"]) for beat in self.sink.pending()]
        assert sorted(came) == sorted((flow, generation) for flow, (_, generation) in due.items())
        for flow in due:
            del self.pending[flow]

    def draw(self) -> int:
        """An instant: past, now, soon, in hours."""
        reach = self.random.choice([1, 10, 1000, 10**6, 10**9, HOUR, 30 * HOUR])
        return self.time.ns + self.random.randrange(-min(reach, HOUR) // 4, reach)


@cocotb.test()
@cocotb.parametrize(stall=[0.0, 0.6])
async def each_deadline_expires_once_and_not_before_its_instant(dut: Any, stall: float) -> None:
    bench = Bench(dut, stall=stall)
    await bench.start()
    for _ in range(300):
        for _ in range(bench.random.choice([0, 1, 1, 2, 20])):
            armed = bench.random.random() < 0.8
            bench.post(bench.random.randrange(FLOWS), bench.draw() if armed else None, bench.random.getrandbits(8))
        await bench.quiet()
        bench.check_expired()
        expected = min((at for at, _ in bench.pending.values()), default=None)
        assert bench.time.next() == expected
        if expected is None:
            continue
        match bench.random.randrange(3):
            case 0:  # the instant before: nothing
                bench.time.set(expected - 1)
            case 1:
                bench.time.set(expected)
            case 2:  # past several
                bench.time.set(max(expected, bench.time.ns + bench.random.choice([1000, 10**6, HOUR, 5 * HOUR])))
        await bench.quiet()
        bench.check_expired()


@cocotb.test()
async def deadlines_expire_in_their_order(dut: Any) -> None:
    bench = Bench(dut, at=WRAP - 500)
    await bench.start()
    instants = bench.random.sample(range(bench.time.ns + 1, bench.time.ns + 1000), FLOWS)
    for flow, at in enumerate(instants):
        bench.post(flow, at, flow)
    await bench.quiet()
    bench.time.set(bench.time.ns + 1000)
    await bench.time.quiet()
    order = [beat["reference_flow"] for beat in bench.sink.pending()]
    assert order == sorted(range(FLOWS), key=lambda flow: instants[flow])


@cocotb.test()
async def a_deadline_posted_as_the_former_fires_is_not_lost(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    noise = 0
    for offset in range(40):
        for flow in range(3):
            former, newer = bench.time.ns + 100, bench.time.ns + 1000 + bench.random.randrange(100)
            bench.post(flow, former, 1)
            await bench.quiet()
            bench.time.set(former)
            await clocks(dut, offset)
            # One clock of its own, or among posts of others that take the clocks of a disarming.
            for _ in range(noise):
                bench.post(8 + flow, None, 0)
            bench.post(flow, newer, 2)
            for _ in range(noise):
                bench.post(8 + flow, None, 0)
            await bench.quiet()
            generations = [beat["reference_generation"] for beat in bench.sink.pending()]
            assert generations in ([], [1]), "the former may fire, once, and the newer may not yet"
            bench.time.set(newer - 1)
            await bench.time.quiet()
            assert not bench.sink.pending()
            assert await bench.time.jump()
            bench.check_expired()
        noise = 3 - noise


@cocotb.test()
@cocotb.parametrize(stall=[0.0, 0.8])
async def none_is_lost_and_none_early_while_all_moves(dut: Any, stall: float) -> None:
    bench = Bench(dut, at=WRAP - 30_000, stall=stall)
    await bench.start()
    posted: dict[tuple[int, int], int | None] = {}  # flow and generation to instant
    generations = [0] * FLOWS
    running = cocotb.start_soon(bench.time.run(generator(), 17))
    checking = cocotb.start_soon(_not_early(bench, posted))
    for _ in range(3000):
        flow = bench.random.randrange(FLOWS)
        generations[flow] = (generations[flow] + 1) % 256
        armed = bench.random.random() < 0.9
        at = bench.time.ns + bench.random.randrange(-20, 600) if armed else None
        posted[flow, generations[flow]] = at
        bench.post(flow, at, generations[flow])
        if bench.random.random() < 0.3:
            await clocks(dut, bench.random.choice([1, 5, 30, 60]))
    await bench.source.drained(100_000)
    running.cancel()
    await until(dut, lambda: dut.idle.value == 1, "the module to be idle", 4000)
    while await bench.time.jump():
        pass
    checking.cancel()
    for flow, (_, generation) in bench.pending.items():
        assert (flow, generation) not in posted, f"the last deadline of flow {flow} was lost"


async def _not_early(bench: Bench, posted: dict[tuple[int, int], int | None]) -> None:
    """Judges each expiry as it is offered; a posting expires once."""
    while True:
        beat = await bench.sink.beats.get()
        at = posted.pop((beat["reference_flow"], beat["reference_generation"]))
        assert at is not None, "a disarmed flow expired"
        assert at <= bench.time.ns, f"{at - bench.time.ns} ns early"


@cocotb.test()
async def a_reset_forgets_all(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    for flow in range(FLOWS):
        bench.post(flow, bench.time.ns + 100, 1)
    await bench.quiet()
    dut.reset.value = 1
    await clocks(dut, 2)
    dut.reset.value = 0
    await RisingEdge(dut.clk)
    assert dut.idle.value == 0
    await bench.time.quiet()
    assert bench.time.next() is None
    bench.time.set(bench.time.ns + 1000)
    await bench.time.quiet()
    assert not bench.sink.pending()
