# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Timestamps and window options as agreed in the handshake, PAWS, and which TSval is echoed (RFC 7323)."""

from __future__ import annotations

from typing import Any

import cocotb

from cocotb_tests.bench.runner import run_module
from cocotb_tests.engine.endpoint import MODULE, SECOND, Endpoint
from cocotb_tests.engine.segment import MODULUS, MSS, Options

TICK = 2**20  # ns
DEADLINE_STEP = 2**16  # ns
OFFSET = 0xFFFF_0000  # ours; TSval wraps soon
THEIRS = 0xFFFF_FFF0


def test_timestamps() -> None:
    run_module(MODULE, __name__)


def test_timestamps_with_spaced_events() -> None:
    run_module("FlowEngineSpaced", __name__, label="spaced")


async def connected(dut: Any, *, timestamp: int = THEIRS, **fields: Any) -> Endpoint:
    return await Endpoint.connected(dut, timestamp_offset=OFFSET, options=Options(timestamp=timestamp), **fields)


@cocotb.test()
async def a_syn_with_timestamps_gets_timestamps(dut: Any) -> None:
    """RFC 7323 3.2; TSecr is the SYN's TSval."""
    endpoint = await Endpoint.create(dut, timestamp_offset=OFFSET, options=Options(timestamp=THEIRS, sack=True))
    reply = await endpoint.accept()
    assert reply.echo == THEIRS
    assert (endpoint.now // TICK + OFFSET - reply.value) % MODULUS < 2
    assert reply.fields["sackPermitted"] and reply.fields["windowScaleOffered"]


@cocotb.test()
async def a_syn_without_options_gets_a_reply_without(dut: Any) -> None:
    endpoint = await Endpoint.create(dut, options=Options(scale=None, sack=False))
    reply = await endpoint.accept()
    assert reply.timestamps is None
    assert not reply.fields["sackPermitted"] and not reply.fields["windowScaleOffered"]
    endpoint.send("A", 10, seq=endpoint.seq + 100)
    assert not (await endpoint.acknowledged()).sack


@cocotb.test()
async def our_syn_offers_everything(dut: Any) -> None:
    """RFC 7323 2.2 and 3.2, RFC 2018 2; TSecr is zero without ACK."""
    endpoint = await Endpoint.create(dut, options=Options(timestamp=THEIRS, sack=True))
    syn = await endpoint.connect()
    assert syn.echo == 0
    assert syn.fields["sackPermitted"] and syn.fields["windowScaleOffered"]
    endpoint.application("written", 1)
    (segment,) = await endpoint.replies()
    assert segment.echo == THEIRS


@cocotb.test()
async def what_the_peer_does_not_take_up_is_not_used(dut: Any) -> None:
    endpoint = await Endpoint.create(dut, options=Options(scale=None))
    await endpoint.connect()
    endpoint.send("A", 10, seq=endpoint.seq + 100)
    reply = await endpoint.acknowledged()
    assert reply.timestamps is None and not reply.sack


@cocotb.test()
@cocotb.parametrize(timestamp=[None, 1])
async def segments_leave_space_for_timestamps(dut: Any, timestamp: int | None) -> None:
    """RFC 6691 3: the MSS option does not count other options."""
    endpoint = await Endpoint.create(dut, options=Options(timestamp=timestamp))
    await endpoint.connect()
    endpoint.application("written", 2 * MSS)
    assert (await endpoint.replies())[0].length == MSS - (0 if timestamp is None else 12)


@cocotb.test()
async def an_older_timestamp_is_acknowledged_and_dropped(dut: Any) -> None:
    """RFC 7323 5.3 R1 (PAWS), over the wrap of TSval."""
    endpoint = await connected(dut)
    endpoint.send("A", 10, tsval=THEIRS + 40)
    await endpoint.silent()
    placed = len(endpoint.placements)
    endpoint.send("A", 10, seq=endpoint.seq, tsval=THEIRS + 39)
    reply = await endpoint.acknowledged()
    assert reply.ack == endpoint.seq and len(endpoint.placements) == placed
    endpoint.send("A", 10, tsval=THEIRS + 40)
    await endpoint.settle()
    assert len(endpoint.placements) == placed + 1


@cocotb.test()
async def a_reset_is_not_subject_to_paws(dut: Any) -> None:
    """RFC 7323 5.2."""
    endpoint = await connected(dut)
    endpoint.send("R", tsval=THEIRS - 1000)
    await endpoint.settle()
    assert endpoint.reason == "reset"


@cocotb.test()
async def a_reset_without_timestamps_counts(dut: Any) -> None:
    """RFC 7323 3.2."""
    endpoint = await connected(dut)
    endpoint.send("R", timestamped=False)
    await endpoint.settle()
    assert endpoint.reason == "reset"


@cocotb.test()
async def a_segment_without_agreed_timestamps_is_dropped_in_silence(dut: Any) -> None:
    """RFC 7323 3.2."""
    endpoint = await connected(dut)
    endpoint.send("A", 10, timestamped=False)
    await endpoint.silent()
    assert not endpoint.placements


@cocotb.test()
async def the_oldest_segment_that_an_ack_covers_is_echoed(dut: Any) -> None:
    """RFC 7323 4.3, case A: delayed ACKs."""
    endpoint = await connected(dut)
    endpoint.send("A", 10, tsval=THEIRS + 1)
    endpoint.send("A", 10, tsval=THEIRS + 2)
    assert (await endpoint.acknowledged()).echo == (THEIRS + 1) % MODULUS
    endpoint.send("A", 10, tsval=THEIRS + 3)
    endpoint.send("A", 10, tsval=THEIRS + 4)
    assert (await endpoint.acknowledged()).echo == (THEIRS + 3) % MODULUS


@cocotb.test()
async def an_ack_that_our_data_carried_counts(dut: Any) -> None:
    """RFC 7323 4.3: Last.ACK.sent is of any segment."""
    endpoint = await connected(dut)
    endpoint.send("A", 10, tsval=THEIRS + 1)
    await endpoint.silent()
    endpoint.application("written", 5)
    (segment,) = await endpoint.replies()
    assert segment.echo == (THEIRS + 1) % MODULUS
    endpoint.ack += 5
    endpoint.send("A", 10, tsval=THEIRS + 3)
    endpoint.send("A", 10, tsval=THEIRS + 4)
    assert (await endpoint.acknowledged()).echo == (THEIRS + 3) % MODULUS


@cocotb.test()
async def the_last_segment_in_order_is_echoed_over_a_hole(dut: Any) -> None:
    """RFC 7323 4.3, case B; the segment that fills the hole, case C."""
    endpoint = await connected(dut)
    origin = endpoint.seq
    endpoint.send("A", 10, seq=origin + 10, tsval=THEIRS + 2)
    assert (await endpoint.acknowledged()).echo == THEIRS
    endpoint.send("A", 10, seq=origin, tsval=THEIRS + 3)
    assert (await endpoint.acknowledged()).echo == (THEIRS + 3) % MODULUS


@cocotb.test()
async def an_echo_of_what_went_again_is_a_sample_to_the_tick(dut: Any) -> None:
    """RFC 7323 4.1; RFC 6298 2.2: RTO = R + 4 R / 2. A tick that has begun counts."""
    for ticks in range(340, 358):
        endpoint = await connected(dut)
        endpoint.application("written", 1)
        await endpoint.replies()
        await endpoint.expire()
        (again,) = await endpoint.replies()
        endpoint.now += ticks * TICK
        endpoint.tsecr, endpoint.ack = again.value, endpoint.ack + 1
        endpoint.send("A")
        await endpoint.silent()
        endpoint.application("written", 1)
        await endpoint.replies()
        assert endpoint.deadline is not None
        assert 0 <= endpoint.deadline - endpoint.now - 3 * (ticks + 1) * TICK < DEADLINE_STEP, ticks


@cocotb.test()
async def our_clock_goes_on_when_time_wraps(dut: Any) -> None:
    """RFC 7323 5.4: it is monotone, a tick in 1.05 ms; the core's time has 48 bits of ns."""
    endpoint = await connected(dut, now=2**48 - 2 * SECOND)
    begun = endpoint.now
    origin = None
    for step in (0, SECOND, SECOND, SECOND, 2**46, 2**46, 2**46, 2**46, 2**46):
        await endpoint.advance(step)
        endpoint.send("A", 1, seq=endpoint.seq - 1)  # old: answered at once
        value = (await endpoint.acknowledged()).value
        ticks = endpoint.now // TICK - begun // TICK
        origin = (value - ticks) % MODULUS if origin is None else origin
        assert (origin + ticks - value) % MODULUS < 2


@cocotb.test()
@cocotb.parametrize(phase=[0, 2**47, 2**48 - SECOND])
async def an_idle_peer_whose_clock_ticks_in_milliseconds_is_heard(dut: Any, phase: int) -> None:
    """RFC 7323 5.5: half a turn of its clock, 24.86 days, makes its timestamps look old, as does every odd number of
    half turns. TS.Recent is invalid by then, at any phase of our clock."""
    for hours in (597, 600, 625, 1790, 1830, 1878, 2380):
        endpoint = await connected(dut, timestamp=1000, now=phase)
        await idle(endpoint, hours)
        endpoint.send("A", 10, tsval=(1000 + hours * 3_600_000) % MODULUS)
        await endpoint.settle()
        assert len(endpoint.placements) == 1, f"after {hours} hours"


@cocotb.test()
@cocotb.parametrize(phase=[0, 2**47, 2**48 - SECOND])
async def for_19_days_the_peers_clock_counts(dut: Any, phase: int) -> None:
    """RFC 7323 5.3: an older timestamp is dropped."""
    endpoint = await connected(dut, timestamp=1000, now=phase)
    await idle(endpoint, 19 * 24)
    endpoint.send("A", 10, seq=endpoint.seq, tsval=999)
    await endpoint.acknowledged()
    assert not endpoint.placements


async def idle(endpoint: Endpoint, hours: int) -> None:
    remaining = hours * 3600 * SECOND
    while remaining:
        step = min(remaining, 2**46)
        await endpoint.advance(step)
        remaining -= step


@cocotb.test()
async def the_24_days_count_from_the_last_update(dut: Any) -> None:
    """RFC 7323 5.5: not from the handshake."""
    endpoint = await connected(dut, timestamp=1000)
    await idle(endpoint, 16 * 24)
    endpoint.send("A", 10, tsval=1001)
    await endpoint.settle()
    await idle(endpoint, 16 * 24)
    endpoint.send("A", 10, seq=endpoint.seq, tsval=1000)
    await endpoint.replies()
    assert len(endpoint.placements) == 1, "32 days behind the handshake and 16 behind the update it still counts"
