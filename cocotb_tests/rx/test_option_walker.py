# SPDX-License-Identifier: BSD-2-Clause-Patent
"""TCP and IP options: any list, well-formed or not, against a walk byte by byte."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

import cocotb

from cocotb_tests.bench import generator
from cocotb_tests.bench.widths import each_width, run_width
from cocotb_tests.rx.packets import with_ip_options, with_tcp_options
from cocotb_tests.rx.receiver import Receiver


@each_width
def test_option_walker(width: int) -> None:
    run_width("Receiver", __name__, width)


LENGTHS = {2: [4], 3: [3], 4: [2], 5: [10, 18, 26, 34], 8: [10]}


class Walk(NamedTuple):
    malformed: bool
    found: dict[int, bytes]  # kind to value; of two alike the last
    cut: int = 0  # the kind of the option that does not fit its header; 0: none


def walk(options: bytes) -> Walk:
    """RFC 9293 3.1 and 3.2: 0 ends the list, 1 is one byte, all others have a length that counts kind and length."""
    found: dict[int, bytes] = {}
    at = 0
    while at < len(options) and options[at]:
        if options[at] == 1:
            at += 1
            continue
        if at + 1 == len(options) or options[at + 1] < 2 or at + options[at + 1] > len(options):
            return Walk(True, found, options[at])
        # A length that the kind does not have makes it one more unknown option.
        if options[at + 1] in LENGTHS.get(options[at], [options[at + 1]]):
            found[options[at]] = options[at + 2 : at + options[at + 1]]
        at += options[at + 1]
    return Walk(False, found)


def any_options(draw: Random) -> bytes:
    """Kinds and lengths that matter, in any order, cut to whole words at any place."""
    pieces: list[Callable[[], bytes]] = [
        lambda: b"\0",
        lambda: b"\1",
        lambda: b"\1" * draw.randrange(1, 8),
        lambda: b"\2\4" + draw.randbytes(2),
        lambda: b"\3\3" + bytes([draw.randrange(20)]),
        lambda: bytes([draw.randrange(2, 256), draw.choice([2, 3, 4, 5, 6, 8, 10])]) + draw.randbytes(8),
        lambda: b"\x08\x0a" + draw.randbytes(8),
        lambda: b"\4\2",
        lambda: b"\x05" + bytes([8 * (n := draw.randrange(1, 5)) + 2]) + draw.randbytes(8 * n),
        lambda: draw.randbytes(draw.randrange(1, 6)),
    ]
    weights = [0.3, 3, 2, 3, 3, 0.7, 2, 1, 1, 0.3]
    options = b""
    while len(options) < 40:
        options += draw.choices(pieces, weights)[0]()
    options = options[: 4 * draw.randrange(1, 11)]
    # Mostly well-formed: what is cut off at the end becomes padding.
    while draw.random() < 0.8 and walk(options).malformed and len(options) > 4:
        options = options[:-4]
    return options


@cocotb.test()
async def any_list_of_tcp_options_reads_as_a_walk_does(dut: Any) -> None:
    receiver = Receiver(dut)
    await receiver.start()
    random = generator()
    malformed = 0
    for n in range(1200):
        options, tag = any_options(random), random.choice([None, 9])
        expected = walk(options)
        receiver.put(with_tcp_options(options, random.randbytes(random.randrange(3)), tag=tag))
        await receiver.settle()
        malformed += expected.malformed
        assert receiver.drops().get("options", 0) == malformed, f"list {n}: {options.hex(' ')}"
        if expected.malformed:
            continue
        beat = await receiver.segments.receive()
        receiver.free(beat)
        assert beat["options_mssValid"] == (2 in expected.found), options.hex(" ")
        assert beat["options_windowScaleValid"] == (3 in expected.found), options.hex(" ")
        assert beat["options_sackPermitted"] == (4 in expected.found), options.hex(" ")
        assert beat["options_timestampValid"] == (8 in expected.found), options.hex(" ")
        if 2 in expected.found:
            assert beat["options_mss"] == max(64, int.from_bytes(expected.found[2], "big")), options.hex(" ")
        if 3 in expected.found:
            assert beat["options_windowScale"] == min(14, expected.found[3][0]), options.hex(" ")
        if 8 in expected.found:
            seen = beat["options_timestampValue"] << 32 | beat["options_timestampEcho"]
            assert seen == int.from_bytes(expected.found[8], "big"), options.hex(" ")
    assert 100 < malformed < 800


@cocotb.test()
async def a_wrong_length_is_seen_wherever_the_option_begins(dut: Any) -> None:
    """RFC 9293 MUST-7: an illegal option length."""
    receiver = Receiver(dut)
    await receiver.start()
    malformed = 0
    for begin in range(38):
        for length in (0, 1, 2, 40 - begin, 41 - begin, 41, 255):
            options = (b"\1" * begin + bytes([253, length])).ljust(40, b"\0")
            receiver.put(with_tcp_options(options))
            await receiver.settle()
            malformed += walk(options).malformed
            assert receiver.drops().get("options", 0) == malformed, options.hex(" ")
            if not walk(options).malformed:
                receiver.free(await receiver.segments.receive())


@cocotb.test()
async def any_list_of_ip_options_is_skipped_unless_it_routes(dut: Any) -> None:
    receiver = Receiver(dut)
    await receiver.start()
    random = generator()
    counted = {"options": 0, "sourceRoute": 0}
    for n in range(300):
        options = any_options(random)
        if random.random() < 0.2:
            options = (b"\1" * random.randrange(4) + bytes([random.choice([131, 137]), 7, 4, 1, 2, 3, 4])).ljust(
                12, b"\0"
            )
        expected = walk(options)
        routes = bool({*expected.found, expected.cut} & {131, 137})  # also one that is cut off
        receiver.put(with_ip_options(options, b"z", tag=random.choice([None, 9])))
        await receiver.settle()
        if routes:
            counted["sourceRoute"] += 1
        elif expected.malformed:
            counted["options"] += 1
        drops = receiver.drops()
        assert {cause: drops.get(cause, 0) for cause in counted} == counted, f"list {n}: {options.hex(' ')}"
        if not routes and not expected.malformed:
            beat = await receiver.segments.receive()
            assert (beat["length"], beat["options_mssValid"]) == (1, 0)
            receiver.free(beat)


@cocotb.test()
@cocotb.parametrize(mss=[0, 1, 63, 64, 65, 65535])
async def a_tiny_mss_is_taken_as_64(dut: Any, mss: int) -> None:
    receiver = Receiver(dut)
    await receiver.start()
    receiver.put(with_tcp_options(b"\2\4" + mss.to_bytes(2, "big")))
    assert (await receiver.segments.receive())["options_mss"] == max(mss, 64)


@cocotb.test()
@cocotb.parametrize(flags=["A", "PA", "FA", "RA"])
async def mss_and_window_scale_count_on_a_syn_only(dut: Any, flags: str) -> None:
    receiver = Receiver(dut)
    await receiver.start()
    receiver.put(with_tcp_options(b"\2\4\5\xb4\1\3\3\7", flags=flags))
    beat = await receiver.segments.receive()
    assert (beat["options_mssValid"], beat["options_windowScaleValid"]) == (0, 0)


@cocotb.test()
async def options_of_the_frame_before_are_forgotten(dut: Any) -> None:
    receiver = Receiver(dut)
    await receiver.start()
    receiver.put(with_tcp_options(b"\2\4\5\xb4\1\3\3\7"), with_tcp_options(b"\1\1\4\2"), with_tcp_options(b""))
    seen = [await receiver.segments.receive() for _ in range(3)]
    assert [(beat["options_mssValid"], beat["options_windowScaleValid"]) for beat in seen] == [(1, 1), (0, 0), (0, 0)]
