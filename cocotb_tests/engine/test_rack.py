# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Losses by time and reordering, RFC 8985 6."""

from __future__ import annotations

from typing import Any

import cocotb

from cocotb_tests.bench.layout import policy
from cocotb_tests.bench.runner import run_module
from cocotb_tests.engine.endpoint import MODULE, SECOND
from cocotb_tests.engine.sender import ROUND_TRIP, Sender, is_about

WINDOW = ROUND_TRIP // 4  # the reordering window: a quarter of the smallest round trip


def test_rack() -> None:
    run_module(MODULE, __name__)


async def reordered(dut: Any, **fields: Any) -> Sender:
    """A connection that has seen reordering, with everything acknowledged."""
    sender = await Sender.create(dut, **fields)
    await sender.write(3)
    await sender.hear(0, (1, 2))
    await sender.hear(3)
    sender.proceed(3)
    sender.kinds()
    return sender


@cocotb.test()
async def what_is_missing_behind_one_segment_is_lost_after_the_window(dut: Any) -> None:
    """6.2 step 5: fewer than three segments behind a hole, and the reordering window has passed."""
    sender = await Sender.create(dut)
    await sender.write(3)
    sender.kinds()
    await sender.endpoint.advance(ROUND_TRIP)
    assert await sender.hear(0, (1, 2)) == []
    passed, segments = await sender.expire()
    assert is_about(passed, WINDOW) and segments == [0]
    assert sender.kinds() == ["loss"]


@cocotb.test()
async def three_segments_need_no_wait_while_no_reordering_is_seen(dut: Any) -> None:
    """6.2 step 4: the window is zero."""
    sender = await Sender.create(dut)
    await sender.write(6)
    assert await sender.hear(0, (1, 4)) == [0]


@cocotb.test()
async def three_segments_do_not_count_once_reordering_is_seen(dut: Any) -> None:
    """6.2 step 4: whatever number is behind the hole, the window has to pass."""
    sender = await reordered(dut)
    await sender.write(8)
    assert await sender.hear(0, (1, 6)) == []
    assert sender.kinds() == []
    assert await sender.hear(6) == [], "what came late was no loss"
    assert sender.kinds() == ["acknowledged"]
    await sender.endpoint.advance(WINDOW)
    assert await sender.hear(6, (7, 8)) == []
    passed, segments = await sender.expire()
    assert is_about(passed, WINDOW) and segments == [6]


@cocotb.test()
async def the_window_counts_from_the_first_report(dut: Any) -> None:
    """Further reports of what was sent later do not put the verdict off."""
    sender = await reordered(dut)
    await sender.write(8)
    await sender.hear(0, (1, 2))
    await sender.endpoint.advance(WINDOW // 2)
    await sender.hear(0, (1, 4))
    passed, segments = await sender.expire()
    assert is_about(passed, WINDOW // 2) and segments == [0]


@cocotb.test()
async def in_recovery_what_is_missing_is_lost_at_once(dut: Any) -> None:
    """6.2 step 4: the window is zero in recovery: a hole behind which one segment came goes again."""
    sender = await Sender.create(dut)
    await sender.write(10)
    assert await sender.hear(0, (1, 5)) == [0]
    assert await sender.hear(0, (6, 7), (1, 5)) == [5]


@cocotb.test()
async def a_lost_retransmission_is_seen_by_what_was_sent_after_it(dut: Any) -> None:
    """6.2: a retransmission is a segment sent, and lost when a later one is delivered."""
    sender = await Sender.create(dut, ssthresh=65536, recovery_noPrr=1)
    await sender.write(30)  # ten leave
    assert await sender.hear(0, (1, 4)) == [0]
    sent: list[int] = []
    for end in range(5, 11):
        sent += await sender.hear(0, (1, end))
    assert sent and sent[0] == 10, "new data follows the retransmission"
    assert 0 not in sent
    assert (await sender.hear(0, (1, 11)))[0] == 0


@cocotb.test()
async def a_retransmission_of_an_earlier_recovery_is_lost_by_what_was_sent_after_it(dut: Any) -> None:
    """6.2: the first recovery ends at a hole beyond its RecoveryPoint that was sent again in vain."""
    sender = await Sender.create(dut, ssthresh=65536, recovery_noPrr=1)
    await sender.write(60)  # ten leave
    assert await sender.hear(0, (1, 4)) == [0]
    for end in range(5, 11):
        await sender.hear(0, (1, end))
    assert 10 in await sender.hear(0, (11, 12), (1, 10))
    sent: list[int] = []
    for end in range(12, 15):
        sent += await sender.hear(10, (11, end))
    assert sender.kinds()[-1] == "loss", "a second recovery begins"
    assert sent == [15, 16], "it is on its way"
    assert await sender.hear(10, (11, 15)) == []
    assert await sender.hear(10, (11, 16)) == [10]


@cocotb.test()
async def a_partial_ack_with_all_ranges_known_sends_no_segment_again_that_is_in_flight(dut: Any) -> None:
    """RFC 6675 4, NextSeg: what has nothing behind it at the peer is not lost."""
    sender = await Sender.create(dut, ssthresh=65536, recovery_noPrr=1)
    await sender.write(30)  # ten leave
    assert 0 in await sender.hear(0, (1, 4))
    assert 4 not in await sender.hear(4)
    assert 4 in await sender.hear(4, (5, 6)), "a hole goes again at once"


@cocotb.test()
async def what_left_before_a_retransmission_that_arrived_is_lost(dut: Any) -> None:
    """6.2 step 5, in recovery: the window is zero. 0 went again behind 9, so 8 and 9 have no other ACK to come."""
    sender = await Sender.create(dut, ssthresh=65536)
    assert await sender.write(10) == list(range(10))
    await sender.endpoint.advance(ROUND_TRIP)
    assert await sender.hear(0, (1, 8)) == [0]
    await sender.endpoint.advance(ROUND_TRIP)
    assert await sender.hear(8) == [8, 9]


@cocotb.test()
async def a_late_segment_s_ack_is_not_that_of_its_retransmission(dut: Any) -> None:
    """6.2 step 2: it comes too soon; what follows is in flight."""
    sender = await Sender.create(dut, ssthresh=65536)
    await sender.write(10)
    await sender.endpoint.advance(ROUND_TRIP)
    assert await sender.hear(0, (1, 8)) == [0]
    await sender.endpoint.advance(ROUND_TRIP // 8)
    assert await sender.hear(8) == []


@cocotb.test()
async def what_left_before_a_retransmission_is_lost_after_the_window_when_recovery_has_ended(dut: Any) -> None:
    """6.2 step 5: 0 went again a second time behind 10 and 11, of which no ACK came."""
    sender = await Sender.create(dut, ssthresh=65536)
    sent = await sender.write(12)
    await sender.endpoint.advance(ROUND_TRIP)
    sent += await sender.hear(0, (1, 4))
    for end in range(5, 11):
        sent += await sender.hear(0, (1, end))
    assert sent[-2:] == [10, 11], sent
    assert (await sender.expire())[1] == [0]
    await sender.endpoint.advance(ROUND_TRIP)
    sender.kinds()
    assert await sender.hear(10) == []
    assert sender.kinds() == ["recovered"]
    passed, segments = await sender.expire()
    assert is_about(passed, WINDOW) and segments == [10]
    assert sender.kinds() == ["loss"]


@cocotb.test()
async def a_retransmission_between_the_halves_of_an_inverted_pair_leaves_high_rxt_before_them(dut: Any) -> None:
    """The second half, whose number is the lower, is sent for the first time."""
    startup = policy("StartupPolicy", "ssipp")
    sender = await Sender.create(dut, ssthresh=65536, startup=startup)
    assert await sender.write(60) == [1, 0, 3, 2, 5, 4, 7, 6, 9, 8]
    sent: list[int] = []
    for end in range(2, 14, 2):
        blocks = [(right - 1, right) for right in range(end, 0, -2)]
        sent += await sender.hear(0, *blocks[:4])
    assert sender.kinds().count("loss") == 1
    assert {0, 2, 4} <= set(sent), sent


@cocotb.test()
async def every_second_of_many_segments_goes_again_at_once(dut: Any) -> None:
    """A full scoreboard does not wait for PRR, which lets fewer holes go than there come."""
    sender = await Sender.create(dut, ssthresh=65536, initialWindow=40)
    await sender.write(60)
    sent: list[int] = []
    for left in range(1, 39, 2):
        older = [(left - 2 * i, left - 2 * i + 1) for i in range(1, 4) if left > 2 * i]
        sent += await sender.hear(0, (left, left + 1), *older)
    again = [number for number in sent if number < 40]
    assert again == list(range(0, 34, 2)), "one with each of the 17 ACKs from the third on, which finds the loss"


@cocotb.test()
async def a_partial_ack_after_a_fifth_range_sends_the_segment_again(dut: Any) -> None:
    """One range is dropped, so that the peer may hold more than is known. Of each ACK the first block counts, and one of
    the others in turn."""
    sender = await Sender.create(dut, ssthresh=65536, initialWindow=12)
    await sender.write(60)
    sent = await sender.hear(0, (3, 4), (1, 2))
    sent += await sender.hear(0, (7, 8), (3, 4), (5, 6))
    sent += await sender.hear(0, (11, 12), (7, 8), (5, 6), (9, 10))
    for acked in (2, 4, 6, 8):
        sent += await sender.hear(acked)
    assert 10 not in sent
    assert 10 in await sender.hear(10)


@cocotb.test()
async def two_lost_retransmissions_in_a_row_make_all_of_them_lost(dut: Any) -> None:
    """Holes 0, 2, 4 and 6 went again in vain; the third need not be found by itself."""
    sender = await Sender.create(dut, ssthresh=65536, recovery_noPrr=1)
    await sender.write(60)  # ten leave
    sent: list[int] = []
    for blocks in (((1, 2),), ((3, 4), (1, 2)), ((5, 6), (3, 4), (1, 2)), ((7, 12), (5, 6), (3, 4), (1, 2))):
        sent += await sender.hear(0, *blocks)
    assert [number for number in sent if number < 10] == [0, 2, 4, 6]
    assert 0 in await sender.hear(0, (7, 13), (5, 6), (3, 4))
    again = await sender.hear(2, (7, 13), (5, 6), (3, 4))
    for end in range(14, 17):
        again += await sender.hear(2, (7, end), (5, 6), (3, 4))
    again += await sender.hear(4, (7, 16), (5, 6))
    assert {2, 4, 6} <= set(again)


@cocotb.test()
async def switched_off_the_number_of_segments_decides(dut: Any) -> None:
    """RFC 6675 4."""
    sender = await reordered(dut, recovery_noRack=1, recovery_noTailLossProbe=1)
    await sender.write(8)
    await sender.hear(0, (1, 2))
    assert sender.until_deadline() > SECOND // 2
    assert await sender.hear(0, (1, 4)) == [0]
