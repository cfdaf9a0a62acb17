# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The notifier: levels, not edges; the newest status of each flow arrives, however slow the application is."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

from cocotb_tests.bench import Beat, StreamSink, StreamSource, clocks, generator, start, until, watch_idle
from cocotb_tests.bench.layout import layout, number
from cocotb_tests.bench.runner import run_module

FLOWS = number("flows")
FIELDS = layout()["bundles"]["Notification"]["fields"]
SPACING = 8  # clocks between two statuses of one flow, at least


def test_notifier() -> None:
    run_module("Notifier", __name__, random_power_up=True)


class Bench:
    """Statuses in, notifications out, and a connection table that answers one clock after it was requested."""

    def __init__(self, dut: Any, stall: float = 0.0) -> None:
        self.dut = dut
        self.random = generator()
        self.status = StreamSource(dut, "status")
        self.refused = StreamSource(dut, "refused", stall=stall)
        self.notifications = StreamSink(dut, "notifications", stall=stall)
        names = [name.removeprefix("addresses_") for name in FIELDS if name.startswith("addresses_")]
        self.addresses = [{name: self._draw(f"addresses_{name}") for name in names} for _ in range(FLOWS)]
        self.newest: dict[int, Beat] = {}
        cocotb.start_soon(self._read())

    def _draw(self, field: str) -> int:
        # A state or reason that is none would be no value of its port.
        values = FIELDS[field].get("enum")
        if values:
            return self.random.randrange(len(layout()["enums"][values]))
        return self.random.getrandbits(FIELDS[field]["width"])

    async def _read(self) -> None:
        while True:
            await RisingEdge(self.dut.clk)
            requested = int(self.dut.addressRead_flow.value) if self.dut.addressRead_enable.value == 1 else None
            for name in self.addresses[0]:
                # There for one clock: afterwards it is noise.
                value = self._draw(f"addresses_{name}") if requested is None else self.addresses[requested][name]
                getattr(self.dut, f"addressRead_addresses_{name}").value = value

    async def start(self) -> None:
        await start(self.dut)
        await until(self.dut, lambda: self.dut.idle.value == 1, "the sweep", 100)
        cocotb.start_soon(watch_idle(self.dut, ["status_valid", "refused_valid"], ["notifications_valid"]))

    def new_status(self, flow: int) -> Beat:
        names = [name.removeprefix("status_") for name in FIELDS if name.startswith("status_")]
        beat = {name: self._draw(f"status_{name}") for name in names} | {"reference_flow": flow}
        self.newest[flow] = beat
        return beat

    async def idle(self) -> None:
        await until(self.dut, lambda: self.status.idle and self.refused.idle and self.dut.idle.value == 1, "idle", 5000)
        await clocks(self.dut, 2)
        assert self.dut.idle.value == 1

    def check(self, notification: Beat) -> int:
        """A notification that is no refusal: right addresses; returns its flow."""
        flow = notification["status_reference_flow"]
        assert not notification["refused"] and notification["reason"] == notification["status_reason"]
        assert {name: notification[f"addresses_{name}"] for name in self.addresses[flow]} == self.addresses[flow]
        return flow


def status_of(notification: Beat) -> Beat:
    return {name.removeprefix("status_"): value for name, value in notification.items() if name.startswith("status_")}


async def send_random(bench: Bench, count: int, busy: float) -> None:
    """Statuses of random flows at `busy` of the clocks, those of one flow SPACING apart."""
    ago = dict.fromkeys(range(FLOWS), SPACING)
    sent = 0
    while sent < count:
        await RisingEdge(bench.dut.clk)
        ago = {flow: clocks_ago + 1 for flow, clocks_ago in ago.items()}
        ready = [flow for flow, clocks_ago in ago.items() if clocks_ago >= SPACING]
        if ready and bench.random.random() < busy:
            flow = bench.random.choice(ready)
            ago[flow] = 0
            bench.status.put(bench.new_status(flow))
            sent += 1


@cocotb.test()
@cocotb.parametrize((("stall", "busy"), [(0.0, 0.05), (0.0, 1.0), (0.5, 0.3), (0.95, 1.0)]))
async def the_last_status_of_each_flow_arrives(dut: Any, stall: float, busy: float) -> None:
    bench = Bench(dut, stall)
    await bench.start()
    for _ in range(5):
        await send_random(bench, 200, busy)
        await bench.idle()
        last = {}
        for notification in bench.notifications.pending():
            last[bench.check(notification)] = status_of(notification)
        assert last == bench.newest
        bench.newest.clear()


@cocotb.test()
async def a_stalled_application_gets_each_flow_once_and_the_newest(dut: Any) -> None:
    bench = Bench(dut)
    bench.notifications.stall = 1
    await bench.start()
    await bench.status.send(bench.new_status(5))
    await until(dut, lambda: dut.notifications_valid.value == 1, "the first notification", 20)
    first = dict(bench.newest[5])
    await send_random(bench, 1000, 1.0)
    bench.notifications.stall = 0
    await bench.idle()
    notifications = bench.notifications.pending()
    assert status_of(notifications[0]) == first
    flows = [bench.check(notification) for notification in notifications[1:]]
    assert sorted(flows) == list(range(FLOWS)), "each flow stands in line once"
    assert all(
        status_of(notification) == bench.newest[flow]
        for flow, notification in zip(flows, notifications[1:], strict=True)
    )


@cocotb.test()
async def a_status_in_any_clock_of_its_flows_notification_is_not_lost(dut: Any) -> None:
    """The newest status is read while another one arrives: early, late, or in that very clock."""
    bench = Bench(dut)
    await bench.start()
    for gap in range(SPACING, SPACING + 12):
        for flow in range(3):
            # The notification of this flow is delayed by that of another one, so that the gap meets each of its clocks.
            bench.status.put(bench.new_status((flow + 1) % FLOWS), bench.new_status(flow))
            await clocks(dut, gap)
            bench.status.put(bench.new_status(flow))
            await bench.idle()
            last = {bench.check(beat): status_of(beat) for beat in bench.notifications.pending()}
            assert last == bench.newest, f"gap {gap}"
            bench.newest.clear()


@cocotb.test()
async def refusals_come_between_statuses_and_all_of_them(dut: Any) -> None:
    bench = Bench(dut, 0.5)
    await bench.start()
    refusals = [{"request": bench.random.getrandbits(16), "reason": bench.random.randrange(7)} for _ in range(50)]
    bench.refused.put(*refusals)
    await send_random(bench, 300, 0.3)
    await bench.idle()
    notifications = bench.notifications.pending()
    refused = [
        {"request": beat["addresses_request"], "reason": beat["reason"]} for beat in notifications if beat["refused"]
    ]
    assert refused == refusals
    last = {bench.check(beat): status_of(beat) for beat in notifications if not beat["refused"]}
    assert last == bench.newest


@cocotb.test()
async def an_idle_notifier_answers_within_nine_clocks(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    bench.status.put(bench.new_status(9))
    await until(dut, lambda: dut.status_valid.value == 1, "the status", 10)
    latency = 0
    while dut.notifications_valid.value == 0:
        await RisingEdge(dut.clk)
        latency += 1
    dut._log.info(f"a notification comes {latency} clocks after its status")
    assert latency <= 9
