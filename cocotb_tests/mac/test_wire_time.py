# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The time base set, slewed and compared: jumps and slews to the last bit, pulses both ways, external time, offset
log."""

from __future__ import annotations

from typing import Any

import cocotb
import pytest
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge, Timer

from cocotb_tests.bench import StreamSink, StreamSource, generator, until
from cocotb_tests.bench.runner import run_module
from cocotb_tests.mac.gmii import now_ps
from cocotb_tests.mac.mac import NOMINAL, PERIOD_PS, Mac, WireTime, clock

ROUND = 1 << 80
TAKES = 20  # clocks of the slower side until a command has taken effect (docs/reference/time.md)
HALF_NS = 4.01  # half a clock: the error that an asynchronous edge's stamp may have
SLOW, FAST = PERIOD_PS + 1, PERIOD_PS - 1  # 125 ppm
LOG = 16  # entries, and one more behind the pulse input


def test_wire_time() -> None:
    run_module("GmiiMac", __name__)


class Host(Mac):
    """The MAC, and what its host does with the time."""

    def __init__(self, dut: Any, **periods: int) -> None:
        super().__init__(dut, **periods)
        self.jumps = StreamSource(dut, "time_jump")
        self.slews = StreamSource(dut, "time_slew")
        self.plans = StreamSource(dut, "time_pulses")
        self.events = StreamSink(dut, "time_events")
        self.tag = 1

    async def taken(self) -> None:
        await ClockCycles(self.dut.clk, TAKES)

    async def jump(self, value: int, *, relative: bool) -> None:
        """`value` in 2^-32 ns."""
        await self.jumps.send({"relative": int(relative), "value": value % ROUND})
        await self.taken()

    async def wire_time(self, increment: int = NOMINAL) -> WireTime:
        time = WireTime(self, increment)
        await time.find()
        return time

    async def copy_after(self, stamp: int) -> None:
        await until(self.dut, lambda: self.now > stamp, "the core's copy of the new time", 50)

    async def stamped(self) -> tuple[int, int]:
        """A departure: when its SFD came to the pins, in ps, and its stamp, in 2^-16 ns."""
        self.tag += 1
        self.send(bytes(60), tag=self.tag)
        sfd_ps = (await self.wire_out.receive()).sfd_ps
        tag, stamp = await self.departure()
        assert tag == self.tag
        return sfd_ps, stamp

    async def pulse(self) -> int:
        """A pulse to the pin, four clocks long; when it rose, in ps."""
        self.dut.pulseIn.value = 1
        rose = now_ps()
        await Timer(4 * PERIOD_PS + 3, "ps")
        self.dut.pulseIn.value = 0
        await Timer(4 * PERIOD_PS + 5, "ps")
        return rose


def ns(stamp: int) -> float:
    return stamp / 65536


def stamp(event: dict[str, int], name: str = "stamp") -> int:
    return event[f"{name}_ns"] << 16 | event[f"{name}_fraction"]


@cocotb.test()
@cocotb.parametrize(core=[6_500, 20_000])
async def a_set_time_is_taken_whole_within_its_clocks(dut: Any, core: int) -> None:
    """Also backwards: a host jumps only while no connection lives."""
    host = Host(dut, core=core)
    await host.start()
    for value in [generator().getrandbits(79), 5 << 32 | 0x80010001, (1 << 80) - (100 << 32)]:
        requested = now_ps()
        await host.jump(value, relative=False)
        sfd_ps, found = await host.stamped()
        # Increments are whole ns: the fraction is the one that was set, cut to 16 bits.
        assert found & 0xFFFF == value >> 16 & 0xFFFF
        clocks = (found - (value >> 16)) % (1 << 64) // (8 << 16)
        effect = sfd_ps - clocks * PERIOD_PS
        assert requested < effect <= requested + TAKES * max(core, PERIOD_PS)
        await host.copy_after(found)


@cocotb.test()
async def a_step_moves_the_time_by_exactly_that(dut: Any) -> None:
    host = Host(dut)
    await host.start(increment=NOMINAL + 12345)
    random = generator()
    await host.jump(1 << 62, relative=False)
    for delta in [1 << 16, -1 << 16, random.randrange(1 << 45), -random.randrange(1 << 45), -1]:
        before_ps, before = await host.stamped()
        await host.jump(delta, relative=True)
        after_ps, after = await host.stamped()
        clocks, rest = divmod(after_ps - before_ps, PERIOD_PS)
        assert rest == 0
        wrong = (after - before << 16) - clocks * (NOMINAL + 12345) - delta
        assert abs(wrong) <= 0xFFFF, "two stamps, each cut"


@cocotb.test()
@cocotb.parametrize(per_clock=[1, -1, 0x7FFFFFFF, -0x80000000], clocks=[1, 777])
async def a_slew_adds_what_it_says_and_the_time_stays_monotone(dut: Any, per_clock: int, clocks: int) -> None:
    host = Host(dut)
    await host.start()
    # The least significant bits are seen by jumping to where they carry.
    await host.jump((1 << 60) + (1 << 16) - (per_clock * clocks) % (1 << 16), relative=False)
    before_ps, before = await host.stamped()
    host.slews.put({"perClock": per_clock % (1 << 32), "clocks": clocks})
    copy = host.now
    for _ in range(clocks + 2 * TAKES):
        await RisingEdge(dut.clk)
        assert host.now >= copy
        copy = host.now
    assert dut.time_slewing.value == 0
    after_ps, after = await host.stamped()
    start = (1 << 16) - (per_clock * clocks) % (1 << 16)
    moved = (after_ps - before_ps) // PERIOD_PS * NOMINAL + per_clock * clocks
    assert after == ((before >> 16 << 32) + moved + start) >> 16


@cocotb.test()
async def a_slew_takes_the_place_of_one_under_way_and_a_jump_ends_it(dut: Any) -> None:
    host = Host(dut)
    await host.start()
    endless = {"perClock": 1 << 24, "clocks": (1 << 32) - 1}
    for end in ("slew", "jump"):
        host.slews.put(endless)
        await ClockCycles(dut.clk, 100)
        assert dut.time_slewing.value == 1
        if end == "slew":
            await host.slews.send({"perClock": 5, "clocks": 0})
        else:
            host.jumps.put({"relative": 0, "value": 0})
        await ClockCycles(dut.clk, 2 * TAKES)
        assert dut.time_slewing.value == 0
        first_ps, first = await host.stamped()
        second_ps, second = await host.stamped()
        assert second - first == (second_ps - first_ps) // PERIOD_PS * 8 << 16


@cocotb.test()
@cocotb.parametrize(transmit=[FAST, PERIOD_PS, SLOW])
async def a_pulse_is_stamped_to_half_a_clock_wherever_it_comes(dut: Any, transmit: int) -> None:
    host = Host(dut, transmit=transmit, core=10_000)
    await host.start()
    time = await host.wire_time()
    random = generator()
    errors = []
    for number in range(100):
        await Timer(random.randrange(1, 3 * PERIOD_PS), "ps")
        rose = await host.pulse()
        event = await host.events.receive()
        assert (event["external"], event["sequence"], stamp(event, "reference")) == (0, number, 0)
        errors.append(ns(stamp(event)) - time.at(rose))
    assert max(map(abs, errors)) <= HALF_NS
    assert max(errors) - min(errors) > 6, "phases were drawn"
    assert abs(sum(errors) / len(errors)) < 1, "right on average"


@cocotb.test()
async def the_log_keeps_the_oldest_and_counts_what_it_has_no_space_for(dut: Any) -> None:
    host = Host(dut)
    await host.start()
    host.events.stall = 1.0
    dut.reset.value = 1
    dut.pulseIn.value = 1  # high from the start on: no edge
    await ClockCycles(dut.clk, 20)
    dut.reset.value = 0
    await ClockCycles(dut.clk, 20)
    dut.pulseIn.value = 0
    await ClockCycles(dut.clk, 20)
    for _ in range(30):
        await host.pulse()
    await host.taken()
    kept = 30 - int(dut.time_pulsesLost.value)
    assert LOG <= kept <= LOG + 2
    host.events.stall = 0.0
    found = [await host.events.receive() for _ in range(kept)]
    assert [event["sequence"] for event in found] == list(range(kept))
    await ClockCycles(dut.clk, 20)
    await host.pulse()
    assert (await host.events.receive())["sequence"] == 30


async def edges(dut: Any, count: int) -> list[int]:
    """When the pulse output rose, in ps: what an edge reads came at the edge before."""
    found: list[int] = []
    high, before = 1, now_ps()
    while len(found) < count:
        await RisingEdge(dut.gmii_gtx_clk)
        level = int(dut.pulseOut.value)
        if level and not high:
            found.append(before)
        high, before = level, now_ps()
    return found


@cocotb.test()
@cocotb.parametrize(increment=[NOMINAL, NOMINAL - 3_435_973, NOMINAL + 3_435_974])
async def pulses_rise_on_the_first_clock_at_or_after_each_period(dut: Any, increment: int) -> None:
    """100 ppm, so that the phase to the clock moves."""
    host = Host(dut)
    await host.start(increment=increment)
    await ClockCycles(dut.clk, 50)
    time = await host.wire_time(increment)
    start, half = (host.now >> 16) + 3000, 1307
    host.plans.put({"start": start, "halfPeriod": half})
    for number, edge_ps in enumerate(await edges(dut, 25)):
        late = time.at(edge_ps) - (start + 2 * half * number)
        assert -0.001 <= late < increment / (1 << 32) + 0.001, number
    assert dut.time_pulsing.value == 1 and dut.time_pulsesMissed.value == 0
    host.plans.put({"start": start, "halfPeriod": 1023})
    await host.taken()
    assert dut.time_pulsing.value == 0 and dut.time_pulsesMissed.value == 0 and dut.pulseOut.value == 0


@cocotb.test()
async def pulses_that_should_have_begun_do_not_and_a_jump_ends_them(dut: Any) -> None:
    host = Host(dut)
    await host.start()
    host.plans.put({"start": (host.now >> 16) - 1, "halfPeriod": 5000})
    await host.taken()
    assert (dut.time_pulsing.value, dut.time_pulsesMissed.value) == (0, 1)
    host.plans.put({"start": (host.now >> 16) + 1500, "halfPeriod": 2000})
    await edges(dut, 2)
    assert (dut.time_pulsing.value, dut.time_pulsesMissed.value) == (1, 0)
    await host.jump(1 << 60, relative=True)
    assert (dut.time_pulsing.value, dut.pulseOut.value) == (0, 0)
    for _ in range(2000):
        await FallingEdge(dut.gmii_gtx_clk)
        assert dut.pulseOut.value == 0


class External:
    """A time from elsewhere: exactly the simulator's, from `start_ns` on."""

    def __init__(self, dut: Any, start_ns: float, period_ps: int) -> None:
        self.dut = dut
        self.start_ns = start_ns
        self.on = True
        self.times: set[int] = set()  # in 2^-16 ns
        clock(dut.externalClock, period_ps)
        cocotb.start_soon(self._run(period_ps))

    def at(self, instant_ps: int) -> float:
        return self.start_ns + instant_ps / 1000

    async def _run(self, period_ps: int) -> None:
        while True:
            await RisingEdge(self.dut.externalClock)
            # A value driven at this edge is taken at the next, and is that edge's time.
            value = int(self.at(now_ps() + period_ps) * 65536)
            self.times.add(value)
            self.dut.externalTime_valid.value = int(self.on)
            self.dut.externalTime_payload_ns.value = value >> 16
            self.dut.externalTime_payload_fraction.value = value & 0xFFFF


@cocotb.test()
@cocotb.parametrize(external=[3_000, 7_001, 8_000, 16_001])
async def a_comparison_with_the_external_time_is_right_to_half_a_clock(dut: Any, external: int) -> None:
    host = Host(dut)
    await host.start()
    time = await host.wire_time()
    other = External(dut, 1e6, external)
    await ClockCycles(dut.clk, 30)
    assert dut.time_externalAlive.value == 1
    wanted = other.at(0) - time.at(0)
    for number in range(40):
        dut.time_sample.value = 1
        await RisingEdge(dut.clk)
        dut.time_sample.value = 0
        event = await host.events.receive()
        assert (event["external"], event["sequence"]) == (1, number)
        assert stamp(event, "reference") in other.times
        assert ns(stamp(event, "reference") - stamp(event)) == pytest.approx(wanted, abs=HALF_NS)
        await ClockCycles(dut.clk, generator().randrange(10))
    other.on = False
    await ClockCycles(dut.clk, 300)
    assert dut.time_externalAlive.value == 0
    assert host.events.beats.empty(), "nothing unasked"


@cocotb.test()
@cocotb.parametrize(transmit=[FAST, SLOW], ahead=[400, -400])
async def a_time_base_that_follows_comes_to_the_external_time_and_stays(dut: Any, transmit: int, ahead: int) -> None:
    """From 400 ns away and 125 ppm apart; monotone all the way. Half a clock for the comparison, half a ns for 125
    ppm."""
    host = Host(dut, transmit=transmit)
    await host.start()
    time = await host.wire_time()
    await host.jump(1 << 50, relative=True)
    other = External(dut, time.at(0) + (1 << 18) + ahead, 7_001)
    dut.time_follow.value = 1
    before = host.now
    for _ in range(4000):
        await RisingEdge(dut.clk)
        assert host.now >= before
        before = host.now
    for _ in range(30):
        sfd_ps, found = await host.stamped()
        assert ns(found) == pytest.approx(other.at(sfd_ps), abs=HALF_NS + 0.5)
    # Without it the wire's clock goes on by itself, without a step.
    other.on = False
    await ClockCycles(dut.clk, 400)
    first_ps, first = await host.stamped()
    second_ps, second = await host.stamped()
    assert second - first == (second_ps - first_ps) // transmit * 8 << 16
