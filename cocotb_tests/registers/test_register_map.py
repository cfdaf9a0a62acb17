# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The register map: every register does what the generated page says, and the files say the same."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import cocotb
import pytest
from cocotb.triggers import ClockCycles, Combine, RisingEdge

from cocotb_tests.bench import StreamSource, generator, start
from cocotb_tests.bench.layout import layout, number
from cocotb_tests.bench.runner import ROOT, run_module
from cocotb_tests.registers.bus import FILE, RefusedError, register_map
from cocotb_tests.registers.map import count_ports, running, started

READABLE = ("RO", "RW", "W1P")
WRITABLE = ("RW", "WO", "W1P")
LOG = 256  # records
LIVE = "counter_mac_transmit_worstLateness"  # shown as it is


def test_register_map() -> None:
    run_module("RegisterMap", __name__)


def test_the_header_compiles_and_says_what_the_json_says(tmp_path: Path) -> None:
    program = tmp_path / "registers.c"
    program.write_text(
        '#include "downbeat_layout.h"\n#include "downbeat_registers.h"\n'
        '_Static_assert(DOWNBEAT_REG_MAGIC < DOWNBEAT_REGISTER_BYTES, "outside");\n'
        "unsigned enabled(unsigned control)\n"
        "{ return (control & DOWNBEAT_REG_CONTROL_ENABLE_MASK) >> DOWNBEAT_REG_CONTROL_ENABLE_SHIFT; }\n"
    )
    options = ["-std=c11", "-fsyntax-only", "-Wall", "-Wextra", "-pedantic", "-Werror", "-Wno-missing-prototypes"]
    subprocess.run(["cc", *options, f"-I{FILE.parent}", program], check=True)
    defined = dict(re.findall(r"#define (DOWNBEAT_REG_\w+) (\w+)", FILE.with_suffix(".h").read_text()))
    expected: dict[str, int] = {}
    for name, register in register_map()["registers"].items():
        expected[upper(name)] = register["offset"]
        if list(register["fields"]) != ["value"]:
            for field, place in register["fields"].items():
                expected[f"{upper(name)}_{upper(field)}_SHIFT"] = place["offset"]
                expected[f"{upper(name)}_{upper(field)}_MASK"] = (1 << place["width"]) - 1 << place["offset"]
    numbers = {name: int(value.removesuffix("u"), 0) for name, value in defined.items()}
    assert numbers == {f"DOWNBEAT_REG_{name}": value for name, value in expected.items()}


def upper(name: str) -> str:
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).upper()


@cocotb.test()
async def identification_and_version(dut: Any) -> None:
    registers = await started(dut)
    assert (await registers.read("magic")).to_bytes(4, "big") == b"Down"
    released = re.search(r"<version>(.*?)</version>", (ROOT / "pom.xml").read_text())
    assert released is not None
    parts = [await registers.field("version", part) for part in ("major", "minor", "patch")]
    assert parts == [int(part) for part in released[1].split(".")]


@cocotb.test()
async def configuration_is_the_builds(dut: Any) -> None:
    registers = await started(dut)
    numbers = dict(layout()["numbers"])
    assert numbers.pop("beatBytes") == 8  # programs do not see beats
    for name, value in numbers.items():
        assert await registers.read(name) == value, name
    assert await registers.read("startupPolicies") == len(layout()["policies"]["StartupPolicy"])
    assert await registers.read("steadyPolicies") == len(layout()["policies"]["SteadyPolicy"])
    assert await registers.read("logCapacity") == LOG


@cocotb.test()
async def every_address_answers_as_the_page_says(dut: Any) -> None:
    """An access to a place that cannot be read or written is refused, and changes nothing."""
    registers = await started(dut)
    accesses: dict[int, set[str]] = {}
    for register in register_map()["registers"].values():
        accesses[register["offset"]] = {field["access"] for field in register["fields"].values()}
    for address in range(0, register_map()["bytes"], 4):
        access = accesses.get(address, set())
        if access & set(READABLE):
            await registers.read_at(address)
        else:
            with pytest.raises(RefusedError):
                await registers.read_at(address)
        if access & set(WRITABLE):
            await registers.write_at(address, bytes(4))
        else:
            with pytest.raises(RefusedError):
                await registers.write_at(address, b"\xff" * 4)
    assert (await registers.read("magic")).to_bytes(4, "big") == b"Down"


@cocotb.test()
async def strobes_select_bytes(dut: Any) -> None:
    registers = await started(dut)
    address = register_map()["registers"]["localIp"]["offset"]
    expected = bytearray(4)
    random = generator()
    for _ in range(30):
        first = random.randrange(4)
        part = random.randbytes(random.randint(1, 4 - first))
        await registers.write_at(address + first, part)
        expected[first : first + len(part)] = part
        assert await registers.read("localIp") == int.from_bytes(expected, "little")


@cocotb.test()
async def the_core_waits_in_reset_until_it_is_enabled(dut: Any) -> None:
    registers = await started(dut)
    await ClockCycles(dut.clk, 50)
    assert dut.coreReset.value == 1
    assert await registers.field("status", "running") == 0
    await registers.write("control", enable=1)
    await running(dut)
    assert await registers.field("status", "running") == 1


@cocotb.test()
@cocotb.parametrize(soft=[0, 1])
async def the_core_leaves_reset_when_the_macs_own_is_over(dut: Any, soft: int) -> None:
    """Sixteen clocks and the MAC's 64, whether the core was held or is reset softly."""
    registers = await started(dut)
    if soft:
        await registers.write("control", enable=1)
        await running(dut)
    clocks = 0

    async def count() -> None:
        nonlocal clocks
        for _ in range(200):
            await RisingEdge(dut.clk)
            clocks = 0 if dut.mac_softReset.value == 1 else clocks + int(dut.coreReset.value)

    counting = cocotb.start_soon(count())
    await registers.write("control", enable=1, softReset=soft)
    await counting
    assert clocks >= 16 + 64
    assert await registers.read("control") == 1, "the request is over"
    assert dut.coreReset.value == 0


@cocotb.test()
async def addresses_change_in_the_cores_reset_only(dut: Any) -> None:
    registers = await started(dut)
    await registers.write("localMacHigh", 0x0200)
    await registers.write("localMacLow", 0x00000001)
    await registers.write("localIp", 0x0A000001)
    secret = 0x01234567_89ABCDEF_FEDCBA98_76543210
    for part in range(4):
        await registers.write(f"secret{part}", secret >> 32 * part & 0xFFFFFFFF)
    await registers.write("control", enable=1)
    await running(dut)
    before = (0x020000000001, 0x0A000001, secret)
    assert (int(dut.local_mac.value), int(dut.local_ip.value), int(dut.secret.value)) == before
    await registers.write("localIp", 0x0A000002)
    assert int(dut.local_ip.value) == 0x0A000001
    assert await registers.read("localIp") == 0x0A000002
    await registers.write("control", enable=1, softReset=1)
    await running(dut)
    assert int(dut.local_ip.value) == 0x0A000002


class Trace:
    """Random trace records, and which of them the registers must show."""

    def __init__(self, dut: Any) -> None:
        self.source = StreamSource(dut, "trace")
        self.random = generator()
        self.log: list[dict[str, int]] = []
        self.last: dict[int, dict[str, int]] = {}

    def put(self, *, logged: bool = True) -> None:
        record = {name: self.random.getrandbits(width) for name, width in self.source.ports.widths.items()}
        self.source.put(record)
        if logged:
            self.log.append(record)
        if record["live"]:
            self.last[record["reference_flow"]] = record


@cocotb.test()
@cocotb.parametrize(count=[0, 3, 200, 700], stall=[0.0, 0.5])
async def the_last_record_of_each_flow_and_the_log(dut: Any, count: int, stall: float) -> None:
    trace = Trace(dut)
    registers = await started(dut, stall=stall)
    await ClockCycles(dut.clk, 2 * number("flows"))  # the engine's sweep
    for _ in range(count):
        trace.put()
    if count:
        await trace.source.drained()
    assert await registers.read("logged") == min(count, LOG)
    for flow in range(number("flows")):
        assert await registers.record(flow, log=False) == trace.last.get(flow)
    assert await registers.record(number("flows"), log=False) is None
    for age in [0, 1, 2, 199, 200, LOG - 1]:
        assert await registers.record(age, log=True) == (trace.log[-1 - age] if age < count else None), age
    assert await registers.record(LOG, log=True) is None


@cocotb.test()
async def a_frozen_log_stands_still(dut: Any) -> None:
    trace = Trace(dut)
    registers = await started(dut)
    await ClockCycles(dut.clk, 2 * number("flows"))
    for _ in range(5):
        trace.put()
    await trace.source.drained()
    await registers.write("log", freeze=1)
    for _ in range(20):
        trace.put(logged=False)
    await trace.source.drained()
    assert await registers.read("logged") == 5
    for age in range(5):
        assert await registers.record(age, log=True) == trace.log[-1 - age]
    assert await registers.record(3, log=False) == trace.last.get(3)
    await registers.write("log", freeze=0)
    trace.put()
    await trace.source.drained()
    assert await registers.record(0, log=True) == trace.log[-1]


@cocotb.test()
async def a_record_is_never_half_of_another(dut: Any) -> None:
    """Reads of a flow while its records are written."""
    trace = Trace(dut)
    registers = await started(dut)
    await ClockCycles(dut.clk, 2 * number("flows"))

    async def engine() -> None:
        while True:
            value = trace.random.getrandbits(14)
            record = {name: value & (1 << width) - 1 for name, width in trace.source.ports.widths.items()}
            record |= {"reference_flow": 3, "live": 1}
            await trace.source.send(record)
            await ClockCycles(dut.clk, 8 + trace.random.randrange(3))

    cocotb.start_soon(engine())
    await ClockCycles(dut.clk, 100)
    for _ in range(40):
        record = await registers.record(3, log=False)
        assert record is not None
        value = record["sentLength"]
        assert all(
            record[name] & 0x3FFF == value for name in ("time_ns", "window_cwnd", "nextSend_value", "sendWindow")
        )


@cocotb.test()
@cocotb.parametrize(stall=[0.0, 0.3, 0.7])
async def reads_and_writes_at_once_change_no_value(dut: Any, stall: float) -> None:
    """With pauses on all five channels, live counters and strobes that leave bytes out."""
    registers = await started(dut, stall=stall)
    random = generator()
    address = register_map()["registers"]["localIp"]["offset"]
    expected = bytearray(4)

    async def writes() -> None:
        for _ in range(100):
            first = random.randrange(4)
            part = random.randbytes(random.randint(1, 4 - first))
            await registers.write_at(address + first, part)
            expected[first : first + len(part)] = part

    async def reads() -> None:
        constants = {name: layout()["numbers"][name] for name in ("flows", "mtu", "clockHz")}
        for _ in range(100):
            name = random.choice(list(constants))
            wanted = [cocotb.start_soon(registers.read(each)) for each in (name, "localMacLow", "flows")]
            assert [await task for task in wanted] == [constants[name], 0x12345678, constants["flows"]]

    async def clock() -> None:
        """A live value that a read must show at one instant: both halves always agree."""
        value = 0
        while True:
            await RisingEdge(dut.clk)
            value = (value + 1) & 0xFFFF
            dut.mac_counters_transmit_worstLateness.value = value << 16 | value

    async def samples() -> None:
        for _ in range(100):
            sample = await registers.read(LIVE)
            assert sample >> 16 == sample & 0xFFFF

    await registers.write("localMacLow", 0x12345678)
    cocotb.start_soon(clock())
    await Combine(*[cocotb.start_soon(task()) for task in (writes, reads, samples)])
    assert await registers.read("localIp") == int.from_bytes(expected, "little")
    assert await registers.read("localMacLow") == 0x12345678


@cocotb.test()
async def an_answer_that_waits_stays_as_it_is(dut: Any) -> None:
    """AXI4 A3.2.1: RDATA is stable while RVALID waits, also when the register changes and the next address is there."""
    quiet = count_ports(dut) + [f"s_axil_{name}" for name in ("awvalid", "wvalid", "bready", "rready", "arprot")]
    await start(dut, coreIdle=0, trace_valid=0, **dict.fromkeys(quiet, 0))
    places = register_map()["registers"]
    dut.mac_counters_transmit_worstLateness.value = 7
    dut.s_axil_araddr.value = places[LIVE]["offset"]
    dut.s_axil_arvalid.value = 1
    for _ in range(20):
        await RisingEdge(dut.clk)
        if dut.s_axil_arready.value == 1:
            dut.s_axil_araddr.value = places["magic"]["offset"]
        if dut.s_axil_rvalid.value == 1:
            break
    for count in range(8, 30):
        dut.mac_counters_transmit_worstLateness.value = count
        await RisingEdge(dut.clk)
        assert (dut.s_axil_rvalid.value, int(dut.s_axil_rdata.value)) == (1, 7)
