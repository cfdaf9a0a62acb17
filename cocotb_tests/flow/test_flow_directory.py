# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The flow directory: against a model under random traffic, and rule by rule."""

from __future__ import annotations

import itertools
from collections import defaultdict
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

from cocotb_tests.bench import Beat, bounded, clocks, until
from cocotb_tests.bench.runner import run_module
from cocotb_tests.flow.directory import LISTENING, Bench, cookie_ack, listen_request, listening, open_request, segment
from cocotb_tests.flow.model import FLOWS, OUT_OF_RESOURCES, stateless_reset
from sim.golden.flow.keyed_numbers import PERIOD_NS, Tuple

REMOTES = [(0x0A000001 + host, port) for host in range(5) for port in (1024, 40000, 65535)]
PORTS = (*LISTENING, 4711)
# Likely flags: enough SYNs to fill every flow, and all that no sane peer sends.
MIXES = ("syn", "syn", "syn", "syn ack", "ack", "ack psh", "ack", "rst", "rst ack", "fin ack", "", "fin", "syn fin")


def test_flow_directory() -> None:
    run_module("FlowDirectoryFewTimeWaits", __name__, random_power_up=True)


def shared_buckets(bench: Bench, count: int, fingerprint: bool = False) -> list[Tuple]:
    """4-tuples that hash to the same pair of buckets (and show the same fingerprint), as only the secret tells."""
    groups: dict[tuple[int, ...], list[Tuple]] = defaultdict(list)
    buckets = FLOWS // 2
    for number in itertools.count():
        key = (0x0B000000 + number, 1024 + number % 50000, LISTENING[0])
        hashed = bench.model.hash(key)
        mark = hashed.first >> 20 if fingerprint else 0
        group = groups[hashed.first % buckets, hashed.second % buckets, mark]
        group.append(key)
        if len(group) == count:
            return group
    raise AssertionError


@cocotb.test()
@cocotb.parametrize(stall=[0.0, 0.4])
async def random_traffic_is_answered_as_the_model_says(dut: Any, stall: float) -> None:
    bench = await listening(dut, stall=stall)
    draw = bench.random
    cookies: list[Beat] = []
    for _ in range(20):
        # Time may stand still or jump, even across its end.
        now = bench.model.now
        await bench.moves(
            draw.choice((now, (now + PERIOD_NS) % 2**48, (now + 2 * PERIOD_NS) % 2**48, draw.getrandbits(48)))
        )
        slots = draw.sample(range(8), 8)
        for _ in range(40):
            beat = segment(draw, (*draw.choice(REMOTES), draw.choice(PORTS)), draw.choice(MIXES))
            if slots and draw.random() < 0.3:
                beat |= {"payload_held": 1, "payload_slot": slots.pop()}
            bench.segment(beat)
            cookies += [reply for reply in bench.model.stateless_replies[-1:] if reply["syn"]]
            if cookies and draw.random() < 0.2:
                bench.segment(cookie_ack(draw, cookies.pop(draw.randrange(len(cookies)))))
        await bench.check()
        bench.established(*draw.sample(sorted(bench.model.handshakes), draw.randint(0, len(bench.model.handshakes))))
        await bench.check()
        ports = (0, 0, 80, 4711, draw.randrange(1, 65536))
        bench.open(*(open_request(draw, draw.choice(REMOTES), draw.choice(ports)) for _ in range(5)))
        await bench.check()
        flows = [flow.number for flow in bench.model.table.values()]
        bench.release(*draw.sample(flows, draw.randint(0, len(flows))))
        await bench.check()
    bench.release(*[flow.number for flow in bench.model.table.values()])
    await bench.check()
    assert dut.freeFlows.value == FLOWS
    assert min(bench.model.cookies_sent, bench.model.cookies_accepted, bench.model.cookies_refused) > 0


@cocotb.test()
async def opens_segments_and_releases_at_once_lose_nothing(dut: Any) -> None:
    """All three in the same clocks, so no order is known: each connection is followed by itself."""
    bench = await listening(dut, stall=0.3)
    draw = bench.random
    generations = [0] * FLOWS
    expected: dict[Tuple, list[int]] = defaultdict(list)  # sequence numbers in the order sent
    flows: dict[int, Tuple] = {}
    remotes = ((0x0C000000 + number, 1024 + number) for number in itertools.count())

    async def connection() -> None:
        remote = next(remotes)
        if draw.random() < 0.5:
            key = (*remote, LISTENING[0])
            first = segment(draw, key, "syn")
            expected[key].append(first["sequence_value"])
            bench.segments.put(first)
        else:
            key = (*remote, draw.randrange(1, 50000))
            expected[key].append(-1)
            bench.opens.put(open_request(draw, remote, key[2]))
        await until(dut, lambda: key in flows.values(), f"a flow for {key}")
        for _ in range(5):
            beat = segment(draw, key, "ack")
            expected[key].append(beat["sequence_value"])
            bench.segments.put(beat)
        await until(dut, lambda: not expected[key], f"the segments of {key}")
        flow = next(number for number, owner in flows.items() if owner == key)
        del flows[flow]
        bench.give_back(flow)

    async def watch() -> None:
        while True:
            event = await bench.events.receive(100_000)
            flow, generation = event["reference_flow"], event["reference_generation"]
            if event["open"] or event["fresh"]:
                generations[flow] += 1
                assert flow not in flows, f"flow {flow} was made a second time"
                bench.handshakes_over += event["fresh"]
                sequence = -1 if event["open"] else event["sequence_value"]
                flows[flow] = next(key for key, sent in expected.items() if sent[:1] == [sequence])
                del expected[flows[flow]][0]
            else:
                assert event["sequence_value"] == expected[flows[flow]].pop(0)
            assert generation == generations[flow]

    async def several() -> None:
        for _ in range(20):
            await connection()

    cocotb.start_soon(watch())
    for task in [cocotb.start_soon(several()) for _ in range(10)]:
        await bounded(task, "the connections of a peer", 100_000)
    await bench.idle()
    assert dut.freeFlows.value == FLOWS
    assert bench.stateless_replies.count == 0 and bench.refused.count == 0


@cocotb.test()
async def an_unexpected_segment_is_answered_as_rfc_9293_says(dut: Any) -> None:
    """3.10.7.1 (nobody listens, port 9) and 3.10.7.2 (somebody does, port 80)."""
    bench = await listening(dut)
    table = [
        # clause, port, flags, payload, RST replies: (seq, ack) of SEG, or none
        ("3.10.7.1 RST is dropped", 9, "rst", 0, None),
        ("3.10.7.1 RST with ACK too", 9, "rst ack", 0, None),
        ("3.10.7.1 ACK off: SEQ=0, ACK=SEG.SEQ+SEG.LEN", 9, "syn", 0, (0, 0x1001)),
        ("3.10.7.1 SEG.LEN counts data", 9, "", 100, (0, 0x1064)),
        ("3.10.7.1 SEG.LEN counts FIN", 9, "fin", 1, (0, 0x1002)),
        ("3.10.7.1 SEG.LEN counts SYN and FIN", 9, "syn fin", 7, (0, 0x1009)),
        ("3.10.7.1 ACK on: SEQ=SEG.ACK", 9, "ack", 50, (0x2000, None)),
        ("3.10.7.1 ACK on, SYN", 9, "syn ack", 0, (0x2000, None)),
        ("3.10.7.1 ACK on, FIN", 9, "fin ack", 0, (0x2000, None)),
        ("3.10.7.2 first: RST is ignored", 80, "rst", 0, None),
        ("3.10.7.2 first: RST, whatever else", 80, "syn rst", 0, None),
        ("3.10.7.2 second: any ACK is bad", 80, "ack", 9, (0x2000, None)),
        ("3.10.7.2 second: SYN with ACK too", 80, "syn ack", 0, (0x2000, None)),
        ("3.10.7.2 fourth: anything else is dropped", 80, "fin", 9, None),
        ("3.10.7.2 fourth: no flag at all", 80, "", 9, None),
    ]
    for clause, port, flags, length, reply in table:
        key = (0x0A0B0C0D, 1234, port)
        numbers = {"sequence_value": 0x1000, "acknowledgment_value": 0x2000, "length": length}
        held = {"payload_held": 1, "payload_slot": length % 8}
        await bench.segments.send(segment(bench.random, key, flags, **numbers, **held))
        await bench.idle()
        expected = []
        if reply is not None:
            sequence, acknowledgment = reply
            expected = [(*key, sequence, acknowledgment or 0, int(acknowledgment is not None))]
        names = ("remoteIp", "remotePort", "localPort", "sequence_value", "acknowledgment_value", "ack")
        assert [tuple(beat[name] for name in names) for beat in bench.stateless_replies.pending()] == expected, clause
        assert bench.discards.pending() == [{"payload": length % 8}], clause
    assert bench.events.count == 0


@cocotb.test()
async def full_buckets_refuse_a_connection_and_take_it_when_one_is_gone(dut: Any) -> None:
    bench = await listening(dut)
    keys = shared_buckets(bench, 9)
    await bench.connect(*keys[:8])
    bench.segment(*(segment(bench.random, key, "ack") for key in keys[:8]))
    await bench.check()
    await bench.segments.send(segment(bench.random, keys[8], "syn", payload_held=1, payload_slot=2))
    bench.opens.put(open_request(bench.random, keys[8][:2], keys[8][2]))
    await bench.idle()
    assert bench.discards.pending() == [{"payload": 2}]
    assert [beat["reason"] for beat in bench.refused.pending()] == [OUT_OF_RESOURCES]
    [reply] = bench.stateless_replies.pending()
    assert reply["syn"] == 1 and bench.events.pending() == []
    await bench.segments.send(cookie_ack(bench.random, reply, payload_held=1, payload_slot=3))
    await bench.idle()
    assert dut.drops_synNoBucket.value == 1 and dut.freeFlows.value == FLOWS - 8
    assert bench.discards.pending() == [{"payload": 3}]
    assert bench.events.pending() == [] and bench.stateless_replies.pending() == []
    bench.release(bench.model.table[keys[4]].number)
    await bench.idle()
    await bench.segments.send(cookie_ack(bench.random, reply))
    await bench.idle()
    bench.segments.put(*(segment(bench.random, key, "ack") for key in keys[:4] + keys[5:]))
    await bench.idle()
    assert [event["fresh"] for event in bench.events.pending()] == [1, *[0] * 9]
    assert bench.stateless_replies.pending() == []


@cocotb.test()
async def a_shared_fingerprint_confuses_nobody(dut: Any) -> None:
    bench = await listening(dut)
    one, other = shared_buckets(bench, 2, fingerprint=True)
    bench.segment(segment(bench.random, one, "syn"), segment(bench.random, other, "ack"))
    await bench.check()
    bench.segment(segment(bench.random, other, "syn"))
    bench.segment(*(segment(bench.random, key, "ack") for key in (one, other) * 4))
    await bench.check()
    bench.release(bench.model.table[one].number)
    await bench.check()
    bench.segment(*(segment(bench.random, key, "ack") for key in (one, other) * 4))
    await bench.check()


@cocotb.test()
async def reset_forgets_every_connection(dut: Any) -> None:
    bench = await listening(dut)
    keys = [(0x0A000000 + number, 5000, 80) for number in range(FLOWS)]
    await bench.connect(*keys)
    dut.reset.value = 1
    await clocks(dut, 2)
    dut.reset.value = 0
    await RisingEdge(dut.clk)
    bench.segments.put(*(segment(bench.random, key, "ack", acknowledgment_value=9) for key in keys[:4]))
    await RisingEdge(dut.clk)
    await RisingEdge(dut.clk)
    assert dut.segments_ready.value == 0 and dut.idle.value == 0, "segments were taken before the sweep"
    await bench.idle()
    assert dut.freeFlows.value == FLOWS
    assert bench.events.pending() == []
    assert len(bench.stateless_replies.pending()) == 4


@cocotb.test()
async def stateless_replies_that_nobody_answers_hold_up_no_segment(dut: Any) -> None:
    bench = await listening(dut)
    bench.stateless_replies.stall = 1
    await clocks(dut, 2)
    key = (0x0A000001, 7, 80)
    stateless_replies = [segment(bench.random, (0x0A000002, 7, number), "ack") for number in range(1000, 1020)]
    bench.segment(segment(bench.random, key, "syn"), *stateless_replies, segment(bench.random, key, "ack"))
    await until(dut, lambda: bench.events.count == 2, "the event behind the stateless_replies", 400)
    bench.stateless_replies.stall = 0
    await bench.idle()
    replies = bench.replies()
    assert replies == [stateless_reset(beat) for beat in stateless_replies[: len(replies)]]
    assert len(replies) >= 4 and dut.drops_resets.value == len(stateless_replies) - len(replies)


@cocotb.test()
async def the_addresses_of_a_connection_can_be_read_by_both_readers(dut: Any) -> None:
    bench = await listening(dut)
    draw = bench.random
    syn = segment(draw, (0x0A000001, 7, 90), "syn")
    services, hops = "service_differentiatedServices", "service_timeToLive"
    listener = listen_request(draw, 90) | {f"parameters_{services}": 46, f"parameters_{hops}": 255}
    request = open_request(draw, (0x0A000002, 8), 4000) | {f"parameters_{services}": 10, f"parameters_{hops}": 0}
    bench.listen(listener)
    await bench.check()
    bench.segment(syn)
    await bench.check()
    bench.open(request)
    await bench.check()
    names = ("remoteMac", "remoteIp", "remotePort", "localPort")
    addresses = [
        {**{name: syn[name] for name in names}, "passive": 1, "request": 0, services: 46, hops: 255},
        {
            **{name: request[name] for name in names},
            "passive": 0,
            "request": request["request"],
            services: 10,
            hops: 64,
        },
    ]

    async def read(reader: int, flow: int) -> Beat:
        port = f"addressRead_{reader}_"
        getattr(dut, f"{port}enable").value = 1
        getattr(dut, f"{port}flow").value = flow
        await RisingEdge(dut.clk)
        getattr(dut, f"{port}enable").value = 0
        await RisingEdge(dut.clk)
        return {name: int(getattr(dut, f"{port}addresses_{name}").value) for name in addresses[0]}

    for reader, flow in itertools.product((0, 1), (0, 1)):
        assert await read(reader, flow) == addresses[flow], (reader, flow)


@cocotb.test()
async def a_segment_takes_six_clocks_of_the_lookup(dut: Any) -> None:
    bench = await listening(dut)
    key = (0x0A000001, 7, 80)
    bench.segment(segment(bench.random, key, "syn"))
    await bench.check()
    bench.segment(*(segment(bench.random, key, "ack") for _ in range(100)))
    await until(dut, lambda: bench.segments.sent >= 2, "the first segment taken", 10)
    latency = 0
    while bench.events.count == 1:
        await RisingEdge(dut.clk)
        latency += 1
    taken = 0
    while bench.events.count < 101:
        await RisingEdge(dut.clk)
        taken += 1
    dut._log.info(f"a segment's event comes after {latency} clocks, 99 more after {taken}")
    assert latency <= 25 and taken <= 6 * 99
