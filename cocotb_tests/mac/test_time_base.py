# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Time: it goes as its increment says, the core's copy is monotone and late by less than its bound, received SFDs are
stamped."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import ClockCycles, RisingEdge

from cocotb_tests.bench import generator
from cocotb_tests.bench.runner import run_module
from cocotb_tests.mac.gmii import now_ps
from cocotb_tests.mac.mac import NOMINAL, PERIOD_PS, Mac, WireTime, stamp_of

# The bound of docs/reference/mac.md, in clocks of the core and of the wire.
CORE_CLOCKS, WIRE_CLOCKS = 6, 4
SLOW, FAST = PERIOD_PS + 1, PERIOD_PS - 1  # 125 ppm


def test_time_base() -> None:
    run_module("GmiiMac", __name__)


@cocotb.test()
@cocotb.parametrize(core=[FAST, PERIOD_PS, SLOW, 6_500, 10_000, 20_000], transmit=[FAST, SLOW])
async def the_cores_copy_is_monotone_and_late_by_less_than_the_bound(dut: Any, core: int, transmit: int) -> None:
    mac = Mac(dut, core=core, transmit=transmit)
    await mac.start()
    time = WireTime(mac, NOMINAL)
    await time.find()
    # In the time of the wire, whose clock says that it lasts 8 ns.
    bound = (CORE_CLOCKS * core + WIRE_CLOCKS * transmit) * 8 / transmit + 0.001
    before, worst = mac.now, 0.0
    for _ in range(4000):
        await RisingEdge(dut.clk)
        late = time.at(now_ps()) - mac.now / 65536
        assert mac.now >= before
        assert 0 <= late <= bound
        before, worst = mac.now, max(worst, late)
    assert worst > bound / 2, "the bound says something"


@cocotb.test()
@cocotb.parametrize(increment=[NOMINAL - 859_000, NOMINAL + 859_001, 7 << 32, 9 << 32])
async def a_new_increment_is_taken_over_without_a_step(dut: Any, increment: int) -> None:
    mac = Mac(dut)
    await mac.start()
    before = mac.now
    dut.increment.value = increment
    largest = 0
    for _ in range(2000):
        await RisingEdge(dut.clk)
        assert mac.now >= before
        largest, before = max(largest, mac.now - before), mac.now
    assert largest <= (CORE_CLOCKS + WIRE_CLOCKS) * 9 << 16
    # Long after the change it goes as the increment says.
    time = WireTime(mac, increment)
    await time.find()
    await ClockCycles(dut.clk, 20_000)
    mac.send(bytes(60), tag=2)
    departed = await mac.wire_out.receive()
    _, stamp = await mac.departure()
    assert abs(time.at(departed.sfd_ps) - stamp / 65536) <= 2 / 65536


@cocotb.test()
@cocotb.parametrize(receive=[FAST, PERIOD_PS, SLOW], transmit=[FAST, PERIOD_PS, SLOW])
async def a_received_frame_carries_its_sfds_time_to_half_a_byte(dut: Any, receive: int, transmit: int) -> None:
    mac = Mac(dut, receive=receive, transmit=transmit, core=10_000)
    await mac.start()
    time = WireTime(mac, NOMINAL)
    await time.find()
    random = generator()
    sent = []
    for _ in range(60):
        if random.random() < 0.3:
            mac.wire_in.put(random.randbytes(random.randrange(50)), gap=random.randrange(1, 4))  # a runt in between
        sent.append(mac.wire_in.put(random.randbytes(60), gap=random.randrange(12, 40)))
    errors = []
    for symbols in sent:
        received = await mac.receive.receive()
        errors.append(stamp_of(received.extras) / 65536 - time.at(symbols.sfd_ps))
    # The simulator's synchronisers settle at once; a real one may take a clock more.
    assert max(map(abs, errors)) <= 4.01
