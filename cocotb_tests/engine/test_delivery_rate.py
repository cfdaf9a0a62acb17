# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The delivery meter alone: samples of the delivery rate against the golden model, over drawn events of two flows."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import cocotb
from cocotb.triggers import ClockCycles

from cocotb_tests.bench import StreamMonitor, StreamSource, generator, start
from cocotb_tests.bench.layout import element
from cocotb_tests.bench.runner import run_module
from sim.golden.congestion.seam import DeliverySample
from sim.golden.engine.delivery_rate import SHORTEST, Ack, DeliveryMeter
from sim.golden.engine.protocol.sequence import MODULUS, since

EVENTS = 8000  # for each flow
SPACING = 4  # clocks; events of one flow are eight apart
SMSS = 1460
BUFFER = 1 << 18  # bytes
LONGEST = 13  # the largest shift
LONG = 1 << 36  # ns; the meter keeps the low 38 bits of times
NO_RTT = (1 << 36) - 1


def test_delivery_rate() -> None:
    run_module("DeliveryBench", __name__)


@dataclass
class Flow:
    """A connection that sends, and its model. Acknowledgments, losses and flights are drawn, not consistent."""

    number: int
    draw: random.Random
    now: int
    meter: DeliveryMeter = field(init=False)
    una: int = field(init=False)
    highest: int = field(init=False)
    written: int = field(init=False)
    fills: bool = True  # the flight grows
    ends: list[int] = field(default_factory=list)
    filled: int = 0  # samples of ACKs that fill a hole
    too_short: int = 0  # ACKs whose interval is shorter than the smallest round trip

    def establish(self, first: int) -> dict[str, int]:
        self.una = self.highest = self.written = first
        self.meter, self.ends = DeliveryMeter(self.una, self.una, longest=LONGEST, changed_at=self.una), []
        self.meter.delivered_time = self.meter.first_send = self.now
        fields, pipe = self._fields("segment", established=1)
        self.meter.changes(fields["lost"])
        self._idles(fields, pipe, begins=True)
        return fields

    def event(self) -> tuple[dict[str, int], DeliverySample | None]:
        self.now += self.draw.choice([0, 1, self.draw.randrange(1 << 20)]) + LONG * (self.draw.random() < 0.001)
        outstanding = since(self.highest, self.una)
        self.fills = outstanding < BUFFER // 2 and (self.fills or outstanding < BUFFER // 32)
        often = ["sent", "sent", "departed", "departed"] if self.fills else ["departed", "segment", "segment"]
        kind = self.draw.choice([*often, "sent", "segment", "timer"])
        if kind == "sent" and outstanding < BUFFER - SMSS:
            return self._send(again=outstanding > 0 and self.draw.random() < 0.2), None
        if kind == "segment" and outstanding > 0:
            return self._acknowledge(outstanding)
        if kind == "departed" and self.ends:
            end = self.ends.pop(-1 - self.draw.randrange(min(3, len(self.ends))))
            fields, _ = self._fields("departed", sequence_value=end)
            self.meter.changes(fields["lost"])
            self.meter.departed(end, self.now)
            return fields, None
        fields, _ = self._fields("timer")
        taken_back = self.draw.choice([0, self.draw.randrange(1 << 12)])
        fields["delivered"] = -taken_back % (1 << (BUFFER.bit_length() + 2))
        self.meter.changes(fields["lost"], -taken_back)
        return fields, None

    def _send(self, again: bool) -> dict[str, int]:
        length = self.draw.choice([SMSS, SMSS, self.draw.randrange(1, SMSS)])
        first = self.highest
        if again:
            first = (self.una + self.draw.choice([0, self.draw.randrange(since(first, self.una))])) % MODULUS
        fin = int(self.draw.random() < 0.02)
        end = (first + length + fin) % MODULUS
        self.highest = end if since(end, self.highest) > 0 else self.highest
        self.written = self.highest if since(self.highest, self.written) > 0 else self.written
        if self.draw.random() < 0.3:
            self.written = (self.highest + self.draw.choice([-1, 0, SMSS - 1, SMSS, 1 << 16])) % MODULUS
        self.ends.append(end)
        probe = again and self.draw.random() < 0.3
        marks = {"fin": fin, "resent": int(again), "probe": int(probe)}
        fields, pipe = self._fields("sent", sequence_value=first, length=length, **marks)
        length += fin
        if self.draw.random() < 0.1:
            fields["pipe"] = pipe = length
        lost_again = again and not probe
        self.meter.sent(end, length, self.highest, pipe, self.now, fields["lost"], lost_again)
        self._idles(fields, pipe)
        return fields

    def _acknowledge(self, outstanding: int) -> tuple[dict[str, int], DeliverySample | None]:
        acked = min(self.draw.choice([0, SMSS, 2 * SMSS, 4 * SMSS]), outstanding)
        self.una = (self.una + acked) % MODULUS
        left = since(self.highest, self.una)
        blocks = [self._block(left) for _ in range(2)]
        fields, pipe = self._fields("segment", acknowledges=1, acked=acked)
        for i, block in enumerate(blocks):
            left_edge, right_edge = block or (0, 0)
            fields |= {f"blocks_{i}_valid": int(block is not None)}
            fields |= {f"blocks_{i}_left": left_edge, f"blocks_{i}_right": right_edge}
        first = blocks[0] or blocks[1]
        reach = first[1] if first and first[1] <= left and fields["selective"] else 0
        delivered = self.draw.choice([acked, acked, -self.draw.randrange(1 << 12), self.draw.randrange(1 << 16)])
        fields["delivered"] = delivered % (1 << (BUFFER.bit_length() + 2))
        edge = (self.una + reach) % MODULUS
        path = (fields["lost"], pipe, fields["cwnd"], SMSS, fields["rttMinimum"], fields["selective"])
        before, last = self.meter.highest, self.meter.first_send
        sample = self.meter.acknowledged(Ack(edge, self.una, self.highest, delivered, self.now, acked, *path))
        self.filled += sample is not None and self.meter.highest == before
        self.too_short += sample is None and self.meter.first_send != last
        self._idles(fields, pipe)
        return fields, sample

    def _block(self, outstanding: int) -> tuple[int, int] | None:
        if self.draw.random() < 0.7 or outstanding < 2:
            return None
        left = self.draw.randrange(1, min(outstanding, 4 * SMSS))
        return left, left + self.draw.randint(1, 2 * SMSS)

    def _fields(self, kind: str, **more: int) -> tuple[dict[str, int], int]:
        pipe = self.draw.choice([0, SMSS, self.draw.randrange(1 << 16)])
        names = ("established", "sequence_value", "length", "fin", "resent", "probe", "acknowledges")
        blocks = (f"blocks_{i}_{name}" for i in range(2) for name in ("valid", "left", "right"))
        return {
            "flow": self.number,
            "kind": element("EventKind", kind),
            **dict.fromkeys((*names, "acked", "delivered", *blocks), 0),
            "unacknowledged_value": self.una,
            "highestSent_value": self.highest,
            "written_value": self.written,
            "selective": int(self.draw.random() < 0.8),
            "lost": self.draw.choice([0, 0, self.draw.randrange(1 << 14)]),
            "pipe": pipe,
            "cwnd": self.draw.choice([pipe, pipe + 1, pipe + SMSS, self.draw.randrange(1 << 30)]),
            "rttMinimum": self.draw.choice([0, self.draw.randrange(1 << 21), NO_RTT]),
            "now_ns": self.now,
            "stamp_ns": self.now,
        } | more, pipe

    def _idles(self, fields: dict[str, int], pipe: int, begins: bool = False) -> None:
        """4.1.2.4: less than a segment waits to be sent, none to be sent again, and cwnd is not full."""
        if since(self.written, self.highest) < SMSS and not fields["lost"] and (begins or pipe < fields["cwnd"]):
            self.meter.limits(pipe)


@cocotb.test()
async def every_ack_has_the_sample_of_the_model(dut: Any) -> None:
    requests, responses = StreamSource(dut, "request"), StreamMonitor(dut, "response")
    await start(dut)
    draw = generator()
    flows = [Flow(number, draw, draw.getrandbits(46)) for number in (3, 12)]
    samples: list[DeliverySample] = []
    shifts = set()
    for turn in range(EVENTS):
        for flow in flows:
            if turn == 0 or draw.random() < 0.001:  # records of the connection before it stay, of other numbers
                first = draw.getrandbits(32) if turn else MODULUS - 100_000
                fields, sample = flow.establish(first), None
            else:
                fields, sample = flow.event()
            requests.put(fields)
            got = await responses.receive()
            await ClockCycles(dut.clk, SPACING)
            assert got["valid"] == int(sample is not None), (turn, fields)
            if sample is not None:
                differ = {name: (got[name], value) for name, value in beat(sample).items() if got[name] != value}
                assert not differ, (turn, differ, fields)
                samples.append(sample)
                shifts.add(flow.meter.shift)
    assert sum(flow.filled for flow in flows) > 10
    assert sum(flow.too_short for flow in flows) > 10
    assert len(samples) > EVENTS / 30 and {SHORTEST, LONGEST} <= shifts
    for name in ("app_limited", "cwnd_limited"):
        values = {getattr(sample, name) for sample in samples}
        assert 0 in values and len(values) > 1, name
    assert {sample.lost > sample.prior_lost for sample in samples} == {False, True}
    assert any(sample.interval == NO_RTT for sample in samples)


def beat(sample: DeliverySample) -> dict[str, int]:
    return {
        "delivered": sample.delivered,
        "priorDelivered": sample.prior_delivered,
        "interval": sample.interval,
        "lost": sample.lost,
        "priorLost": sample.prior_lost,
        "txInFlight": sample.tx_in_flight,
        "inFlight": sample.in_flight,
        "appLimited": sample.app_limited,
        "cwndLimited": sample.cwnd_limited,
        "selective": sample.selective,
    }
