# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Values of TCP options: timestamps and SACK blocks wherever they stand, and the segments on which each option
counts."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

import cocotb

from cocotb_tests.bench import Beat, generator
from cocotb_tests.bench.widths import each_width, run_width
from cocotb_tests.rx.options import any_edges, sack_fields
from cocotb_tests.rx.packets import frame, with_tcp_options
from cocotb_tests.rx.receiver import Receiver

ACKNOWLEDGMENT = 0xFFFFF000  # the buffer wraps


@each_width
def test_option_reader(width: int) -> None:
    run_width("Receiver", __name__, width)


def timestamp(value: int, echo: int) -> bytes:
    """RFC 7323 3.2."""
    return b"\x08\x0a" + value.to_bytes(4, "big") + echo.to_bytes(4, "big")


def sack(edges: list[int]) -> bytes:
    """RFC 2018 3."""
    return bytes([5, 2 + 4 * len(edges)]) + b"".join(edge.to_bytes(4, "big") for edge in edges)


def padded(options: bytes) -> bytes:
    return options + b"\0" * (-len(options) % 4)


def on_ack(options: bytes, draw: Random) -> bytes:
    """A pure ACK, with or without a tag and IP options before."""
    ip = {"options": b"\1" * (4 * draw.randrange(10))} if draw.random() < 0.5 else {}
    tcp = {"ack": ACKNOWLEDGMENT, "dataofs": 5 + len(options) // 4}
    return frame(options, ip=ip, tcp=tcp, tag=draw.choice([None, 3]))


def agrees(beat: Beat, expected: dict[str, int]) -> None:
    assert {name: beat[name] for name in expected} == expected


@cocotb.test()
async def timestamps_and_blocks_are_read_wherever_they_begin(dut: Any) -> None:
    """Each number of bytes before, between and behind them, in either order, on frames back to back."""
    receiver = Receiver(dut)
    await receiver.start()
    random = generator()
    sent: list[dict[str, int]] = []
    for before, between, count, sack_first in product(range(9), range(5), range(5), (False, True)):
        value, echo = random.getrandbits(32), random.getrandbits(32)
        edges = any_edges(random, ACKNOWLEDGMENT, count)
        parts = [timestamp(value, echo), sack(edges) if edges else b""]
        options = b"\1" * before + (b"\1" * between).join(parts[::-1] if sack_first else parts)
        if len(options) > 40:
            continue
        receiver.put(on_ack(padded(options), random))
        fields = {"options_timestampValid": 1, "options_timestampValue": value, "options_timestampEcho": echo}
        sent.append(fields | sack_fields(ACKNOWLEDGMENT, edges))
    assert len(sent) > 150
    for fields in sent:
        agrees(await receiver.segments.receive(), fields)
    await receiver.settle()
    assert receiver.drops() == {}


@cocotb.test()
async def four_blocks_are_read_wherever_they_begin(dut: Any) -> None:
    receiver = Receiver(dut)
    await receiver.start()
    random = generator()
    for before, _ in product(range(7), range(20)):
        edges = any_edges(random, ACKNOWLEDGMENT, 4)
        receiver.put(on_ack(padded(b"\1" * before + sack(edges)), random))
        fields = sack_fields(ACKNOWLEDGMENT, edges) | {"options_timestampValid": 0}
        agrees(await receiver.segments.receive(), fields)


@cocotb.test()
async def the_last_of_two_equal_options_counts(dut: Any) -> None:
    receiver = Receiver(dut)
    await receiver.start()
    random = generator()
    good, far = [ACKNOWLEDGMENT + at for at in (100, 200, 300, 400)], [0] * 2
    receiver.put(on_ack(padded(sack(good) + sack(far)), random), on_ack(padded(sack(far) + sack(good)), random))
    agrees(await receiver.segments.receive(), sack_fields(ACKNOWLEDGMENT, far))
    agrees(await receiver.segments.receive(), sack_fields(ACKNOWLEDGMENT, good))
    receiver.put(on_ack(padded(timestamp(1, 2) + timestamp(3, 4) + timestamp(5, 6)), random))
    agrees(await receiver.segments.receive(), {"options_timestampValue": 5, "options_timestampEcho": 6})
    receiver.put(with_tcp_options(b"\2\4\5\xb4\2\4\5\xb5"))
    agrees(await receiver.segments.receive(), {"options_mss": 0x5B5})


@cocotb.test()
@cocotb.parametrize(flags=["S", "SA", "A", "FA", "PA", "RA", "R"])
async def each_option_counts_where_it_belongs(dut: Any, flags: str) -> None:
    """RFC 2018 2 and 3: SACK-permitted on a SYN, blocks with an acknowledgment; RFC 7323 3.2: timestamps anywhere."""
    receiver = Receiver(dut)
    await receiver.start()
    edges = [10, 20]
    receiver.put(with_tcp_options(padded(b"\4\2" + timestamp(1, 2) + sack(edges)), flags=flags))
    beat = await receiver.segments.receive()
    fields = {"options_timestampValid": 1, "options_timestampValue": 1, "options_timestampEcho": 2}
    agrees(beat, fields | {"options_sackPermitted": int("S" in flags)})
    agrees(beat, sack_fields(0, edges if flags in ("A", "FA", "PA", "RA") else []))


@cocotb.test()
@cocotb.parametrize(length=[2, 3, 9, 11, 12, 17, 19, 25, 27, 33, 35])
async def a_wrong_length_makes_it_an_unknown_option(dut: Any, length: int) -> None:
    receiver = Receiver(dut)
    await receiver.start()
    for kind in (5, 8):
        receiver.put(
            with_tcp_options(padded(bytes([kind, length]) + b"\0\0\0\1" * 9)[:length].ljust(40, b"\1"), flags="A")
        )
        agrees(await receiver.segments.receive(), sack_fields(0, []) | {"options_timestampValid": 0})
    assert receiver.drops() == {}


@cocotb.test()
async def values_of_the_frame_before_are_forgotten(dut: Any) -> None:
    """Also where the frame behind has a list too short for any of them, or none."""
    receiver = Receiver(dut)
    await receiver.start()
    full = padded(b"\1\1" + timestamp(7, 8) + sack([10, 20, 30, 40]))
    for behind in (b"", b"\1" * 4, b"\1" * 8, b"\1" * 12, b"\1" * 40):
        receiver.put(with_tcp_options(full, flags="A"), with_tcp_options(behind, flags="A"))
        agrees(await receiver.segments.receive(), sack_fields(0, [10, 20, 30, 40]) | {"options_timestampValid": 1})
        agrees(await receiver.segments.receive(), sack_fields(0, []) | {"options_timestampValid": 0})


@cocotb.test()
async def values_stay_while_nobody_takes_the_segment(dut: Any) -> None:
    """The next frame's options pass meanwhile."""
    receiver = Receiver(dut, stall=1.0)
    await receiver.start()
    lists = [timestamp(n, n + 100) + sack([n + 1, n + 2, n + 3, n + 4]) for n in range(8)]
    receiver.put(*(with_tcp_options(padded(options), flags="A") for options in lists))
    receiver.segments.stall = 0.97
    for n in range(8):
        fields = {"options_timestampValue": n, "options_timestampEcho": n + 100}
        agrees(await receiver.segments.receive(), fields | sack_fields(0, [n + 1, n + 2, n + 3, n + 4]))


@cocotb.test()
async def congestion_experienced_is_both_bits(dut: Any) -> None:
    """RFC 3168 5; the six bits above are DSCP."""
    receiver = Receiver(dut)
    await receiver.start()
    for tos in range(256):
        receiver.put(frame(ip={"tos": tos}, tag=generator().choice([None, 1])))
        assert (await receiver.segments.receive())["congestionExperienced"] == (tos % 4 == 3)
