# SPDX-License-Identifier: BSD-2-Clause-Patent
"""TCP options as sent: which segment carries which, in Linux's order, whole words, and both checksums as scapy has
them."""

from __future__ import annotations

from itertools import product
from typing import Any

import cocotb
from cocotb.simtime import get_sim_time
from scapy.layers.inet import TCP
from scapy.layers.l2 import Ether

from cocotb_tests.bench import CLOCK_NS
from cocotb_tests.bench.widths import each_width, run_width
from cocotb_tests.tx.segment import AFTER_PREVIOUS, ASAP, AT, Segment, random_segment
from cocotb_tests.tx.transmitter import Transmitter

TIMES = (0x01020304, 0xA0B0C0D0)
STAMPED = "080a 01020304 a0b0c0d0"
BLOCKS = ((1448, 2896), (4344, 5792), (7240, 8688), (10136, 11584))


@each_width
def test_header_options(width: int) -> None:
    run_width("Transmitter", __name__, width)


async def _options(bench: Transmitter, segment: Segment) -> str:
    """The options of the segment's frame, in hex."""
    bench.send(segment)
    frame = (await bench.expect(segment)).data
    words: int = Ether(frame)[TCP].dataofs
    return frame[54 : 34 + 4 * words].hex()


SYN_OPTIONS = [  # SACK-permitted, timestamps, window scale
    (False, None, False, "020405b4"),
    (False, None, True, "020405b4 01030301"),
    (True, None, False, "020405b4 01010402"),
    (True, None, True, "020405b4 01010402 01030301"),
    (False, TIMES, False, f"020405b4 0101{STAMPED}"),
    (False, TIMES, True, f"020405b4 0101{STAMPED} 01030301"),
    (True, TIMES, False, f"020405b4 0402{STAMPED}"),
    (True, TIMES, True, f"020405b4 0402{STAMPED} 01030301"),
]


@cocotb.test()
@cocotb.parametrize(flags=["S", "SA", "SAE"], length=[0, 1, 100])
async def a_syn_offers_the_options_of_its_descriptor(dut: Any, flags: str, length: int) -> None:
    """RFC 9293 3.7.1, RFC 2018 2, RFC 7323 2.2 and 3.2; blocks say nothing there."""
    bench = await Transmitter.create(dut)
    for (permitted, timestamps, scale, expected), sack in product(SYN_OPTIONS, ((), BLOCKS)):
        segment = Segment(
            flags=flags,
            length=length,
            sack_permitted=permitted,
            timestamps=timestamps,
            window_scale=scale,
            sack=sack,
            mode=AT,
        )
        assert await _options(bench, segment) == expected.replace(" ", "")


@cocotb.test()
async def only_a_syn_offers_anything(dut: Any) -> None:
    bench = await Transmitter.create(dut)
    for flags in ("A", "FA", "PA", "R", "RA"):
        segment = Segment(flags=flags, sack_permitted=True, window_scale=True)
        assert await _options(bench, segment) == ""


@cocotb.test()
@cocotb.parametrize(mode=[AT, ASAP, AFTER_PREVIOUS])
async def every_segment_carries_timestamps(dut: Any, mode: int) -> None:
    """RFC 7323 3.2: once agreed upon, on every segment, a RST too (SHOULD)."""
    bench = await Transmitter.create(dut)
    for flags, length in [("A", 0), ("FA", 0), ("PA", 1), ("PA", 1448), ("FPA", 77), ("R", 0), ("RA", 0)]:
        segment = Segment(flags=flags, length=length, timestamps=TIMES, mode=mode)
        assert await _options(bench, segment) == f"0101{STAMPED}".replace(" ", "")


@cocotb.test()
@cocotb.parametrize(timestamps=[None, TIMES], mode=[AT, ASAP])
async def as_many_blocks_as_fit_count_from_the_acknowledgment(
    dut: Any, timestamps: tuple[int, int] | None, mode: int
) -> None:
    """RFC 2018 3: four in 40 bytes, three behind timestamps; edges wrap as sequence numbers do."""
    bench = await Transmitter.create(dut)
    for count, acknowledgment, flags in product(range(5), (0, 0x80000000, 0xFFFFE000, 0xFFFFFFFF), ("A", "FA", "AE")):
        segment = Segment(
            flags=flags, acknowledgment=acknowledgment, sack=BLOCKS[:count], timestamps=timestamps, mode=mode
        )
        bench.send(segment)
        options = dict(Ether((await bench.expect(segment)).data)[TCP].options)
        limit = 3 if timestamps else 4
        edges = [(acknowledgment + offset) % (1 << 32) for block in BLOCKS[: min(count, limit)] for offset in block]
        assert options.get("SAck", ()) == tuple(edges)


@cocotb.test()
async def data_and_resets_carry_no_blocks(dut: Any) -> None:
    """A full segment has no space for them."""
    bench = await Transmitter.create(dut)
    for flags, length in [("PA", 1), ("PA", 1460), ("FA", 9), ("RA", 0), ("R", 0)]:
        assert await _options(bench, Segment(flags=flags, length=length, sack=BLOCKS)) == ""


@cocotb.test()
async def nothing_stays_from_the_header_before(dut: Any) -> None:
    bench = await Transmitter.create(dut)
    plain = [
        Segment(),
        Segment(flags="PA", length=3),
        Segment(flags="S"),
        Segment(timestamps=TIMES),
        Segment(flags="FA"),
    ]
    for segment, mode in product(plain, (ASAP, AT)):
        full = Segment(sack=BLOCKS, timestamps=TIMES, mode=mode)
        bench.send(full, Segment(release=True), segment)
        await bench.expect(full)
        await bench.expect(segment)


@cocotb.test()
@cocotb.parametrize(stall=[0.0, 0.4])
async def any_header_is_as_scapy_builds_it(dut: Any, stall: float) -> None:
    bench = await Transmitter.create(dut, stall=stall)
    ones = 0xFFFFFFFF
    extremes = [
        Segment(sequence=ones, acknowledgment=ones, window=0xFFFF, timestamps=(value, value), sack=sack, mode=AT)
        for value in (0, ones)
        for sack in ((), ((0, 0),) * 4, ((0, 65536),) * 4)
    ]
    segments = extremes + [random_segment(bench.random, mode=AT) for _ in range(200)]
    bench.send(*segments)
    for segment in segments:
        await bench.expect(segment)


async def _clocks_for_each(dut: Any, segment: Segment) -> float:
    bench = await Transmitter.create(dut)
    count = 40
    bench.send(*[segment] * count)
    ends = []
    for _ in range(count):
        await bench.expect(segment)
        ends.append(get_sim_time("ns") / CLOCK_NS)
    return (ends[-1] - ends[0]) / (count - 1)


@cocotb.test()
@cocotb.parametrize((("blocks", "clocks"), [(0, 12), (1, 13), (2, 14), (3, 16)]))
async def headers_take_a_clock_for_each_eight_bytes_and_three(dut: Any, blocks: int, clocks: int) -> None:
    segment = Segment(timestamps=TIMES, sack=BLOCKS[:blocks])
    assert await _clocks_for_each(dut, segment) <= clocks
