# SPDX-License-Identifier: BSD-2-Clause-Patent
"""SYN backlog and SYN cookies (RFC 4987): what a flood can and cannot do."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

from cocotb_tests.bench import Beat, until
from cocotb_tests.bench.runner import run_module
from cocotb_tests.flow.directory import Bench, cookie_ack, listening, open_request, segment
from cocotb_tests.flow.model import FLOWS
from sim.golden.flow.keyed_numbers import PERIOD_NS, SEGMENT_SIZES

BACKLOG = FLOWS // 2
CLIENT = (0x0A000050, 4321, 80)
ADDRESSES = ("remoteMac", "remoteIp", "remotePort", "localPort", "vlan")
# The values of MSS that a cookie can keep.
KEPT_SIZES = {1: 64, 536: 536, 1000: 536, 1399: 1360, 1460: 1460, 1500: 1460, 9000: 8960, 65535: 8960}


def test_syn_cookies() -> None:
    run_module("FlowDirectoryFewTimeWaits", __name__)


async def flooded(dut: Any) -> Bench:
    """As many handshakes as may be, whose peers are silent."""
    bench = await listening(dut)
    bench.segment(*(segment(bench.random, (0x0B000000 + number, 5000, 80), "syn") for number in range(BACKLOG)))
    await bench.check()
    assert dut.freeFlows.value == FLOWS - BACKLOG
    return bench


async def reply_to(bench: Bench, syn: Beat) -> Beat:
    await bench.segments.send(syn)
    await bench.idle()
    [reply] = bench.stateless_replies.pending()
    assert (reply["syn"], reply["ack"]) == (1, 1)
    assert reply["acknowledgment_value"] == (syn["sequence_value"] + 1) % 2**32
    return reply


async def cookie(bench: Bench, **fields: int) -> Beat:
    return await reply_to(bench, segment(bench.random, CLIENT, "syn", **fields))


async def events_of(bench: Bench, ack: Beat) -> list[Beat]:
    await bench.segments.send(ack)
    await bench.idle()
    return bench.events.pending()


async def is_refused(bench: Bench, ack: Beat) -> None:
    """A RST, as without cookies (RFC 9293 3.10.7.2, second), and nothing else."""
    assert await events_of(bench, ack) == []
    [reply] = bench.stateless_replies.pending()
    assert (reply["syn"], reply["sequence_value"]) == (0, ack["acknowledgment_value"])


@cocotb.test()
async def the_backlog_is_half_the_flows_and_a_handshake_that_is_over_makes_space(dut: Any) -> None:
    bench = await flooded(dut)
    syns = [segment(bench.random, (0x0C000000 + number, 5000, 80), "syn") for number in range(3)]
    bench.segment(syns[0])
    assert bench.model.cookies_sent == 1
    await bench.check()
    bench.established(bench.model.table[0x0B000000, 5000, 80].number)
    await bench.check()
    bench.segment(syns[1], syns[2])
    assert bench.model.cookies_sent == 2 and len(bench.model.events) == 1
    await bench.check()
    # One that ends without being established counts no more either.
    bench.release(bench.model.table[0x0B000001, 5000, 80].number)
    await bench.check()
    bench.segment(syns[2])
    assert len(bench.model.events) == 1
    await bench.check()


@cocotb.test()
async def our_own_opens_are_not_held_up_by_a_flood(dut: Any) -> None:
    bench = await flooded(dut)
    bench.open(*(open_request(bench.random, (0x0A000060, 80), 5000 + number) for number in range(FLOWS - BACKLOG)))
    assert not bench.model.refused
    await bench.check()


@cocotb.test()
async def a_cookie_that_comes_back_makes_the_connection_of_its_syn(dut: Any) -> None:
    """Two events: the SYN with what is left of its options, then the ACK as it is, with its data."""
    bench = await flooded(dut)
    for offered, kept in KEPT_SIZES.items():
        reply = await cookie(bench, options_mssValid=1, options_mss=offered)
        ack = cookie_ack(bench.random, reply, "ack psh", payload_held=1, payload_slot=3, length=100)
        syn, data = await events_of(bench, ack)
        assert (syn["fresh"], syn["cookie"], syn["flags_syn"], syn["flags_ack"]) == (1, 1, 1, 0)
        assert syn["sequence_value"] == (ack["sequence_value"] - 1) % 2**32
        assert syn["initialSequence_value"] == reply["sequence_value"]
        assert (syn["length"], syn["payload_held"]) == (0, 0)
        assert (syn["options_mssValid"], syn["options_mss"]) == (1, kept)
        for option in ("windowScaleValid", "sackPermitted", "timestampValid", *(f"sack_{at}_valid" for at in range(4))):
            assert syn[f"options_{option}"] == 0, option
        assert (data["fresh"], data["cookie"]) == (0, 0)
        assert all(data[name] == value for name, value in ack.items() if name not in ADDRESSES)
        assert syn["reference_flow"] == data["reference_flow"]
        # From here on it is a connection like any other.
        [again] = await events_of(bench, cookie_ack(bench.random, reply))
        assert (again["fresh"], again["reference_flow"]) == (0, syn["reference_flow"])
        bench.handshakes_over += 1
        bench.released.put(syn["reference_flow"])
        await bench.idle()
    assert bench.stateless_replies.pending() == bench.discards.pending() == []


@cocotb.test()
async def a_syn_without_an_mss_option_gets_the_assumed_size(dut: Any) -> None:
    bench = await flooded(dut)
    reply = await cookie(bench, options_mssValid=0)
    syn, _ = await events_of(bench, cookie_ack(bench.random, reply))
    assert syn["options_mss"] == 536


@cocotb.test()
async def a_cookie_is_good_for_its_period_and_two_more(dut: Any) -> None:
    bench = await flooded(dut)
    for age, good in [(0, True), (1, True), (2, True), (3, False), (31, False), (32, False), (33, False)]:
        first = bench.random.randrange(2**12 - 40)  # wherever the count of periods stands
        await bench.moves(first * PERIOD_NS)
        reply = await cookie(bench)
        await bench.moves((first + age + 1) * PERIOD_NS - 1)
        # Others come all the time, so that cookies are looked for.
        await reply_to(bench, segment(bench.random, (0x0D000000, 7, 80), "syn"))
        if good:
            syn, _ = await events_of(bench, cookie_ack(bench.random, reply))
            bench.handshakes_over += 1
            bench.released.put(syn["reference_flow"])
            await bench.idle()
        else:
            await is_refused(bench, cookie_ack(bench.random, reply))


@cocotb.test()
async def no_other_segment_proves_a_cookie(dut: Any) -> None:
    """Every bit of what it vouches for counts: the 4-tuple, the client's number, the cookie itself."""
    bench = await flooded(dut)
    reply = await cookie(bench)
    good = cookie_ack(bench.random, reply)
    fields = {"remoteIp": 32, "remotePort": 16, "sequence_value": 32, "acknowledgment_value": 32}
    wrong = [good | {name: good[name] ^ 1 << bit} for name, width in fields.items() for bit in range(width)]
    wrong.append(good | {"localPort": 8080})
    for segment_ in wrong:
        await is_refused(bench, segment_)
    assert dut.drops_cookiesRefused.value == dut.drops_noConnection.value == len(wrong)
    assert len(await events_of(bench, good)) == 2


@cocotb.test()
async def blind_acks_make_no_connection(dut: Any) -> None:
    bench = await flooded(dut)
    await cookie(bench)
    number = 1500
    bench.segments.put(*(segment(bench.random, CLIENT, "ack") for _ in range(number)))
    await bench.idle(limit=40 * number)
    assert bench.events.pending() == [] and dut.drops_cookiesRefused.value == number


@cocotb.test()
async def only_an_ack_brings_a_cookie(dut: Any) -> None:
    bench = await flooded(dut)
    reply = await cookie(bench)
    for flags in ("", "fin", "rst", "rst ack", "syn ack"):
        assert await events_of(bench, cookie_ack(bench.random, reply, flags)) == [], flags
    bench.stateless_replies.pending()
    assert len(await events_of(bench, cookie_ack(bench.random, reply, "ack fin"))) == 2


@cocotb.test()
async def without_a_flood_no_cookie_is_believed(dut: Any) -> None:
    """Not before one was sent, and not when all that were are too old."""
    bench = await flooded(dut)
    await is_refused(bench, segment(bench.random, CLIENT, "ack"))
    assert dut.drops_cookiesRefused.value == 0, "there was no cookie to look for"
    reply = await cookie(bench)
    await is_refused(bench, segment(bench.random, CLIENT, "ack"))
    assert dut.drops_cookiesRefused.value == 1
    await bench.moves(3 * PERIOD_NS)
    await is_refused(bench, cookie_ack(bench.random, reply))
    assert dut.drops_cookiesRefused.value == 1


@cocotb.test()
async def a_cookie_for_which_there_is_no_flow_may_come_again(dut: Any) -> None:
    """It is dropped without a RST, and counted: the peer, which is connected, sends its data again."""
    bench = await flooded(dut)
    reply = await cookie(bench)
    bench.opens.put(*(open_request(bench.random, (0x0A000060, 80), 5000 + number) for number in range(FLOWS - BACKLOG)))
    await bench.idle()
    ours = [event["reference_flow"] for event in bench.events.pending()]
    assert len(ours) == FLOWS - BACKLOG and dut.freeFlows.value == 0
    ack = cookie_ack(bench.random, reply, payload_held=1, payload_slot=6)
    assert await events_of(bench, ack) == []
    assert bench.stateless_replies.pending() == [] and bench.discards.pending() == [{"payload": 6}]
    assert dut.drops_synNoFlow.value == 1
    bench.released.put(ours[0])
    await bench.idle()
    assert len(await events_of(bench, ack)) == 2
    assert dut.drops_cookiesAccepted.value == 1


@cocotb.test()
async def cookies_of_one_client_tell_nothing_of_another_s(dut: Any) -> None:
    """The same options in the same period: as unlike as random numbers."""
    bench = await flooded(dut)
    syn = {"sequence_value": 7, "options_mssValid": 1, "options_mss": SEGMENT_SIZES[-1]}
    cookies = []
    for port in range(100):
        reply = await reply_to(bench, segment(bench.random, (*CLIENT[:1], 1024 + port, 80), "syn", **syn))
        cookies.append(reply["sequence_value"])
    for bit in range(32):
        assert 25 <= sum(number >> bit & 1 for number in cookies) <= 75, f"bit {bit}"


@cocotb.test()
async def a_flood_is_answered_as_fast_as_a_gigabit_brings_it(dut: Any) -> None:
    """A SYN each 67 clocks at 100 MHz: and between two of them segments of connections go on."""
    bench = await flooded(dut)
    count = 50
    for number in range(count):
        bench.segments.put(segment(bench.random, (0x0C000000 + number, 5000, 80), "syn"))
    clocks = 0
    while bench.stateless_replies.count < count:
        await RisingEdge(dut.clk)
        clocks += 1
    dut._log.info(f"{clocks / count:.1f} clocks for a SYN that gets a cookie")
    assert clocks < 45 * count
    await until(dut, lambda: dut.idle.value == 1, "an idle directory")
    assert dut.drops_resets.value == 0
