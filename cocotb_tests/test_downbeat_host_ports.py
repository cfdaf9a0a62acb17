# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A port of the host: its rings and doorbells, its interrupt, the program that has it and the next one."""

from __future__ import annotations

from typing import Any

import cocotb

from cocotb_tests.bench import clocks, until
from cocotb_tests.bench.layout import number as size_of
from cocotb_tests.bench.runner import run_module
from cocotb_tests.host.format import number
from cocotb_tests.host.host import Host
from cocotb_tests.host.memory import RINGS_BASE
from cocotb_tests.host.transfer import PORT, move, opened
from cocotb_tests.registers.bus import RefusedError


def test_downbeat_host_ports() -> None:
    run_module("DownbeatHost", __name__)


@cocotb.test()
async def a_full_ring_stops_no_other_port_and_loses_no_answer(dut: Any) -> None:
    host = await Host.create(dut)
    slow, quick = host.ports
    await slow.start(notifications=1, commands=4)
    await quick.start()
    slow_peer, slow_connection = await opened(host)
    await slow.acknowledge()
    peer, connection = await opened(host, 1, remote=PORT + 1)
    for request in range(12):  # the slow program does not read
        await slow.listen(80, request=100 + request)
    slow_peer.send("PA", b"not looked at")
    await move(host, peer, connection, 3000)
    responses = [await slow.response() for _ in range(12)]
    assert [response["request"] for response in responses] == list(range(100, 112))
    assert [response["reason"] for response in responses] == ["none"] + ["addressInUse"] * 11
    await until(
        dut, lambda: slow.poll() is not None or slow_connection.received == slow_peer.sequence, "the data", 5000
    )
    assert await slow_connection.read(13) == b"not looked at"


@cocotb.test()
async def an_interrupt_comes_when_the_time_has_come(dut: Any) -> None:
    """The hold-off is time, not clocks: an idle core says when, and sleeps until then."""
    host = await Host.create(dut)
    port = host.ports[0]
    hold_off = 5_000_000  # ns
    await port.start(hold_off=hold_off)
    await port.acknowledge(arm=True)
    peer, connection = await opened(host)
    await until(dut, lambda: dut.interrupt.value == 1, "the first interrupt")
    assert await host.shown("interrupts") == 1
    port.drain()
    await port.acknowledge(arm=True)
    await clocks(dut, 20)
    rose = host.core.now
    assert dut.interrupt.value == 0
    peer.send("PA", b"x")
    await host.core.wire_in.drained()
    await host.core.idle()
    assert dut.interrupt.value == 0 and port.poll() is not None
    passed = await host.core.jump()
    assert hold_off - 100_000 < passed <= hold_off
    await until(dut, lambda: dut.interrupt.value == 1, "the second interrupt", 20)
    assert host.core.now - rose < hold_off + 1000
    await port.acknowledge()
    await clocks(dut, 20)
    assert dut.interrupt.value == 0
    peer.send("PA", b"y")
    await host.core.wire_in.drained()
    await host.core.advance(host.core.now + 2 * hold_off)
    assert dut.interrupt.value == 0, "nobody has armed it"
    port.drain()
    assert await connection.read((connection.received - connection.consumed) % 2**32) == b"xy"


@cocotb.test()
async def a_program_that_takes_a_port_over_hears_of_its_connections(dut: Any) -> None:
    """The next program aborts what a dead one has left; the other port's connection stays."""
    host = await Host.create(dut)
    dead = host.ports[0]
    for port in host.ports:
        await port.start()
    peer, left = await opened(host)
    other_peer, connection = await opened(host, 1, remote=PORT + 1)
    await left.send(b"last words")
    await dead.stop()
    segment = await peer.receive()
    assert segment.data == b"last words"
    dead.connections.clear()
    dead.others.clear()
    await dead.start()
    found = await dead.connection("established")
    assert (found.flow, found.generation) == (left.flow, left.generation)
    await found.command("abort")
    assert "R" in (await peer.receive()).flags
    await move(host, other_peer, connection, 1000)
    assert all(key == (found.flow, found.generation) for key in dead.connections)


@cocotb.test()
async def rings_that_cannot_be_are_refused_and_a_broken_one_stops_its_port(dut: Any) -> None:
    host = await Host.create(dut)
    port, other = host.ports
    await other.start()
    for commands, notifications in ((0, 4), (16, 4), (3, 0), (3, 16)):
        assert await port.try_start(commands, notifications) == 2, "refused"
        await port.set("control", 0)
    await port.start()
    await port.stop()
    await port.set("commandBaseLow", (RINGS_BASE + 8) & 0xFFFFFFFF)
    await port.set("control", 1)
    await clocks(dut, 20)
    assert await port.get("status") == 2, "refused: not a page"
    await port.set("control", 0)
    await port.start()
    host.memory.ring_reads.faults = range(RINGS_BASE + port.commands_at, RINGS_BASE + port.commands_at + 8)
    await port.listen(80)
    await clocks(dut, 200)
    assert await port.get("status") == 4, "stopped"
    await other.listen(81)
    assert (await other.response())["reason"] == "none"
    host.memory.ring_reads.faults = ()
    await port.set("control", 0)
    await port.start()
    await port.listen(80)
    assert (await port.response())["reason"] == "none"


@cocotb.test()
@cocotb.parametrize(reads=[True, False])
async def a_memory_that_does_not_answer_stops_all_ports_and_they_say_so(dut: Any, reads: bool) -> None:
    """The accesses of all ports wait behind the one; a slow memory is none that is dead."""
    host = await Host.create(dut)
    port, other = host.ports
    await port.start()
    await other.start()
    channel = host.memory.ring_reads.r_channel if reads else host.memory.rings.b_channel
    channel.pause = True
    await port.listen(80)
    await clocks(dut, 200)
    host.core.now += 500_000_000  # ns
    await clocks(dut, 20)
    assert [await each.get("status") for each in host.ports] == [1, 1], "running"
    host.core.now += 50_000_000
    await clocks(dut, 20)
    assert [await each.get("status") & 4 for each in host.ports] == [4, 4], "stopped"
    channel.pause = False
    await clocks(dut, 200)
    for each, service in ((port, 82), (other, 83)):
        await each.set("control", 0)
        await each.start()
        await each.listen(service)
        assert (await each.response())["reason"] == "none"


@cocotb.test()
async def a_half_written_word_is_no_doorbell(dut: Any) -> None:
    host = await Host.create(dut)
    port = host.ports[0]
    await port.start()
    page = number("firstDoorbellPage") * number("pageBytes")
    for address, data in (
        (page + 0x10, b"\1\0"),
        (page + 0x04, b"\1"),
        (page + 0x0C, b"\1\2\3"),
        (page + 0x30, b"\0" * 4),
    ):
        try:
            await host.registers.write_at(address, data)
        except RefusedError:
            continue
        raise AssertionError(f"{address:#x} took {len(data)} bytes")
    assert await port.shown("commandHead") == 0 and await port.get("errors") == 0
    assert await host.shown("hostFormat") == number("format")
    assert await host.shown("formatHash") == number("formatHash")
    assert await host.registers.read("flows") == size_of("flows")
