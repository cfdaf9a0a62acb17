# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Flipped bits of flows' state under random traffic: one of a word changes nothing, two end the connection alone.

`make bench NAME=upsets` flips each bit of each memory in turn.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import cocotb
from cocotb.triggers import FallingEdge

from cocotb_tests.bench import generator
from cocotb_tests.bench.layout import number, policy
from cocotb_tests.bench.runner import BUILD, run_module
from cocotb_tests.core.core import Core
from cocotb_tests.core.crowd import LISTEN_PORT, Connection, Crowd
from cocotb_tests.core.upsets import CHECK, Memory, codeword, flip, memories, visible, word
from cocotb_tests.test_downbeat_random import disorder, farewell
from sim.golden.congestion.startup import pairs

MODULE = "DownbeatEcc"
EVERY = 12  # clocks between two flips
TOGETHER = 16  # flips stand among drawn ones
STEPS = 30  # random traffic takes so many
ALL = "UPSETS_ALL"  # a file for the counts of all bits' flips
STAGES = ("protocol", "recovery", "measure", "congestion", "transmit")
WORDS = (*(f"{stage}_memory" for stage in STAGES), "congestion_priors", "measure_rates_memory", "measure_inline_memory")
# Memories with a record of each segment in flight, and how many bytes are sent. A second segment may take the first
# one's place in the send log.
RECORDS = [
    ("recovery_timer_roundTrip_log_memory", 100),
    ("measure_probes_banks_0", 6000),
    ("measure_probes_banks_1", 6000),
]


def run(*, everything: str = "") -> None:
    """`everything`: the file for the counts, if each bit of each memory is to be flipped."""
    path = (BUILD / "rtl" / MODULE).with_suffix(".v")
    shown = BUILD / "rtl" / "upsets.vlt"
    shown.write_text(visible(path.read_text()))
    environment = {"UPSETS_VERILOG": str(path), ALL: everything}
    run_module(MODULE, __name__, verilator_args=[str(shown)], environment=environment)


def test_downbeat_upsets() -> None:
    run()


def all_memories() -> list[Memory]:
    return memories(Path(os.environ["UPSETS_VERILOG"]).read_text(), MODULE)


class Upsets:
    """Flips a bit every few clocks. A word that is still as flipped `together` turns later is put right: its check bits
    say that nothing was written, where the word alone could be the next count. No word ever has two."""

    def __init__(self, dut: Any, bits: Iterator[tuple[Memory, int, int]], together: int) -> None:
        self.dut = dut
        self.bits = bits
        self.together = together  # flips
        self.flips: Counter[str] = Counter()  # by memory
        self.done = False

    async def run(self) -> None:
        standing: dict[tuple[str, int], Callable[[], None]] = {}  # by codeword: puts it right
        for memory, place, bit in self.bits:
            name = memory.path.removesuffix(CHECK), place
            if name in standing:
                continue
            await FallingEdge(self.dut.clk)
            standing[name] = self._flipped(memory, place, bit)
            self.flips[memory.path] += 1
            for _ in range(EVERY):
                await FallingEdge(self.dut.clk)
            assert int(self.dut.counters_uncorrectableFlips.value) == 0, (memory, place, bit)
            if len(standing) == self.together:
                standing.pop(next(iter(standing)))()
        self.done = True

    def _flipped(self, memory: Memory, place: int, bit: int) -> Callable[[], None]:
        whole, at = codeword(self.dut, memory, place), int(memory.path.endswith(CHECK))
        after = [int(each.value) for each in whole]
        after[at] = flip(whole[at], bit)

        def put_right() -> None:
            if [int(each.value) for each in whole] == after:
                flip(whole[at], bit)

        return put_right


def every_bit() -> Iterator[tuple[Memory, int, int]]:
    for memory in all_memories():
        for place in range(memory.words):
            for bit in range(memory.bits):
                yield memory, place, bit


def drawn_bits() -> Iterator[tuple[Memory, int, int]]:
    """Each memory as often."""
    draw = generator()
    for memory in cycle(all_memories()):
        yield memory, draw.randrange(memory.words), draw.randrange(memory.bits)


def memory_of(name: str) -> Memory:
    return next(memory for memory in all_memories() if memory.path.endswith(name))


def arrived(crowd: Crowd) -> int:
    """Bytes of all connections, both ways; `Crowd.check` has compared them."""
    streams = [stream for each in crowd.connections.values() for stream in (each.to_core, each.to_peer)]
    return sum(len(stream.arrived) for stream in streams)


@cocotb.test()
async def one_flip_of_a_word_changes_nothing(dut: Any) -> None:
    report = os.environ.get(ALL)
    core = await Core.create(dut)
    core.listen(LISTEN_PORT)
    await core.idle()
    crowd = Crowd(core, generator(), loss=0.0)
    ends: list[str] = []
    compared = 0  # bytes that arrived and were the given ones
    upsets = Upsets(dut, every_bit(), 1) if report else Upsets(dut, drawn_bits(), TOGETHER)
    task = cocotb.start_soon(upsets.run())
    await disorder(crowd, STEPS)
    while report and not upsets.done:
        await disorder(crowd, STEPS)
        await farewell(crowd)
        ends += [connection.reason for connection in crowd.connections.values()]
        compared += arrived(crowd)
        crowd.connections.clear()
    task.cancel()
    await farewell(crowd)
    ends += [connection.reason for connection in crowd.connections.values()]
    corrected, ended = int(dut.counters_correctedFlips.value), int(dut.counters_uncorrectableFlips.value)
    assert corrected > 0 and ended == 0
    assert "memoryError" not in ends
    if report:
        figures = {
            "memories": len(upsets.flips),
            "bits": sum(memory.bits * memory.words for memory in all_memories()),
            "flips": sum(upsets.flips.values()),
            "corrected": corrected,
            "ended": ended,
            "bytes_equal": compared + arrived(crowd),
        }
        Path(report).write_text(json.dumps(figures, indent=2) + "\n")


@cocotb.test()
async def two_flips_of_a_word_end_the_connection_alone(dut: Any) -> None:
    """The application hears `memoryError`, the others go on, and the flow can be used again."""
    core = await Core.create(dut)
    core.listen(LISTEN_PORT)
    await core.idle()
    crowd = Crowd(core, generator(), loss=0.0)

    async def talk(*connections: Connection) -> None:
        for connection in connections:
            crowd.application_writes(connection)
            crowd.peer_sends(connection)
        await crowd.settle()

    for _ in range(2 + len(WORDS)):
        crowd.peer_connects()
    await crowd.settle()
    living = list(crowd.connections.values())
    for name in WORDS:
        ended = int(dut.counters_uncorrectableFlips.value)
        broken = living.pop()
        memory = memory_of(name)
        assert broken.flow is not None
        flip(word(dut, memory, broken.flow), *generator().sample(range(memory.bits), 2))
        await talk(broken, *living)
        await talk(*living)
        assert (broken.state, broken.reason) == ("closed", "memoryError"), name
        assert all(connection.state == "established" for connection in living), name
        assert int(dut.counters_uncorrectableFlips.value) == ended + 1, name
    crowd.check()
    assert all(connection.to_core.arrived == connection.to_core.given for connection in living)
    await farewell(crowd)
    for _ in range(number("flows")):
        crowd.peer_connects()
    await crowd.settle()
    usable = sum(connection.state == "established" for connection in crowd.connections.values())
    assert usable == number("flows"), "a flow is lost"


@cocotb.test()
@cocotb.parametrize((("name", "length"), RECORDS))
async def two_flips_of_a_segments_record_end_the_connection(dut: Any, name: str, length: int) -> None:
    core = await Core.create(dut)
    core.listen(
        LISTEN_PORT,
        parameters_startup=policy("StartupPolicy", "pairs"),
        parameters_startupArgument=pairs.argument(0, 1000),
    )
    await core.idle()
    crowd = Crowd(core, generator(), loss=0.0)
    for _ in range(2):
        crowd.peer_connects()
    await crowd.settle()
    broken, other = crowd.connections.values()
    assert broken.flow is not None and other.flow is not None
    memory = memory_of(name)
    share = memory.words // number("flows")
    records = [word(dut, memory, broken.flow * share + place) for place in range(share)]
    before = [int(record.value) for record in records]
    for connection in (broken, other):
        connection.to_peer.given += bytes(length)
        assert connection.flow is not None
        core.write(connection.flow, bytes(length))
    while not (written := [record for record, old in zip(records, before, strict=True) if int(record.value) != old]):
        await FallingEdge(dut.clk)
    flip(written[0], *generator().sample(range(memory.bits), 2))
    await crowd.settle()
    assert (broken.state, broken.reason) == ("closed", "memoryError")
    assert other.state == "established" and other.to_peer.arrived == other.to_peer.given
    assert int(dut.counters_uncorrectableFlips.value) == 1
