# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The command port: each command where it is done, and an end never before what was written or read before it."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

from cocotb_tests.bench import Beat, StreamSink, StreamSource, clocks, generator, start, until
from cocotb_tests.bench.layout import layout, number
from cocotb_tests.bench.runner import run_room

FIELDS = layout()["bundles"]["Command"]["fields"]
KINDS = layout()["enums"]["CommandKind"]
UNKNOWN = max(KINDS.values()) + 1
ENDS = ("shutdown", "close", "abort")


def test_command_port() -> None:
    run_room("CommandPort", __name__)


class Bench:
    def __init__(self, dut: Any, stall: float = 0.0) -> None:
        self.random = generator()
        self.commands = StreamSource(dut, "commands", stall=stall)
        names = ("opens", "listens", "requests", "events")
        self.sinks = {name: StreamSink(dut, name, stall=stall) for name in names}

    def command(self, kind: str | int, **fields: int) -> Beat:
        beat = {name: self.random.getrandbits(place["width"]) for name, place in FIELDS.items()}
        return beat | {"kind": KINDS[kind] if isinstance(kind, str) else kind} | fields


def parameters(command: Beat) -> Beat:
    return {name: value for name, value in command.items() if name.startswith("parameters_")}


def expected(command: Beat) -> tuple[str, Beat]:
    """Where a command comes out, and as what."""
    kind = next(name for name, value in KINDS.items() if value == command["kind"])
    if kind == "open":
        names = ("request", "remoteIp", "remotePort", "localPort")
        return "opens", {name: command[name] for name in names} | parameters(command)
    if kind in ("listen", "unlisten"):
        port = {"port": command["localPort"], "remove": int(kind == "unlisten")}
        return "listens", {"request": command["request"], **port, **parameters(command)}
    if kind == "receive":
        return "requests", {"flow": command["flow"], "length": command["length"]}
    return "events", {"kind": number("EventKind", kind), "flow": command["flow"], "length": 0, "memoryError": 0}


@cocotb.test()
@cocotb.parametrize(stall=[0.0, 0.5])
async def random_commands_come_out_where_they_belong_in_order(dut: Any, stall: float) -> None:
    bench = Bench(dut, stall)
    await start(dut, buffersIdle=1)
    commands = [bench.command(bench.random.choice([*KINDS, UNKNOWN])) for _ in range(400)]
    await bench.commands.send(*commands)
    await until(dut, lambda: dut.idle.value == 1, "an idle port")
    await clocks(dut, 2)
    known = [expected(command) for command in commands if command["kind"] != UNKNOWN]
    for name, sink in bench.sinks.items():
        assert sink.pending() == [beat for place, beat in known if place == name], name
    assert dut.unknown.value == len(commands) - len(known)


@cocotb.test()
@cocotb.parametrize(kind=ENDS)
async def an_end_waits_until_the_buffers_are_idle(dut: Any, kind: str) -> None:
    bench = Bench(dut)
    await start(dut, buffersIdle=0)
    bench.commands.put(bench.command(kind, flow=3), bench.command("open"))
    await until(dut, lambda: dut.hold.value == 1, "hold", 10)
    await clocks(dut, 50)
    assert dut.hold.value == 1 and dut.idle.value == 0
    assert bench.sinks["events"].count == 0 and bench.sinks["opens"].count == 0
    dut.buffersIdle.value = 1
    await until(dut, lambda: dut.idle.value == 1, "an idle port", 20)
    await clocks(dut, 2)
    assert [beat["flow"] for beat in bench.sinks["events"].pending()] == [3]
    assert bench.sinks["opens"].count == 1
    assert dut.hold.value == 0


@cocotb.test()
async def an_end_waits_until_an_earlier_receive_has_reached_the_buffer(dut: Any) -> None:
    """The buffer begins nothing while it is held: with `hold` too early the receive would never be taken."""
    bench = Bench(dut)
    bench.sinks["requests"].stall = 1
    await start(dut, buffersIdle=1)
    bench.commands.put(bench.command("receive"), bench.command("close"))
    await clocks(dut, 30)
    assert dut.hold.value == 0 and bench.sinks["events"].count == 0
    bench.sinks["requests"].stall = 0
    await until(dut, lambda: bench.sinks["events"].count == 1, "the close", 20)
    assert bench.sinks["requests"].count == 1


@cocotb.test()
async def a_buffer_that_becomes_busy_as_hold_rises_is_waited_for(dut: Any) -> None:
    """What the buffer accepted in the clock before `hold` shows a clock later."""
    bench = Bench(dut)
    await start(dut, buffersIdle=1)
    bench.commands.put(bench.command("shutdown"))
    while dut.hold.value == 0:
        await RisingEdge(dut.clk)
    dut.buffersIdle.value = 0
    await clocks(dut, 30)
    assert bench.sinks["events"].count == 0
    dut.buffersIdle.value = 1
    await until(dut, lambda: bench.sinks["events"].count == 1, "the shutdown", 20)
