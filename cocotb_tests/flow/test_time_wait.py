# SPDX-License-Identifier: BSD-2-Clause-Patent
"""TIME-WAIT without a flow: the rules of RFC 9293 3.10.7.4 and RFC 6191, and the table against its model."""

from __future__ import annotations

from typing import Any

import cocotb

from cocotb_tests.bench import Beat
from cocotb_tests.bench.runner import run_module
from cocotb_tests.flow.directory import LISTENING, Bench, listen_request, listening, open_request, segment
from cocotb_tests.flow.model import ADDRESS_IN_USE, FLOWS, TIME_WAITS
from sim.golden.flow.keyed_numbers import Tuple
from sim.golden.flow.time_wait import DURATION, INTERVAL, SEQUENCE_STEP

SECOND = 10**9  # ns
KEY: Tuple = (0x0A000001, 5000, LISTENING[0])
NEXT, RECEIVED, RECENT = 0xFFFFF000, 0x7FFFFFF0, 0xFFFFFFFE
OPTIONS = {"options_timestampValid": 0, "options_timestampValue": 0}


def test_time_wait() -> None:
    run_module("FlowDirectoryFewTimeWaits", __name__, random_power_up=True)


async def waiting(dut: Any, *keys: Tuple, recent: int | None = None, now: int = 100 * SECOND) -> Bench:
    """A directory with these connections in TIME-WAIT."""
    bench = await listening(dut)
    await bench.moves(now)
    await bench.connect(*keys)
    await bench.retire(*(bench.model.table[key].number for key in keys), numbers=(NEXT, RECEIVED, recent))
    await bench.check()
    return bench


def arrives(bench: Bench, flags: str, ahead: int = 0, stamp: int | None = None, length: int = 0, **more: int) -> None:
    """A segment that begins so far ahead of RCV.NXT."""
    fields = dict(OPTIONS) if stamp is None else {"options_timestampValid": 1, "options_timestampValue": stamp % 2**32}
    fields |= {"sequence_value": (RECEIVED + ahead) % 2**32, "length": length}
    bench.segment(segment(bench.random, KEY, flags, **fields, **more))


async def replies(bench: Bench, count: int) -> list[Beat]:
    replies = list(bench.model.stateless_replies)
    assert len(replies) == count
    await bench.check()
    return replies


async def silence(bench: Bench) -> None:
    """Nobody listens on the port any more."""
    bench.listen(listen_request(bench.random, KEY[2], remove=True))
    await bench.check()


@cocotb.test()
async def a_connection_in_time_wait_needs_no_flow(dut: Any) -> None:
    """The host hears nothing more of it; its segments make no event."""
    bench = await waiting(dut, *((0x0A000001, 5000 + i, LISTENING[0]) for i in range(TIME_WAITS)))
    assert dut.freeFlows.value == FLOWS
    bench.made.clear()
    arrives(bench, "fin ack", -1)
    await replies(bench, 1)
    assert not bench.made


@cocotb.test()
async def a_fin_again_is_acknowledged_and_restarts_the_2_msl_timeout(dut: Any) -> None:
    """RFC 9293 3.10.7.4, eighth: "TIME-WAIT: Remain in the TIME-WAIT state. Restart the 2 MSL time-wait timeout.\""""
    bench = await waiting(dut, KEY)
    for _ in range(3):
        await bench.moves(bench.model.now + 50 * SECOND)
        arrives(bench, "fin ack", -101, length=100, payload_held=1, payload_slot=3)
        (reply,) = await replies(bench, 1)
        assert (reply["sequence_value"], reply["acknowledgment_value"]) == (NEXT, RECEIVED)
        assert (reply["ack"], reply["syn"], reply["rst"]) == (1, 0, 0)
    await bench.moves(bench.model.now + DURATION - SECOND)
    arrives(bench, "ack", 9)
    (reply,) = await replies(bench, 1)
    assert not reply["rst"]
    await bench.moves(bench.model.now + 2 * SECOND)
    arrives(bench, "ack", 9)
    (reply,) = await replies(bench, 1)
    assert reply["rst"]


@cocotb.test()
@cocotb.parametrize(
    (
        ("flags", "ahead", "length", "count"),
        [
            ("ack", 0, 0, 0),  # no reply to what may come in the end
            ("ack", 1, 0, 1),
            ("ack", -1, 0, 1),  # a keep-alive probe
            ("ack", 0, 100, 1),
            ("ack psh", -100, 100, 1),
            ("", 5, 0, 1),
            ("syn ack", -1, 0, 1),
            ("fin ack", 0, 0, 1),
            ("rst", 0, 0, 0),
            ("rst ack", -50, 10, 0),
            ("rst syn", 50, 0, 0),
        ],
    )
)
async def an_unacceptable_segment_gets_an_ack_unless_it_is_a_rst(
    dut: Any, flags: str, ahead: int, length: int, count: int
) -> None:
    """RFC 9293 3.10.7.4, first: "If an incoming segment is not acceptable, an acknowledgment should be sent in reply
    (unless the RST bit is set)"; RFC 1337 3: a RST does not end TIME-WAIT. None of these restarts 2 MSL."""
    bench = await waiting(dut, KEY)
    await bench.moves(bench.model.now + 50 * SECOND)
    arrives(bench, flags, ahead, length=length)
    await replies(bench, count)
    await bench.moves(bench.model.now + 11 * SECOND)
    assert not bench.model.waits.ring
    arrives(bench, "fin ack", -1)
    assert (await replies(bench, 1))[0]["rst"]


@cocotb.test()
@cocotb.parametrize(
    (
        ("recent", "stamp", "ahead", "succeeds"),
        [
            (None, None, 1, True),
            (None, None, 2**31 - 1, True),
            (None, None, 0, False),
            (None, None, -5000, False),
            (None, 0, -5000, True),
            (RECENT, RECENT + 1, -5000, True),
            (RECENT, RECENT + 7, -5000, True),  # across the wrap
            (RECENT, RECENT, 1, True),
            (RECENT, RECENT, 0, False),
            (RECENT, RECENT - 1, 5000, False),
            (RECENT, None, 1, True),
            (RECENT, None, -5000, False),
        ],
    )
)
async def a_later_syn_makes_a_new_connection(
    dut: Any, recent: int | None, stamp: int | None, ahead: int, succeeds: bool
) -> None:
    """RFC 6191 2: by timestamps if both connections have them, or if the new one alone has; otherwise by sequence
    number. Others are challenged (RFC 5961 4)."""
    bench = await waiting(dut, KEY, recent=recent)
    bench.made.clear()
    arrives(bench, "syn", ahead, stamp, payload_held=1, payload_slot=5)
    await replies(bench, int(not succeeds))
    assert [event["fresh"] for event in bench.made] == [1] * succeeds
    assert not succeeds or KEY not in bench.model.waits.held


@cocotb.test()
async def its_initial_sequence_number_is_larger_than_the_largest_that_the_old_one_used(dut: Any) -> None:
    """RFC 9293 3.6.1: by the clock where that is beyond SND.NXT, behind SND.NXT where it is not."""
    bench = await waiting(dut, KEY)
    by_clock = bench.model.numbers.initial_sequence(KEY, bench.model.now)
    for last, first in ((by_clock, by_clock), (by_clock - 2**31 + 1, by_clock), (by_clock + 1, None)):
        arrives(bench, "syn", 1)
        await bench.check()
        flow = bench.model.table[KEY].number
        bench.established(flow)
        await bench.retire(flow, numbers=(last % 2**32, RECEIVED, None))
        bench.made.clear()
        arrives(bench, "syn", 1)
        await bench.check()
        expected = first if first is not None else last + SEQUENCE_STEP
        assert bench.made[0]["initialSequence_value"] == expected % 2**32
        flow = bench.model.table[KEY].number
        bench.established(flow)
        await bench.retire(flow, numbers=(NEXT, RECEIVED, None))


@cocotb.test()
async def without_a_listener_or_a_flow_time_wait_stays(dut: Any) -> None:
    """Nobody listens: the SYN is challenged. No flow is free: it is dropped and counted, and its next one may succeed."""
    bench = await waiting(dut, KEY)
    others = [(0x0A000009, 6000 + i, LISTENING[0]) for i in range(FLOWS)]
    await bench.connect(*others)
    arrives(bench, "syn", 1, payload_held=1, payload_slot=1)
    await replies(bench, 0)
    assert dut.drops_synNoFlow.value == 1
    bench.release(bench.model.table[others[0]].number)
    await bench.check()
    await silence(bench)
    arrives(bench, "syn", 1)
    await replies(bench, 1)
    assert KEY in bench.model.waits.held


@cocotb.test()
async def a_segment_without_the_timestamps_agreed_upon_is_dropped(dut: Any) -> None:
    """RFC 7323 3.2; and 5.3: one with an older timestamp is answered. The ACK has our clock, and TS.Recent."""
    bench = await waiting(dut, KEY, recent=RECENT)
    arrives(bench, "fin ack", -1)
    await replies(bench, 0)
    arrives(bench, "ack", 0, RECENT - 1)
    (reply,) = await replies(bench, 1)
    assert reply["timestamped"] and reply["timestampEcho"] == RECENT
    arrives(bench, "ack", 0, RECENT + 1)
    await replies(bench, 0)


@cocotb.test()
async def challenge_acks_are_limited_and_acks_of_data_are_not(dut: Any) -> None:
    """RFC 5961 7: one in each interval, for each connection; what has come before is always acknowledged."""
    bench = await waiting(dut, KEY)
    for count in (1, 0, 0):
        arrives(bench, "ack", 1000)
        await replies(bench, count)
    for _ in range(3):
        arrives(bench, "fin ack", -1)
        arrives(bench, "ack", -10, length=10)
        await replies(bench, 2)
    await bench.moves(bench.model.now + INTERVAL)
    for count in (1, 0):
        arrives(bench, "syn", -1000)
        await replies(bench, count)
    assert dut.suppressedChallenges.value == 3


@cocotb.test()
async def an_open_takes_no_4_tuple_in_time_wait(dut: Any) -> None:
    """An explicit port is in use until 2 MSL are over; for an ephemeral one the next is taken."""
    remote = KEY[:2]
    bench = await waiting(dut, KEY)
    await silence(bench)
    bench.open(open_request(bench.random, remote, KEY[2]))
    assert [refusal["reason"] for refusal in bench.model.refused] == [ADDRESS_IN_USE]
    await bench.check()
    offset = bench.model.numbers.port_offset((*remote, 0))
    first, second = ((*remote, 0x8000 | (offset + tried) % 0x8000) for tried in (0, 1))
    bench.open(open_request(bench.random, remote, first[2]))
    await bench.check()
    await bench.retire(bench.model.table[first].number)
    bench.open(open_request(bench.random, remote))
    await bench.check()
    assert list(bench.model.table) == [second]
    await bench.moves(bench.model.now + DURATION + SECOND)
    bench.open(open_request(bench.random, remote, KEY[2]))
    assert not bench.model.refused
    await bench.check()


@cocotb.test()
async def a_full_table_gives_up_the_oldest(dut: Any) -> None:
    keys = [(0x0A000002, 7000 + i, LISTENING[0]) for i in range(2 * TIME_WAITS)]
    bench = await waiting(dut, *keys)
    assert dut.drops_timeWaitsGivenUp.value == TIME_WAITS
    for key in keys:
        bench.segment(segment(bench.random, key, "ack", sequence_value=RECEIVED, length=1, **OPTIONS))
        (reply,) = await replies(bench, 1)
        assert reply["rst"] == (key in keys[:TIME_WAITS])


@cocotb.test()
async def the_table_says_when_its_time_is_over(dut: Any) -> None:
    """Time may jump there, and no connection is left then; not even behind one whose 2 MSL have restarted."""
    bench = await waiting(dut, KEY, *((0x0A000002, 7000 + i, LISTENING[0]) for i in range(3)))
    assert dut.next_armed.value == 1
    assert 0 <= int(dut.next_at_ns.value) - (bench.model.now + DURATION) < 2**16
    await bench.moves(bench.model.now + DURATION // 2)
    arrives(bench, "fin ack", -1)
    await replies(bench, 1)
    await bench.moves(bench.model.now + DURATION // 2 + 2**16)
    await bench.check()
    bench.segment(segment(bench.random, (0x0A000002, 7000, LISTENING[0]), "ack"))
    assert (await replies(bench, 1))[0]["rst"]
    await bench.moves(int(dut.next_at_ns.value))
    await bench.check()
    assert dut.next_armed.value == 0 and not bench.model.waits.held


@cocotb.test()
async def random_ends_and_segments_are_answered_as_the_model_says(dut: Any) -> None:
    bench = await listening(dut)
    draw = bench.random
    remotes = [(0x0A000001 + host, 1024 + host, LISTENING[0]) for host in range(TIME_WAITS + 2)]
    flags = ("syn", "syn", "fin ack", "fin ack", "ack", "ack", "ack psh", "rst", "syn ack", "fin", "")
    for _ in range(120):
        # Never more than 60 s behind the deadline that the table tells.
        step = draw.choice((0, INTERVAL // 3, SECOND, 20 * SECOND))
        await bench.moves((bench.model.now + step) % 2**48)
        for _ in range(8):
            key = draw.choice(remotes)
            held = bench.model.waits.held.get(key)
            near = draw.choice((-101, -1, 0, 0, 1, 5000, draw.getrandbits(32)))
            beat = segment(draw, key, draw.choice(flags), length=draw.choice((0, 0, 1, 100)))
            if held is not None:
                recent = held.recent if held.recent is not None else draw.getrandbits(32)
                beat |= {
                    "sequence_value": (held.received + near) % 2**32,
                    "options_timestampValue": (recent + draw.choice((-1, 0, 1, 2**31))) % 2**32,
                }
            bench.segment(beat)
        await bench.check()
        bench.established(*sorted(bench.model.handshakes))
        await bench.check()
        flows = [flow.number for flow in bench.model.table.values()]
        leaving = draw.sample(flows, draw.randint(0, len(flows)))
        await bench.retire(*leaving[:3])
        bench.release(*leaving[3:5])
        await bench.check()
    assert bench.model.waits.given_up and bench.model.suppressed_challenges
