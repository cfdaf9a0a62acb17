# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A host that writes what cannot be: each value gets its error, and a transfer beside it stays as it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cocotb
from cocotb.task import Task

from cocotb_tests.bench import clocks, generator
from cocotb_tests.bench.layout import number as size_of
from cocotb_tests.bench.runner import run_module
from cocotb_tests.bench.seeded import draws
from cocotb_tests.host.format import host_format, pack_command
from cocotb_tests.host.host import Host, HostConnection, HostPort
from cocotb_tests.host.transfer import PORT, move, opened

FLOW_COMMANDS = ("shutdown", "close", "abort", "setPolicies", "start", "stamps", "setTimes")
MASK = 2**32 - 1


def test_downbeat_host_checks() -> None:
    run_module("DownbeatHost", __name__)


@dataclass
class Bench:
    """A port that misbehaves, with a connection of its own; and another port's connection that carries data."""

    host: Host
    bad: HostPort
    own: HostConnection
    good: HostConnection
    transfer: Task[None]

    @classmethod
    async def create(cls, dut: Any, length: int) -> Bench:
        host = await Host.create(dut)
        for port in host.ports:
            await port.start()
        _, own = await opened(host)
        peer, good = await opened(host, 1, remote=PORT + 1)
        return cls(host, host.ports[0], own, good, cocotb.start_soon(move(host, peer, good, length)))

    async def settle(self) -> None:
        """The transfer is whole, and no value of the good port was refused."""
        await self.transfer
        assert await self.host.ports[1].get("errors") == 0
        assert not self.host.ports[1].others
        self.host.memory.check()

    async def refused(self, source: str, reason: str, value: int | None = None) -> None:
        error = await self.bad.response()
        assert (error["kind"], error["state"], error["reason"]) == ("error", source, reason), error
        assert value is None or error["value"] == value


def expected(bench: Bench, flow: int, generation: int, bad_sequence: str = "none") -> str:
    """The refusal that a flow and a generation of the bad port deserve, by the statuses it received."""
    if flow >= size_of("flows"):
        return "flow"
    if flow == bench.good.flow:
        return "owner"
    if flow != bench.own.flow:
        return "notOpen"
    return bad_sequence if generation == bench.own.generation else "generation"


def strangers(bench: Bench) -> list[tuple[int, int]]:
    """Flows and generations that are not the bad port's, each at its edges."""
    own, good = bench.own, bench.good
    unused = next(flow for flow in range(size_of("flows")) if flow not in (own.flow, good.flow))
    flows = [unused, good.flow, size_of("flows"), size_of("flows") + own.flow, 0xFFFF]
    generations = [(own.generation + change) % 256 for change in (-1, 1, 128)]
    return (
        [(flow, own.generation) for flow in flows]
        + [(good.flow, good.generation)]
        + [(own.flow, generation) for generation in generations]
    )


@cocotb.test()
async def doorbells_that_cannot_be_are_refused_by_their_cause(dut: Any) -> None:
    bench = await Bench.create(dut, 3000)
    own = bench.own
    for kind in ("written", "consumed"):
        at = own.written if kind == "written" else own.consumed
        for flow, generation in strangers(bench):
            await bench.bad.ring(kind, flow, generation, at)
            await bench.refused(kind, expected(bench, flow, generation), at)
        for bit in (0, 7) if kind == "consumed" else (1, 7):  # bit 0 of `written`: its last byte is urgent
            await bench.bad.ring(kind, own.flow, own.generation, at, reserved=1 << bit)
            await bench.refused(kind, "reserved")
        largest = size_of("sendBufferBytes") if kind == "written" else 0
        for change, reason in (
            (-1, "backwards"),
            (-(2**31), "backwards"),
            (largest + 1, "beyond"),
            (2**31 - 1, "beyond"),
            (MASK, "backwards"),
        ):
            await bench.bad.ring(kind, own.flow, own.generation, (at + change) & MASK)
            await bench.refused(kind, reason, (at + change) & MASK)
        await bench.bad.ring(kind, own.flow, own.generation, at)  # says nothing new
    assert bench.host.core.now and await bench.bad.get("errors") == 2 * (len(strangers(bench)) + 7)
    assert await bench.bad.get("errorsUnreported") == 0
    await bench.settle()
    await own.command("shutdown")
    await clocks(dut, 200)
    await bench.bad.ring("written", own.flow, own.generation, own.written + 1)
    await bench.refused("written", "shutDown")


@cocotb.test()
async def indexes_that_cannot_be_are_refused(dut: Any) -> None:
    bench = await Bench.create(dut, 1000)
    bad = bench.bad
    for value, reason in (
        (bad.tail - 1, "backwards"),
        (bad.tail + bad.command_size + 1, "beyond"),
        (bad.tail + 2**31, "backwards"),
    ):
        await bad.write("commandTail", value & MASK)
        await bench.refused("commandTail", reason, value & MASK)
    for name in ("notificationHead", "notificationHeadArm"):
        await bad.acknowledge()
        for value, reason in ((bad.seen - 1, "backwards"), (bad.seen + 2**30, "beyond")):
            await bad.write(name, value & MASK)
            await bench.refused(name, reason, value & MASK)
    assert await bad.shown("commandHead") == bad.tail
    await bench.settle()


def wrong_fields() -> list[tuple[str, dict[str, int]]]:
    """Commands that an open could be but for one field, and why not."""
    fields = host_format()["tables"]["command"]
    used = {name: field for name, field in fields.items() if name not in ("opcode", "request", "flow", "generation")}
    wrong = [("reserved", {name: 1 << field["used"]}) for name, field in used.items() if field["used"] < field["bits"]]
    wide = ("startup", "steady", "initialWindow", "startupArgument", "steadyArgument")
    wrong += [("field", {name: 1 << used[name]["used"] - 1}) for name in wide]
    return [*wrong, ("field", {"pace": 3}), ("field", {"paceGap": 1 << 52})]


@cocotb.test()
async def commands_that_cannot_be_are_refused_by_their_cause(dut: Any) -> None:
    bench = await Bench.create(dut, 3000)
    bad = bench.bad
    for number in (0, len(host_format()["enums"]["HostOpcode"]), 255):
        await bad.command(number, request=5)
        await bench.refused("command", "opcode", bad.tail - 1)
    for reason, fields in wrong_fields():
        await bad.command("open", **fields)
        await bench.refused("command", reason)
    for gap in (7, 71, 90, 127):  # bytes that no field has
        entry = bytearray(pack_command("listen", localPort=90))
        entry[gap] = 0x80
        await bad.post(bytes(entry))
        await bench.refused("command", "reserved")
    for opcode in FLOW_COMMANDS:
        for flow, generation in strangers(bench):
            await bad.command(opcode, flow=flow, generation=generation, request=6)
            await bench.refused("command", expected(bench, flow, generation), bad.tail - 1)
    await bench.settle()
    assert bench.own.status["state"] == bench.good.status["state"] == "established"


@cocotb.test()
async def random_values_find_their_error_or_do_what_they_may(dut: Any) -> None:
    """Every kind of doorbell and of flow command, each part right or drawn."""
    bench = await Bench.create(dut, 3000)
    draw = generator()
    own, bad = bench.own, bench.bad
    errors = await bad.get("errors")

    def either(right: int, bits: int) -> int:
        return right if draw.random() < 0.6 else draw.choice((0, (1 << bits) - 1, draw.getrandbits(bits)))

    for _ in range(draws(60, 3000)):
        flow, generation = either(draw.choice((own.flow, bench.good.flow)), 16), either(own.generation, 8)
        kind = draw.choice(("written", "consumed", "setPolicies"))
        if kind == "setPolicies":
            reason = expected(bench, flow, generation)
            await bad.command(kind, flow=flow, generation=generation, request=9)
        else:
            at = own.written if kind == "written" else own.consumed
            # If every other part is right, the sequence number is no step ahead.
            sequence = draw.choice(
                (at, (at - draw.randint(1, 2**31)) & MASK, (at + draw.randint(70_000, 2**31 - 1)) & MASK)
            )
            ahead = (sequence - at) & MASK
            reason = expected(
                bench, flow, generation, "none" if not ahead else "backwards" if ahead >> 31 else "beyond"
            )
            await bad.ring(kind, flow, generation, sequence)
        if reason != "none" or kind == "setPolicies":
            response = await bad.response()
            assert response["reason"] == reason, (kind, flow, generation, response)
            errors += reason != "none"
    assert await bad.get("errors") == errors
    await bench.settle()


@cocotb.test()
async def errors_without_space_are_counted(dut: Any) -> None:
    """A flood of bad doorbells fills its own port's ring and queue, and no more."""
    bench = await Bench.create(dut, 1000)
    bad = bench.bad
    await bad.acknowledge()
    flood = 40
    for _ in range(flood):
        await bad.ring("written", 0xFFFF, 0, 0)
    await bench.settle()
    unreported = await bad.get("errorsUnreported")
    assert await bad.get("errors") == flood and 0 < unreported < flood
    reported = [await bad.response() for _ in range(flood - unreported)]
    assert {error["reason"] for error in reported} == {"flow"}
    assert reported[-1]["errorsUnreported"] == unreported
    await clocks(dut, 200)
    assert bad.poll() is None
