# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Initial sequence numbers (RFC 6528) and timestamp offsets: what a stranger sees of them. The other tests of the
directory compare each number with the golden SipHash.
"""

from __future__ import annotations

import itertools
import math
from statistics import median
from typing import Any

import cocotb

from cocotb_tests.bench import Beat
from cocotb_tests.bench.runner import run_module
from cocotb_tests.flow.directory import Bench, listening
from sim.golden.flow.keyed_numbers import Tuple

SECOND = 10**9
PROBE_INTERVAL = SECOND // 10  # ns between nmap's sequence probes


def test_keyed_numbers() -> None:
    run_module("FlowDirectoryFewTimeWaits", __name__)


async def connection(bench: Bench, key: Tuple) -> Beat:
    """The event that a SYN causes; the connection is over at once."""
    await bench.connect(key)
    flow = bench.model.table[key].number
    bench.release(flow)
    await bench.check()
    return bench.made[-1]


async def initial_sequence(bench: Bench, key: Tuple) -> int:
    return (await connection(bench, key))["initialSequence_value"]


def unsigned(difference: int) -> int:
    return difference % 2**32


def bits_that_differ(one: int, other: int) -> int:
    return (one ^ other).bit_count()


@cocotb.test()
async def the_same_tuple_is_a_clock_of_4_096_us_later(dut: Any) -> None:
    """RFC 9293 3.4.1: a clock that goes on roughly every four microseconds; also across the end of the 48 bits of
    time."""
    bench = await listening(dut)
    key = (0x0A000001, 1024, 80)
    for start in (0, 123_456_789, 2**48 - SECOND // 2):
        await bench.moves(start)
        first = await initial_sequence(bench, key)
        await bench.moves((start + SECOND) % 2**48)
        second = await initial_sequence(bench, key)
        assert abs(unsigned(second - first) - SECOND / 4096) <= 1


@cocotb.test()
async def any_part_of_the_tuple_changes_half_the_bits(dut: Any) -> None:
    """At one time; a linear hash would change few, or always the same ones."""
    bench = await listening(dut, ports=(80, 81, 82, 84))
    base = (0x0A000001, 1024, 80)
    others = [(base[0] ^ 1 << bit, base[1], base[2]) for bit in range(32)]
    others += [(base[0], base[1] ^ 1 << bit, base[2]) for bit in range(16)]
    others += [(base[0], base[1], port) for port in (81, 82, 84)]
    event = await connection(bench, base)
    sequence, offset = event["initialSequence_value"], event["timestampOffset"]
    seen = [
        (event["initialSequence_value"], event["timestampOffset"])
        for event in [await connection(bench, key) for key in others]
    ]
    for which, own in enumerate((sequence, offset)):
        changed = [bits_that_differ(own, numbers[which]) for numbers in seen]
        assert 14 < sum(changed) / len(changed) < 18 and min(changed) >= 4, changed
        for bit in range(32):
            assert 8 < sum((own ^ numbers[which]) >> bit & 1 for numbers in seen) < 43, f"bit {bit} depends too little"
    assert all(bits_that_differ(*numbers) >= 4 for numbers in seen), "number and offset are alike"


@cocotb.test()
async def a_timestamp_offset_is_its_tuples_for_good(dut: Any) -> None:
    """So that a connection on a 4-tuple that was used before is not behind it in time (RFC 7323 5.3)."""
    bench = await listening(dut)
    key = (0x0A000001, 1024, 80)
    first = await connection(bench, key)
    await bench.moves(3600 * SECOND)
    second = await connection(bench, key)
    assert first["timestampOffset"] == second["timestampOffset"]


def predictability(numbers: list[int]) -> float:
    """nmap's sequence predictability index (SP), from its book, chapter 8, "TCP ISN sequence predictability index"."""
    steps = [min(unsigned(b - a), unsigned(a - b)) for a, b in itertools.pairwise(numbers)]
    divisor = math.gcd(*steps)
    rates = [step / (PROBE_INTERVAL / SECOND) / (divisor if divisor > 9 else 1) for step in steps]
    mean = sum(rates) / len(rates)
    deviation = math.sqrt(sum((rate - mean) ** 2 for rate in rates) / (len(rates) - 1))
    return 8 * math.log2(deviation) if deviation > 1 else 0


@cocotb.test()
async def nmap_finds_the_sequence_as_hard_as_linux(dut: Any) -> None:
    """Six SYNs, a tenth of a second apart, from successive ports; a plain clock has index 0, random numbers about
    260."""
    assert predictability([100_000 * step for step in range(6)]) == 0
    bench = await listening(dut)
    draw = bench.random
    indices = []
    for probe in range(40):
        port = draw.randrange(1024, 65000)
        numbers = []
        for step in range(6):
            await bench.moves(probe * SECOND + step * PROBE_INTERVAL)
            numbers.append(await initial_sequence(bench, (0x0A000009, port + step, 80)))
        indices.append(predictability(numbers))
    dut._log.info(f"index: median {median(indices):.1f}, least {min(indices):.1f}")
    assert median(indices) >= 250 and min(indices) >= 230
