# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Which ACKs give a round-trip sample, and the timeout made of them: the recovery stage alone against its model."""

from __future__ import annotations

from typing import Any

import cocotb

from cocotb_tests.bench import generator
from cocotb_tests.bench.runner import run_module
from cocotb_tests.engine.test_recovery_stage import MODULUS, MSS, Stage
from sim.golden.engine.protocol.sequence import since
from sim.golden.engine.round_trip import RoundTrips, Sample

BUFFER = 64 * 1024  # bytes
DEADLINE_STEP = 2**16  # ns
BREAKS = ("loss", "partial")
LONGEST = 3 * 10**8  # ns, between two events


def test_round_trip_samples() -> None:
    run_module("RecoveryBench", __name__)


class Conversation:
    """A connection and its model, event by event."""

    def __init__(self, stage: Stage, model: RoundTrips) -> None:
        self.stage = stage
        self.model = model
        self.una = self.highest = stage.unacknowledged
        self.waiting: list[int] = []  # ends of segments whose departure has no stamp yet

    @classmethod
    async def opened(cls, dut: Any, first: int, *, single: bool = False) -> Conversation:
        stage = await Stage.opened(dut, first, noRack=int(single))
        return cls(stage, RoundTrips(single))

    @property
    def outstanding(self) -> int:
        return since(self.highest, self.una)

    async def _request(self, kind: str, **fields: int) -> str:
        return await self.stage.request(kind, **({"highestSent_value": self.highest} | fields))

    async def send(self, length: int, *, seq: int | None = None, **fields: int) -> None:
        """A segment behind SND.MAX, or at `seq`."""
        start = self.highest if seq is None else seq
        end = (start + length) % MODULUS
        if since(end, self.highest) > 0:
            self.highest = end
        await self._request("sent", sequence_value=start, length=length, **fields)
        full = length >= MSS
        marks = {name: bool(fields.get(name, 0)) for name in ("resent", "ahead")}
        self.model.sent(end, full=full, una=self.una, highest=self.highest, **marks)
        self.waiting.append(end)

    async def depart(self, *, stamped: bool = True) -> None:
        """The segment that has waited longest is seen at the wire."""
        end = self.waiting.pop(0)
        if stamped:
            await self._request("departed", sequence_value=end)
            self.model.departed(end, self.stage.now)

    async def acknowledge(self, acked: int, *, behind_pair: int = 0) -> Sample | None:
        self.una = (self.una + acked) % MODULUS
        timeout = self.model.estimator.rto
        kind = await self._request("segment", acked=acked)
        sample = self.model.advanced(self.una, self.highest, self.stage.now, behind_pair=behind_pair)
        response = self.stage.response
        seen = Sample(response["rtt"], bool(response["rttFirst"]), bool(response["rttFull"]))
        assert (seen if response["rttValid"] else None) == sample
        assert response["rttMinimum"] == self.model.minimum
        if kind in BREAKS:
            self.model.breaks(self.highest)
        else:
            end = self.stage.now + timeout
            assert response["deadline_ns"] == -(-end // DEADLINE_STEP) * DEADLINE_STEP
        return sample

    async def repeat(self) -> None:
        """A duplicate ACK."""
        if await self._request("segment", duplicate=1) in BREAKS:
            self.model.breaks(self.highest)


@cocotb.test()
@cocotb.parametrize(single=[False, True])
@cocotb.parametrize(first=[1, MODULUS - BUFFER])
async def samples_are_the_models(dut: Any, single: bool, first: int) -> None:
    draw = generator()
    talk = await Conversation.opened(dut, first, single=single)
    ends: list[int] = []  # segments in flight
    samples = acks = 0
    for _ in range(2500):
        talk.stage.now += draw.choice([0, draw.randrange(LONGEST)])
        action = draw.random()
        if action < 0.4 and talk.outstanding < BUFFER - MSS:
            await talk.send(draw.choice([MSS, MSS, MSS, draw.randrange(1, MSS)]))
            ends.append(talk.highest)
        elif action < 0.8 and talk.waiting:
            await talk.depart(stamped=draw.random() < 0.95)
        elif action < 0.99 and ends:
            del ends[: draw.choice([0, 0, 1])]
            end = ends.pop(0) if ends else talk.highest
            into = draw.choice([0] * 9 + [1])
            if since(end, talk.una) > into:
                acks += 1
                samples += await talk.acknowledge(since(end, talk.una) - into) is not None
        elif action < 0.993 and ends:
            await talk.send(since(ends[0], talk.una), seq=talk.una, resent=1)
        elif talk.outstanding:
            await talk.repeat()
    assert samples > acks * (0.02 if single else 0.2)


@cocotb.test()
async def nearly_each_ack_of_a_bulk_transfer_has_a_sample(dut: Any) -> None:
    """RFC 7323 4.2: in a window of 20 segments, those alone have none that end in another's 2 KiB."""
    talk = await Conversation.opened(dut, 2**30)
    samples = firsts = 0
    for _ in range(20):
        await talk.send(MSS)
        await talk.depart()
    for _ in range(200):
        talk.stage.now += 10**6
        sample = await talk.acknowledge(MSS)
        samples += sample is not None
        firsts += sample is not None and sample.first
        await talk.send(MSS)
        await talk.depart()
    assert samples >= 200 * MSS // 2048 - 2
    assert firsts in (10, 11), "one in a round trip counts for the smoothed one"


@cocotb.test()
async def the_half_of_an_inverted_pair_that_leaves_second_is_timed(dut: Any) -> None:
    """The receiver acknowledges both when that one comes."""
    talk = await Conversation.opened(dut, 1)
    for _ in range(3):
        start = talk.highest
        await talk.send(MSS, seq=start + MSS, ahead=1)
        await talk.send(MSS, seq=start)
        talk.stage.now += 1000
        await talk.depart()
        talk.stage.now += 500
        await talk.depart()
        talk.stage.now += 10**6
        sample = await talk.acknowledge(2 * MSS, behind_pair=MSS)
        assert sample is not None and sample.rtt == 10**6


@cocotb.test()
async def what_waited_behind_a_loss_is_not_timed(dut: Any) -> None:
    """Karn: the ACK that a retransmission causes stands at the end of a segment that was sent once."""
    talk = await Conversation.opened(dut, 1)
    for _ in range(6):
        await talk.send(MSS)
        await talk.depart()
    for _ in range(3):
        await talk.repeat()
    await talk.send(MSS, seq=talk.una, resent=1)
    await talk.depart()
    talk.stage.now += 10**9
    assert await talk.acknowledge(6 * MSS) is None
    await talk.send(MSS)
    await talk.depart()
    talk.stage.now += 10**6
    assert await talk.acknowledge(MSS) == Sample(10**6, first=True, full=True)
