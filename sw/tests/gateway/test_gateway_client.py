# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The client library in virtual time: it answers from its cache at once, forgets in time and never waits."""

from __future__ import annotations

from collections.abc import Callable

from downbeat_toe.gateway import wire

from sw.tests.gateway.virtual import SITE_KEY, Virtual

PREFIX, OTHER = "192.0.2.0/24", "198.51.100.0/24"
Make = Callable[..., Virtual]


def started(virtual: Make) -> Virtual:
    """A gateway that knows a window of 43,800 bytes, and a client with a session."""
    gateway = virtual()
    gateway.report(gateway.host(1), wire.transfer(PREFIX, 43_800))
    key = wire.derive(SITE_KEY, 2).hex()
    assert gateway.client(f"client host 1 2 {key}") == "client"
    assert gateway.client("pass") == "moved 1", "hello, and nothing else before the challenge"
    assert gateway.client("pass") == "moved 1", "hello with its cookie, and nothing else before the welcome"
    return gateway


def test_the_first_question_is_answered_by_nothing_and_the_next_from_the_cache(virtual: Make) -> None:
    gateway = started(virtual)
    assert gateway.client(f"ask {PREFIX}") == "unknown"
    assert gateway.client("pass") == "moved 1"
    assert gateway.client(f"ask {PREFIX}") == "known 43800.000000"
    assert gateway.client("pass") == "moved 0", "what is cached is not asked again"


def test_a_cached_answer_ends_with_its_lifetime_when_the_gateway_is_gone(virtual: Make) -> None:
    gateway = started(virtual)
    gateway.client(f"ask {PREFIX}")
    gateway.client("pass")
    gateway.at(1009.9)
    assert gateway.client(f"ask {PREFIX}") == "known 43800.000000"
    assert gateway.client("lose") == "moved 1", "it asks again before the end"
    gateway.at(1010)
    assert gateway.client(f"ask {PREFIX}") == "unknown", "10 s after the question"
    assert gateway.client("lose") == "moved 0", "and not more often than each 200 ms"
    gateway.at(1010.2)
    gateway.client(f"ask {PREFIX}")
    assert gateway.client("pass") == "moved 1"
    assert gateway.client(f"ask {PREFIX}") == "known 43800.000000"


def test_a_full_cache_gives_up_one_that_still_holds(virtual: Make) -> None:
    """Not all of them; 25,000 prefixes have a place. Which one goes is by a hash with a drawn key."""
    gateway = started(virtual)
    gateway.report(gateway.host(3), wire.transfer(OTHER, 43_800))
    for prefix in (PREFIX, OTHER):
        gateway.client(f"ask {prefix}")
    for number in range(25_000 - 2):
        gateway.client(f"ask 10.{number >> 8}.{number & 255}.0/24")
    gateway.client("pass")
    known = "known 43800.000000"
    assert [gateway.client(f"ask {prefix}") for prefix in (PREFIX, OTHER)] == [known, known]
    gateway.client("ask 11.0.0.0/24")
    assert known in [gateway.client(f"ask {prefix}") for prefix in (PREFIX, OTHER)]


def test_reports_go_together_after_50_ms_or_when_a_message_is_full(virtual: Make) -> None:
    gateway = started(virtual)
    gateway.client(f"report {PREFIX} 1000")
    assert gateway.client("pass") == "moved 0"
    gateway.at(1000.05)
    assert gateway.client("pass") == "moved 1"
    for _ in range(22):
        gateway.client(f"report {PREFIX} 1000")
    assert gateway.client("pass") == "moved 1"
    (known,) = gateway.request(gateway.host(3), PREFIX)
    assert known.transfers == 1 + 23 and known.window == 1000


def test_a_report_waits_for_others_at_most_50_ms(virtual: Make) -> None:
    """From the first of them on."""
    gateway = started(virtual)
    for at in (1000, 1000.03, 1000.04):
        gateway.at(at)
        gateway.client(f"report {PREFIX} 1000")
        assert gateway.client("pass") == "moved 0"
    gateway.at(1000.05)
    assert gateway.client("pass") == "moved 1"


def test_after_a_restart_of_the_gateway_the_client_says_hello_again(virtual: Make) -> None:
    gateway = started(virtual)
    gateway.client(f"ask {PREFIX}")
    gateway.client("pass")
    gateway.client("restart")
    gateway.report(gateway.host(1), wire.transfer(PREFIX, 7300))
    gateway.at(1008)
    assert gateway.client(f"ask {PREFIX}") == "known 43800.000000", "the cache holds on"
    assert gateway.client("pass") == "moved 1"  # the question of the old session is refused
    for _ in range(2):
        assert gateway.client("pass") == "moved 1"  # hello, without and with its cookie
    gateway.at(1010)
    gateway.client(f"ask {PREFIX}")
    gateway.client("pass")
    assert gateway.client(f"ask {PREFIX}") == "known 7300.000000"


def test_a_host_that_was_paused_says_hello_again_when_nobody_answers(virtual: Make) -> None:
    """Its clock stood still, so that all of its session's messages have come too late."""
    gateway = started(virtual)
    gateway.client(f"ask {PREFIX}")
    gateway.client("pass")
    honest = gateway.host(1)
    gateway.lag(15)
    known = []
    for second in range(1020, 1050):
        gateway.at(second)
        gateway.report(honest, wire.transfer(PREFIX, 43_800))
        gateway.client(f"report {PREFIX} 43800")
        gateway.client(f"ask {PREFIX}")
        gateway.client("pass")
        known.append(gateway.client(f"ask {PREFIX}") != "unknown")
    assert all(known[7:]), known
    assert 3 <= gateway.counters()["stale"] < 10


def test_a_lost_hello_is_said_again_after_a_second(virtual: Make) -> None:
    gateway = virtual()
    gateway.client(f"client host 1 2 {wire.derive(SITE_KEY, 2).hex()}")
    assert gateway.client("lose") == "moved 1"
    gateway.at(1000.9)
    assert gateway.client("pass") == "moved 0"
    gateway.at(1001)
    for _ in range(2):
        assert gateway.client("pass") == "moved 1"
    gateway.client(f"ask {PREFIX}")
    assert gateway.client("pass") == "moved 1"
