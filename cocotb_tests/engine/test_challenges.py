# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A stranger who guesses numbers gains nothing, and learns nothing from how often he is answered (RFC 5961)."""

from __future__ import annotations

from typing import Any

import cocotb

from cocotb_tests.bench.runner import run_module
from cocotb_tests.engine.endpoint import MODULE, Endpoint

INTERVAL = 2**30  # ns


def test_challenges() -> None:
    run_module(MODULE, __name__)


async def budget(endpoint: Endpoint) -> int:
    """Answers to forty RSTs in the window."""
    for at in range(40):
        endpoint.send("R", seq=endpoint.seq + 1 + at)
    return len(await endpoint.replies())


@cocotb.test()
async def challenges_are_few_in_each_interval_and_not_always_as_many(dut: Any) -> None:
    """RFC 5961 7, and CVE-2016-5696: the number is no constant that an observer could count against."""
    endpoint = await Endpoint.connected(dut)
    budgets = []
    for _ in range(8):
        budgets.append(await budget(endpoint))
        before = int(dut.suppressedChallenges.value)
        assert await budget(endpoint) == 0
        assert int(dut.suppressedChallenges.value) == before + 40
        await endpoint.advance(INTERVAL)
    assert all(8 <= number <= 15 for number in budgets)
    assert len(set(budgets)) > 1
    assert endpoint.state == "established"


@cocotb.test()
@cocotb.parametrize(flags=["R", "S", "SA", "RA"])
async def a_reset_or_syn_elsewhere_in_the_window_is_challenged(dut: Any, flags: str) -> None:
    """RFC 5961 3.2 and 4.2."""
    endpoint = await Endpoint.connected(dut)
    endpoint.send(flags, seq=endpoint.seq + 1)
    reply = await endpoint.acknowledged()
    assert (reply.seq, reply.ack) == (endpoint.ack, endpoint.seq)
    assert endpoint.state == "established"


@cocotb.test()
async def a_reset_that_follows_data_at_once_counts(dut: Any) -> None:
    """RFC 9293 3.5.3: it has the next number, though the data before it is not in memory yet; beyond a hole it has
    not."""
    endpoint = await Endpoint.create(dut, auto_place=False)
    await endpoint.accept()
    endpoint.send("A", 10, seq=endpoint.seq + 100)
    endpoint.send("R", seq=endpoint.seq + 110)
    await endpoint.acknowledged()
    for _ in range(2):
        endpoint.send("A", 10)
    endpoint.send("R", seq=endpoint.seq - 10)
    await endpoint.acknowledged()
    assert endpoint.state == "established"
    endpoint.send("R")
    await endpoint.settle()
    assert endpoint.reason == "reset"


@cocotb.test()
async def a_reset_outside_the_window_is_ignored(dut: Any) -> None:
    """RFC 5961 3.2."""
    endpoint = await Endpoint.connected(dut)
    for away in (-1, 65536 + 1, 2**31):
        endpoint.send("R", seq=endpoint.seq + away)
        await endpoint.silent()
    assert endpoint.state == "established"


@cocotb.test()
async def old_data_is_acknowledged_without_limit(dut: Any) -> None:
    """RFC 9293 3.10.7.4: the ACK of what a peer sends again may have been lost each time."""
    endpoint = await Endpoint.connected(dut)
    endpoint.send("A", 10)
    await endpoint.settle()
    for _ in range(40):
        endpoint.send("A", 5, seq=endpoint.seq - 10)
        assert (await endpoint.replies())[-1].ack == endpoint.seq


@cocotb.test()
async def an_acknowledgment_of_unsent_data_is_challenged_and_its_data_dropped(dut: Any) -> None:
    """RFC 9293 3.10.7.4, fifth step."""
    endpoint = await Endpoint.connected(dut)
    endpoint.send("A", 10, seq=endpoint.seq, ack=endpoint.ack + 1)
    reply = await endpoint.acknowledged()
    assert reply.ack == endpoint.seq
    assert not endpoint.placements


@cocotb.test()
async def an_acknowledgment_that_is_too_old_is_challenged_and_its_data_dropped(dut: Any) -> None:
    """RFC 5961 5.2: older than the largest window ever seen."""
    endpoint = await Endpoint.create(dut)
    endpoint.window = 1000 >> 7
    await endpoint.accept()
    largest = max(1000 >> 7, (1000 >> 7) << 7)
    endpoint.send("A", 10, seq=endpoint.seq, ack=endpoint.ack - largest - 1)
    assert (await endpoint.acknowledged()).ack == endpoint.seq
    assert not endpoint.placements
    endpoint.send("A", 10, ack=endpoint.ack - largest)
    await endpoint.settle()
    assert len(endpoint.placements) == 1


@cocotb.test()
async def blind_segments_kill_nothing(dut: Any) -> None:
    """RSTs, SYNs and data at random numbers: the connection lives and takes none of it."""
    endpoint = await Endpoint.connected(dut)
    for step in range(200):
        guess = endpoint.seq + 70_000 + step * 21_000_000
        endpoint.send(("R", "S", "A", "FA")[step % 4], 10 if step % 4 > 1 else 0, seq=guess)
        await endpoint.replies()
    assert endpoint.state == "established" and not endpoint.placements
    endpoint.send("A", 10)
    endpoint.send("A", 10)
    assert (await endpoint.replies())[-1].ack == endpoint.seq
