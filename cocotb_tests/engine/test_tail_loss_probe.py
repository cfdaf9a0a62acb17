# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The probe of a lost tail, RFC 8985 7."""

from __future__ import annotations

from typing import Any

import cocotb

from cocotb_tests.bench.runner import run_module
from cocotb_tests.engine.endpoint import MILLISECOND, MODULE, SECOND
from cocotb_tests.engine.segment import MSS
from cocotb_tests.engine.sender import ROUND_TRIP, Sender, is_about

DELAYED_ACK = 200 * MILLISECOND


def test_tail_loss_probe() -> None:
    run_module(MODULE, __name__)


@cocotb.test()
async def two_round_trips_after_the_last_segment_it_is_sent_again(dut: Any) -> None:
    """7.2: PTO = 2 SRTT; 7.3: the segment with the highest sequence number. An ACK in between moves nothing."""
    sender = await Sender.create(dut)
    assert await sender.write(10) == list(range(10))
    assert is_about(sender.until_deadline(), 2 * ROUND_TRIP)
    await sender.endpoint.advance(ROUND_TRIP)
    assert await sender.hear(8) == []
    assert is_about(sender.until_deadline(), ROUND_TRIP)
    assert (await sender.expire())[1] == [9]


@cocotb.test()
async def the_probe_restarts_the_timeout(dut: Any) -> None:
    """7.3: the RTO timer is armed when the probe has left; 7.1: one probe for a flight."""
    sender = await Sender.create(dut)
    await sender.write(10)
    await sender.expire()
    passed, segments = await sender.expire()
    assert passed > SECOND - 10 * MILLISECOND
    assert segments == [0]
    assert "timeout" in sender.kinds()


@cocotb.test()
async def a_lone_segment_gets_time_for_a_delayed_ack(dut: Any) -> None:
    """7.2: PTO += WCDelAckT when one segment is in flight; also when the ACK before acknowledged more than one."""
    sender = await Sender.create(dut)
    await sender.write(1)
    assert is_about(sender.until_deadline(), 2 * ROUND_TRIP + DELAYED_ACK)
    await sender.hear(1)
    await sender.write(3)
    assert is_about(sender.until_deadline(), 2 * ROUND_TRIP)
    await sender.endpoint.advance(ROUND_TRIP)
    await sender.hear(3)
    assert is_about(sender.until_deadline(), 2 * ROUND_TRIP + DELAYED_ACK)


@cocotb.test()
async def new_data_is_the_better_probe(dut: Any) -> None:
    """7.3: if there is unsent data, it is sent, although cwnd is full."""
    sender = await Sender.create(dut)
    assert await sender.write(12) == list(range(10))
    before = int(dut.tailLossProbes.value)
    assert (await sender.expire())[1] == [10]
    assert int(dut.tailLossProbes.value) == before + 1
    # It was no retransmission, so its ACK tells of no loss.
    sender.kinds()
    await sender.hear(11)
    assert sender.kinds() == ["acknowledged"]


@cocotb.test()
async def a_loss_that_the_probe_repaired_reduces_the_window(dut: Any) -> None:
    """7.4.2: an ACK beyond the probe without a D-SACK: the probe was not the second copy."""
    sender = await Sender.create(dut)
    await sender.write(10)
    await sender.hear(9)
    await sender.expire()
    await sender.hear(10)
    await sender.write(1)
    sender.kinds()
    await sender.hear(11)
    assert sender.kinds() == ["loss"]
    cwnd, ssthresh = sender.windows()
    assert cwnd == ssthresh


@cocotb.test()
@cocotb.parametrize(by_sack=[False, True])
async def a_needless_probe_costs_nothing(dut: Any, by_sack: bool) -> None:
    """7.4.2: a D-SACK for it, or a duplicate ACK of its end, says that the tail had arrived."""
    sender = await Sender.create(dut)
    await sender.write(10)
    await sender.expire()
    await sender.hear(10)
    await sender.hear(10, duplicate=by_sack)
    await sender.write(1)
    sender.kinds()
    await sender.hear(11)
    assert sender.kinds() == ["acknowledged"]


@cocotb.test()
async def a_sack_for_the_probe_makes_the_rest_of_the_tail_lost(dut: Any) -> None:
    """RFC 8985 3.4: the last three segments are lost. What is missing was sent two round trips before the probe, so
    6.2 step 5 has no time left; PRR lets one segment go."""
    sender = await Sender.create(dut)
    await sender.write(10)
    await sender.hear(7)
    assert (await sender.expire())[1] == [9]
    await sender.endpoint.advance(ROUND_TRIP)
    sender.kinds()
    assert await sender.hear(7, (9, 10)) == [7]
    assert sender.kinds() == ["loss"]
    assert await sender.hear(8, (9, 10)) == [8]


@cocotb.test()
async def a_sack_too_soon_for_the_probe_is_of_the_segment_before(dut: Any) -> None:
    """6.2 step 2: a round trip below the smallest is none. So what is missing may be late, too."""
    sender = await Sender.create(dut)
    await sender.write(10)
    await sender.hear(8)
    assert (await sender.expire())[1] == [9]
    await sender.endpoint.advance(ROUND_TRIP // 2)
    assert await sender.hear(8, (9, 10)) == []
    passed, segments = await sender.expire()
    assert is_about(passed, ROUND_TRIP // 4)
    assert segments == [8]


@cocotb.test()
async def a_probe_of_new_data_makes_what_is_missing_lost_too(dut: Any) -> None:
    """6.2 step 5, where reordering has been seen, so that three segments would not count."""
    sender = await Sender.create(dut)
    await sender.write(3)
    await sender.hear(0, (1, 2))
    await sender.hear(3)
    sender.proceed(3)
    sent = await sender.write(60)
    sent += await sender.hear(4)
    assert (await sender.expire())[1] == [len(sent)]
    await sender.endpoint.advance(ROUND_TRIP)
    assert (await sender.hear(4, (len(sent), len(sent) + 1)))[0] == 4


@cocotb.test()
async def a_retransmission_that_is_lost_at_the_tail_goes_again(dut: Any) -> None:
    """The same time without an ACK in recovery, once; the next time is the timeout's."""
    sender = await Sender.create(dut)
    await sender.write(10)
    assert await sender.hear(4, (5, 10)) == [4]
    passed, segments = await sender.expire()
    assert is_about(passed, 2 * ROUND_TRIP) and segments == [4]
    assert (await sender.expire())[0] > SECOND // 2


@cocotb.test()
@cocotb.parametrize(case=["without SACK", "switched off", "shut window"])
async def there_is_none(dut: Any, case: str) -> None:
    parameters: dict[str, Any] = {"recovery_noTailLossProbe": 1} if case == "switched off" else {}
    sender = await Sender.create(dut, sack=case != "without SACK", **parameters)
    await sender.write(2)
    if case == "shut window":
        sender.endpoint.window = 0
        await sender.hear(1)
    assert sender.until_deadline() > SECOND // 2


@cocotb.test()
async def a_fin_is_part_of_the_tail(dut: Any) -> None:
    sender = await Sender.create(dut)
    await sender.write(2)
    sender.endpoint.application("close")
    await sender.endpoint.replies()
    await sender.endpoint.expire()
    (probe,) = await sender.endpoint.replies()
    assert ("F" in probe.flags, probe.seq, probe.length) == (True, sender.first + MSS, MSS)
