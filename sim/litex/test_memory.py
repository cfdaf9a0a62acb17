# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The block RAM between the core and the processor, in Migen's simulator: where LiteX is installed (make litex)."""

from __future__ import annotations

import random
from collections.abc import Generator
from typing import Any

from downbeat_litex.memory import BlockPayload
from litex.soc.interconnect import axi
from migen import run_simulation

SIZE = 4096
WORDS = SIZE // 8
SEED = 5

Steps = Generator[Any, Any, None]


def put(channel: Any, draw: random.Random, **fields: int) -> Steps:
    """One beat, after a pause."""
    for _ in range(draw.randrange(3)):
        yield
    for name, value in fields.items():
        yield getattr(channel, name).eq(value)
    yield channel.valid.eq(1)
    yield
    while not (yield channel.ready):
        yield
    yield channel.valid.eq(0)


def master(port: Any, draw: random.Random, first: int, model: dict[int, int]) -> Steps:
    """Bursts of random lengths within 2 KiB from word `first` on; what is read is what was written."""
    for turn in range(40):
        length = draw.randrange(1, 20)
        word = first + draw.randrange(WORDS // 2 - length)
        identifier = draw.randrange(2)
        fields = {"addr": 0x80000000 + 8 * word, "len": length - 1, "id": identifier}
        if turn % 3:
            yield from put(port.aw, draw, **fields)
            for index in range(length):
                data, strobe = draw.getrandbits(64), draw.choice((0xFF, 0xFF, draw.getrandbits(8)))
                yield from put(port.w, draw, data=data, strb=strobe, last=int(index == length - 1))
                mask = sum(0xFF << 8 * lane for lane in range(8) if strobe >> lane & 1)
                model[word + index] = model.get(word + index, 0) & ~mask | data & mask
            yield from accept(port.b, draw)
            assert (yield port.b.id) == identifier
        else:
            yield from put(port.ar, draw, **fields)
            for index in range(length):
                yield from accept(port.r, draw)
                assert (yield port.r.data) == model.get(word + index, 0)
                assert (yield port.r.last) == (index == length - 1) and (yield port.r.id) == identifier


def accept(channel: Any, draw: random.Random) -> Steps:
    """Takes a beat; its fields hold until the next step."""
    for _ in range(draw.randrange(3)):
        yield
    yield channel.ready.eq(1)
    yield
    while not (yield channel.valid):
        yield
    yield channel.ready.eq(0)


def test_both_masters_and_the_bus_see_the_same_bytes() -> None:
    draw = random.Random(SEED)
    ports = [axi.AXIInterface(data_width=64, address_width=32, id_width=1) for _ in range(2)]
    memory = BlockPayload(ports, SIZE)
    models: list[dict[int, int]] = [{}, {}]
    done: list[int] = []

    def run(index: int) -> Steps:
        yield from master(ports[index], random.Random(draw.random()), index * WORDS // 2, models[index])
        done.append(index)

    def bus() -> Steps:
        while len(done) < 2:
            yield
        for word, value in {**models[0], **models[1]}.items():
            assert (yield from memory.bus.read(word)) == value
        assert models[0] and models[1]
        done.append(2)

    run_simulation(memory, [run(0), run(1), bus()])
    assert sorted(done) == [0, 1, 2]
