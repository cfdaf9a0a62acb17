# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The tournament tree: its root is the earliest of all, whatever was updated in whatever order."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import ClockCycles, RisingEdge

from cocotb_tests.bench import StreamSource, generator, start, until
from cocotb_tests.bench.runner import run_module
from cocotb_tests.pacing.earliest import Earliest

CLIMB = 40  # clocks that no update needs


def test_tournament_tree() -> None:
    # A node that the sweep leaves out is seen.
    run_module("TournamentTree", __name__, random_power_up=True)


def test_tournament_tree_in_block_ram() -> None:
    run_module("TournamentTree1024", __name__, label="1024", random_power_up=True)


class Tree:
    """The module beside its model."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.entries = 1 << len(dut.update_payload_index)
        self.bits = len(dut.update_payload_time)
        self.source = StreamSource(dut, "update")
        self.random = generator()
        self.model = Earliest(self.bits)
        self.origin = 0

    async def start(self) -> None:
        await start(self.dut)
        await self.swept()
        self.count_from(self.random.getrandbits(self.bits))

    async def swept(self) -> None:
        await until(self.dut, lambda: self.dut.settled.value == 1, "the sweep to end", self.entries + 4)

    def count_from(self, origin: int) -> None:
        self.origin = origin
        self.model.start(origin)

    def draw(self) -> int:
        """An instant less than half the range after the origin, often one that is taken."""
        if self.model.times and self.random.random() < 0.1:
            return self.random.choice(list(self.model.times.values()))
        reach = self.random.choice([16, 1 << 20, 1 << (self.bits - 1)])
        return (self.origin + self.random.randrange(reach)) % (1 << self.bits)

    def put(self, index: int, time: int | None) -> None:
        armed = time is not None
        self.source.put(
            {
                "index": index,
                "armed": int(armed),
                "time": time if time is not None else self.random.getrandbits(self.bits),
            }
        )
        self.model.update(index, time)

    async def check(self) -> None:
        await self.source.drained(100_000)
        await until(self.dut, lambda: self.dut.settled.value == 1, "the tree to settle", CLIMB)
        expected = self.model.earliest()
        assert self.dut.root_armed.value == (expected is not None)
        if expected is not None:
            assert int(self.dut.root_time.value) == expected
            assert self.model.times[int(self.dut.root_index.value)] == expected


@cocotb.test()
async def nothing_is_armed_after_reset(dut: Any) -> None:
    tree = Tree(dut)
    await tree.start()
    await tree.check()
    for index in range(tree.entries):
        tree.put(index, tree.draw())
    await tree.check()
    dut.reset.value = 1
    await ClockCycles(dut.clk, 2)
    dut.reset.value = 0
    await RisingEdge(dut.clk)
    await RisingEdge(dut.clk)
    assert dut.settled.value == 0
    await tree.swept()
    tree.model = Earliest(tree.bits)
    tree.count_from(tree.origin)
    await tree.check()
    # Each entrant alone: all the nodes that it meets are disarmed.
    for index in tree.random.sample(range(tree.entries), 16):
        tree.put(index, tree.draw())
        await tree.check()
        tree.put(index, None)
        await tree.check()


@cocotb.test()
@cocotb.parametrize(stall=[0.0, 0.7])
async def the_root_is_the_earliest_of_all(dut: Any, stall: float) -> None:
    tree = Tree(dut)
    tree.source.stall = stall
    await tree.start()
    for _ in range(150):
        for _ in range(tree.random.choice([1, 2, 3, 5, 50])):
            armed = tree.random.random() < 0.7
            tree.put(tree.random.randrange(tree.entries), tree.draw() if armed else None)
        await tree.check()


@cocotb.test()
async def siblings_updated_in_successive_clocks_do_not_disturb_each_other(dut: Any) -> None:
    tree = Tree(dut)
    await tree.start()
    for index in range(tree.entries):
        tree.put(index, tree.draw())
    await tree.check()
    for _ in range(400):
        # A few entrants below one node of a random round, each clock one of them.
        below = tree.random.choice([2, 2, 4, 8])
        first = tree.random.randrange(tree.entries // below) * below
        for _ in range(tree.random.randrange(2, 9)):
            armed = tree.random.random() < 0.7
            tree.put(first + tree.random.randrange(below), tree.draw() if armed else None)
        await tree.check()


@cocotb.test()
async def the_order_is_modular(dut: Any) -> None:
    tree = Tree(dut)
    await tree.start()
    tree.count_from((1 << tree.bits) - 5)
    for index, after in ((3, 9), (7, 4), (11, 5), (2, 6)):
        tree.put(index, (tree.origin + after) % (1 << tree.bits))
    await tree.check()
    assert int(dut.root_index.value) == 7
    tree.put(7, None)
    await tree.check()
    assert int(dut.root_index.value) == 11
