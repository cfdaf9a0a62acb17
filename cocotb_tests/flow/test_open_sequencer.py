# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Open requests: ephemeral ports, refusals, how long they take."""

from __future__ import annotations

import itertools
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

from cocotb_tests.bench import Beat, StreamSource, clocks, until
from cocotb_tests.bench.runner import run_module
from cocotb_tests.flow.directory import listen_request, listening, open_request, segment
from cocotb_tests.flow.model import FLOWS


def test_open_sequencer() -> None:
    run_module("FlowDirectoryFewTimeWaits", __name__)


@cocotb.test()
async def an_ephemeral_port_is_one_that_nobody_uses(dut: Any) -> None:
    bench = await listening(dut)
    remote = (0x0A000009, 80)
    start = bench.numbers.port_offset((*remote, 0))
    taken = [0x8000 | (start + at) % 0x8000 for at in range(3)]
    bench.listen(listen_request(bench.random, taken[0]))
    bench.open(open_request(bench.random, remote, taken[1]), open_request(bench.random, remote, taken[2]))
    await bench.check()
    bench.open(*(open_request(bench.random, remote) for _ in range(FLOWS - 2)))
    await bench.check()
    ports = [port for *_, port in bench.model.table]
    assert len(set(ports)) == FLOWS and taken[0] not in ports
    assert all(port >= 32768 for port in ports)
    bench.open(open_request(bench.random, remote))
    assert bench.model.refused
    await bench.check()


@cocotb.test()
async def refusals_that_nobody_takes_hold_up_no_segment(dut: Any) -> None:
    bench = await listening(dut)
    bench.refused.stall = 1
    key = (0x0A000001, 7, 80)
    bench.segment(segment(bench.random, key, "syn"))
    await until(dut, lambda: bench.events.count == 1, "the SYN's event")
    bench.open(*(open_request(bench.random, key[:2], key[2]) for _ in range(6)))
    bench.listen(*(listen_request(bench.random, 0) for _ in range(6)))
    await clocks(dut, 200)
    bench.segment(*(segment(bench.random, key, "ack") for _ in range(50)))
    await until(dut, lambda: bench.events.count == 51, "the events of 50 segments", 600)
    assert dut.opens_ready.value == 0 and dut.listens_ready.value == 0
    bench.refused.stall = 0
    await bench.idle()
    assert sorted(map(str, bench.refused.pending())) == sorted(map(str, bench.model.refused))


@cocotb.test()
async def opens_and_releases_take_bounded_clocks(dut: Any) -> None:
    bench = await listening(dut)

    async def clocks_of(source: StreamSource, beat: Beat | int) -> int:
        source.put(beat)
        await until(dut, lambda: source.ports.valid.value == 1, "the request", 5)
        for taken in itertools.count():
            await RisingEdge(dut.clk)
            if source.idle and dut.idle.value == 1:
                return taken
        raise AssertionError

    explicit = await clocks_of(bench.opens, open_request(bench.random, (0x0A000001, 80), 5000))
    ephemeral = await clocks_of(bench.opens, open_request(bench.random, (0x0A000001, 80)))
    release = await clocks_of(bench.released, 0)
    dut._log.info(f"open {explicit} clocks, with an ephemeral port {ephemeral}, release {release}")
    assert explicit <= 60 and ephemeral <= 120 and release <= 35
    assert dut.freeFlows.value == FLOWS - 1


@cocotb.test()
async def ephemeral_ports_of_one_remote_end_follow_each_other_and_of_others_are_apart(dut: Any) -> None:
    """RFC 6056 3.3.3: nothing that one remote end sees tells the port of another, and none comes again soon."""
    bench = await listening(dut)

    async def port_to(remote: tuple[int, int]) -> int:
        bench.open(open_request(bench.random, remote))
        await bench.check()
        [(key, flow)] = bench.model.table.items()
        bench.release(flow.number)
        await bench.check()
        return key[2]

    same = [await port_to((0x0A000009, 80)) for _ in range(10)]
    assert [(b - a) % 0x8000 for a, b in itertools.pairwise(same)] == [1] * 9
    remotes = [(0x0A000100 + number, 80) for number in range(40)] + [(0x0A000100, 81 + number) for number in range(40)]
    others = [await port_to(remote) for remote in remotes]
    steps = [(b - a) % 0x8000 for a, b in itertools.pairwise(others)]
    assert len(set(steps)) == len(steps)
    for bit in range(15):
        assert 20 <= sum(port >> bit & 1 for port in others) <= 60, f"bit {bit}"
