# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What changes the gateway's estimates and what does not. The host is a Python one, with hashlib's BLAKE2b."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable

import pytest
from downbeat_toe.gateway import wire

from sw.tests.gateway.virtual import SITE_KEY, Virtual

PREFIX, OTHER = "192.0.2.0/24", "2001:db8:1::/48"
Make = Callable[..., Virtual]


def test_an_estimate_is_the_mean_of_a_hosts_reports_and_another_host_gets_it(virtual: Make) -> None:
    gateway = virtual()
    first, second = gateway.host(1), gateway.host(2)
    gateway.report(first, wire.transfer(PREFIX, 30_000, 0.050, 1), wire.transfer(PREFIX, 50_000, 0.070, 2))
    known, unknown = gateway.request(second, PREFIX, OTHER)
    assert (known.prefix, known.window, known.transfers, known.reporters) == (PREFIX, 40_000, 2, (1, 0, 0))
    assert known.rtt == pytest.approx(0.060) and known.acked == pytest.approx(1.5)
    assert unknown == wire.Response(OTHER, 0, (0, 0, 0), 0, 0, 0, 0, 0, 0, 0, 0), (
        "nothing is said where nothing is known"
    )


def test_states_and_saved_windows_are_shared(virtual: Make) -> None:
    gateway = virtual()
    first, second = gateway.host(1), gateway.host(2)
    gateway.report(first, wire.state(OTHER, 3, 17_520, 29_200), wire.saved(OTHER, 90_000, 0.44))
    (known,) = gateway.request(second, OTHER)
    # The thesis's row S = 12, L = 3, w_o = 20 (in segments): n = L + S / w_o = 3.6.
    assert known.oldest == 29_200 and known.connections == pytest.approx(3.6)
    assert (known.saved_window, known.saved_rtt, known.reporters) == (90_000, 0.44, (0, 1, 1))


def test_five_minutes_are_the_last_of_a_report(virtual: Make) -> None:
    gateway = virtual()
    gateway.at(2000)
    host = gateway.host(1)
    gateway.report(host, wire.transfer(PREFIX, 10_000))
    gateway.at(2005)
    gateway.report(host, wire.transfer(PREFIX, 20_000), wire.saved(PREFIX, 5000, 1), wire.state(PREFIX, 1, 0, 4000))
    gateway.at(2150)
    gateway.report(host, wire.transfer(PREFIX, 60_000))
    (known,) = gateway.request(host, PREFIX)
    assert known.window == 30_000 and known.reporters == (1, 0, 1), "a host's state is void after a minute"
    gateway.at(2299.999)
    (known,) = gateway.request(host, PREFIX)
    assert known.window == 30_000
    assert known.lifetime_ms <= 10_000, "an answer holds for a bucket's time at most"
    gateway.at(2300)
    (known,) = gateway.request(host, PREFIX)
    assert known.window == 60_000
    gateway.at(2449.5)
    (known,) = gateway.request(host, PREFIX)
    assert known.lifetime_ms == 500, "an answer ends with the last report behind it"
    gateway.at(2450)
    assert gateway.request(host, PREFIX)[0].reporters == (0, 0, 0)
    gateway.sweep()
    assert gateway.size()[0] == 0, "what is forgotten takes no memory"


def _known(gateway: Virtual, host: wire.Host) -> list[wire.Response]:
    return gateway.request(host, PREFIX, OTHER)


def changed(datagram: bytes, at: int, value: int, key: bytes | None = None) -> bytes:
    """One byte is another; with the key the tag is right again."""
    body = datagram[:at] + bytes([value]) + datagram[at + 1 :]
    return body if key is None else body[:-16] + wire.tag(key, body[:-16])


@pytest.mark.parametrize("at", range(100))
def test_a_message_with_any_changed_byte_changes_nothing(virtual: Make, at: int) -> None:
    gateway = virtual()
    host = gateway.host(1)
    gateway.report(host, wire.transfer(PREFIX, 10_000))
    before = _known(gateway, host)
    good = host.report(wire.transfer(PREFIX, 900_000))
    assert gateway.give(changed(good, at, good[at] ^ 0x41)) == b"", "and nobody is answered"
    assert _known(gateway, host) == before
    counters = gateway.counters()
    refused = {"wrong_magic", "wrong_version", "wrong_type", "reserved_bits", "wrong_length", "unknown_key", "forged"}
    assert sum(counters.get(name, 0) for name in refused) == 1, counters


def test_forged_replayed_stale_and_wrong_version_messages_change_nothing(virtual: Make) -> None:
    gateway = virtual()
    host = gateway.host(1)
    stranger = wire.Host(bytes(32), 1, session=host.session)
    neighbour = gateway.host(2)
    first = host.report(wire.transfer(PREFIX, 10_000))
    gateway.give(first)
    before = _known(gateway, host)
    item = wire.transfer(PREFIX, 900_000)
    bad = {
        "forged": stranger.report(item),
        "replayed": first,
        "wrong_version": host.message(wire.REPORT, item, version=2),
        "stale": host.message(wire.REPORT, item, sequence=0),
        "unknown_session": wire.Host(SITE_KEY, 1, session=host.session + 99).report(item),
        "wrong_type": host.message(wire.RESPONSE, item),
        "unknown_key": wire.Host(SITE_KEY, 1, key_id=9, session=host.session).report(item),
        "too_short": host.report(item)[:40],
        "too_long": host.message(wire.REPORT, item * 30),
        "denied_reporter": wire.Host(SITE_KEY, 0).report(item),
    }
    for cause, datagram in bad.items():
        answer = gateway.give(datagram)
        assert gateway.counters().get(cause) == 1, (cause, gateway.counters())
        if cause == "unknown_session":
            assert host.opened(answer)[0] == wire.REFUSAL, "the host must learn that it has to say hello"
        else:
            assert answer == b""
    host.session, held = neighbour.session, host.session
    gateway.give(host.report(item))
    assert gateway.counters()["unknown_session"] == 2, "a session is its reporter's own"
    host.session = held
    assert _known(gateway, host) == before


def test_each_sequence_number_counts_once_in_any_order_within_the_window(virtual: Make) -> None:
    gateway = virtual()
    host = gateway.host(1)
    numbers = [5, 1, 1024, 3, 1025, 2048, 1025, 1024, 4000, 2977, 2976, 3, 4000]
    taken, seen, highest = 0, set[int](), 0
    for number in numbers:
        gateway.give(host.message(wire.REPORT, wire.transfer(PREFIX, 1000), sequence=number))
        if number not in seen and number + 1024 > highest:
            taken += 1
            seen.add(number)
            highest = max(highest, number)
    assert gateway.counters()["reports"] == taken
    assert gateway.counters()["replayed"] + gateway.counters()["stale"] == len(numbers) - taken


def test_a_message_that_was_held_back_is_stale_whatever_the_hosts_date_is(virtual: Make) -> None:
    gateway = virtual("[limits]\ndelay_ms = 10000\n")
    host = wire.Host(SITE_KEY, 1, stamp=4_000_000_000)  # ms: another clock than the gateway's
    host.welcomed(gateway.give(host.challenged(gateway.give(host.hello()))))
    gateway.give(host.report(wire.transfer(PREFIX, 10_000)))
    held = host.report(wire.transfer(PREFIX, 900_000))
    gateway.at(1009)
    host.stamp += 9000
    gateway.give(host.report(wire.transfer(PREFIX, 10_000)))
    gateway.at(1010.1)
    assert gateway.give(held) == b""
    assert gateway.counters()["stale"] == 1 and gateway.counters()["reports"] == 2


def test_what_was_recorded_before_a_restart_changes_nothing_after_it(virtual: Make) -> None:
    gateway = virtual("[limits]\ndelay_ms = 300000\n")
    host = wire.Host(SITE_KEY, 7, stamp=gateway.now // 10**6)
    hellos = [first := host.hello(), host.challenged(gateway.give(first))]
    host.welcomed(gateway.give(hellos[1]))
    recorded = host.report(wire.transfer(PREFIX, 900_000))
    fresh = virtual()
    for sessions in range(20):  # the draws of this gateway's sessions are the same ones
        if sessions == 3:
            assert all(fresh.give(each)[3] == wire.CHALLENGE for each in hellos)
        fresh.host(8)
    answer = fresh.give(recorded)
    assert host.opened(answer)[0] == wire.REFUSAL
    assert fresh.counters()["unknown_session"] == 1


NAN, INFINITE = math.nan, math.inf
WRONG = [
    ("not_finite", NAN, (0, 1, 2)),
    ("not_finite", INFINITE, (0, 1, 2)),
    ("not_finite", -INFINITE, (0, 1, 2)),
    ("negative", -1.0, (0, 1, 2)),
    ("negative", -5e-324, (0, 1, 2)),
    ("out_of_range", 1e300, (0, 1, 2)),
    ("out_of_range", 0.0, (0, 1, 2)),
    ("out_of_range", float(65535 << 14) + 1, (0,)),
    ("out_of_range", 60.001, (1,)),
    ("out_of_range", 256.5, (2,)),
    ("reserved_bits", 1.0, (3,)),
]


@pytest.mark.parametrize(("cause", "value", "place"), [(c, v, p) for c, v, places in WRONG for p in places])
@pytest.mark.parametrize("batch", [1, 21])
def test_numbers_that_no_connection_has_are_refused_with_all_of_the_message(
    virtual: Make, cause: str, value: float, place: int, batch: int
) -> None:
    gateway = virtual()
    host = gateway.host(1)
    numbers = [30_000.0, 0.05, 2.0, 0.0]
    numbers[place] = value
    good = wire.transfer(PREFIX, 30_000)
    wrong = wire.prefix_item(PREFIX, wire.TRANSFER) + struct.pack(">4d", *numbers)
    gateway.give(host.report(*[good] * (batch - 1), wrong))
    assert gateway.counters()[cause] == 1
    assert gateway.request(host, PREFIX)[0].reporters == (0, 0, 0)


WINDOWS, ROUND_TRIPS, ACKED = (1.0, float(65535 << 14)), (1e-6, 60.0), (1.0, 256.0)
CONNECTIONS, ALL_WINDOWS = (0.0, float(1 << 20)), (0.0, float(65535 << 14) * (1 << 20))


@pytest.mark.parametrize(
    ("kind", "ranges"),
    [
        (wire.TRANSFER, (WINDOWS, ROUND_TRIPS, ACKED)),
        (wire.STATE, (CONNECTIONS, ALL_WINDOWS, WINDOWS)),
        (wire.SAVED, (WINDOWS, ROUND_TRIPS, (0.0, 0.0))),
    ],
)
def test_each_number_is_taken_up_to_its_bounds_and_no_further(
    virtual: Make, kind: int, ranges: tuple[tuple[float, float], ...]
) -> None:
    """Numbers of an oldest window count where there is a steady connection."""
    gateway = virtual()
    host = gateway.host(1)
    usual = [1.0, *(low for low, _ in ranges[1:])] if kind == wire.STATE else [low for low, _ in ranges]
    head = wire.prefix_item(PREFIX, kind)
    for place, (low, high) in enumerate(ranges):
        for value, taken in (
            (low, True),
            (high, True),
            (math.nextafter(low, -INFINITE), False),
            (math.nextafter(high, INFINITE), False),
        ):
            numbers = [*usual, 0.0]
            numbers[place] = value
            before = gateway.counters().get("reports", 0)
            assert gateway.give(host.report(head + struct.pack(">4d", *numbers))) == b""
            assert gateway.counters().get("reports", 0) == before + taken, (place, value)


@pytest.mark.parametrize(
    ("prefix", "taken"),
    [
        *(("10.0.0.0/8", True), ("10.0.0.1/32", True), ("10.0.0.0/7", False), ("10.0.0.0/33", False)),
        *(("2000::/8", True), ("2001:db8::1/128", True), ("2000::/7", False), ("2001:db8::1/129", False)),
    ],
)
def test_prefixes_of_8_to_32_or_128_bits_are_taken(virtual: Make, prefix: str, taken: bool) -> None:
    gateway = virtual()
    host = gateway.host(1)
    address, _, bits = prefix.partition("/")
    item = bytearray(wire.transfer(f"{address}/{128 if ':' in address else 32}", 1000))
    item[1] = int(bits)
    gateway.give(host.report(bytes(item)))
    assert gateway.counters().get("wrong_prefix", 0) == (not taken) and gateway.size()[0] == taken


def test_a_message_has_1_to_22_reports_or_1_to_12_prefixes_in_at_most_1200_bytes(virtual: Make) -> None:
    gateway = virtual()
    host = gateway.host(1)
    report, prefix = wire.transfer(PREFIX, 1000), wire.prefix_item(PREFIX)
    gateway.give(host.report(*22 * [report]))
    assert len(wire.responses(host.opened(gateway.give(host.message(wire.QUERY, 12 * prefix)))[1])) == 12
    assert gateway.counters()["reports"] == gateway.counters()["queries"] == 1
    for body in (b"", report[:-1], report + prefix):
        gateway.give(host.message(wire.REPORT, body))
    for body in (b"", 13 * prefix, prefix[:-1]):
        gateway.give(host.message(wire.QUERY, body))
    assert gateway.counters()["wrong_length"] == 6
    for size, cause in ((47, "too_short"), (48, "wrong_length"), (1200, "wrong_length"), (1201, "too_long")):
        before = gateway.counters().get(cause, 0)
        message = host.message(wire.REPORT, bytes(max(0, size - 48)))
        gateway.give(message[:47] if size == 47 else message)
        assert gateway.counters()[cause] == before + 1, size
    assert gateway.counters()["reports"] == gateway.counters()["queries"] == 1


@pytest.mark.parametrize(
    ("cause", "at", "value"),
    [
        ("wrong_prefix", 0, 5),  # family
        ("wrong_prefix", 1, 33),  # bits
        ("wrong_prefix", 1, 7),
        ("wrong_prefix", 7, 1),  # a bit behind the length
        ("wrong_prefix", 19, 1),
        ("wrong_kind", 2, 4),
        ("reserved_bits", 3, 1),
    ],
)
def test_prefixes_and_kinds_that_are_none_are_refused(virtual: Make, cause: str, at: int, value: int) -> None:
    gateway = virtual()
    host = gateway.host(1)
    gateway.give(changed(host.report(wire.transfer(PREFIX, 30_000)), wire.HEADER.size + at, value, host.key))
    assert gateway.counters()[cause] == 1 and gateway.size()[0] == 0


def test_a_reporter_beyond_its_rate_is_refused_and_others_are_not(virtual: Make) -> None:
    gateway = virtual(
        "[limits]\nmessages_per_second = 100\nmessage_burst = 50\nhellos_per_second = 1\nhello_burst = 3\n"
    )
    loud, quiet = gateway.host(1), gateway.host(2)
    for _ in range(80):
        gateway.give(loud.report(wire.transfer(PREFIX, 1000)))
    assert gateway.counters()["rate_limited"] == 30
    gateway.report(quiet, wire.transfer(PREFIX, 1000))
    gateway.at(1000.1)
    for _ in range(20):
        gateway.give(loud.report(wire.transfer(PREFIX, 1000)))
    assert gateway.counters()["rate_limited"] == 40, "a tenth of a second gives ten more"
    before = gateway.counters()["hellos"]
    for _ in range(9):
        gateway.give(loud.challenged(gateway.give(loud.hello())))
    assert gateway.counters()["hellos"] - before == 2


def test_a_message_costs_as_many_as_it_has_items(virtual: Make) -> None:
    gateway = virtual("[limits]\nmessages_per_second = 100\nmessage_burst = 50\n")
    host = gateway.host(1)
    for _ in range(3):
        gateway.give(host.report(*[wire.transfer(PREFIX, 1000)] * 22))
    assert (gateway.counters()["reports"], gateway.counters()["rate_limited"]) == (2, 1)
    gateway.request(host, *[PREFIX] * 6)
    assert gateway.give(host.query(PREFIX)) == b"" and gateway.counters()["rate_limited"] == 2


def test_recorded_hellos_cost_their_reporter_nothing_and_bring_no_welcome(virtual: Make) -> None:
    """Played in a circle from another address: all that a host has said in some weeks, cookies and all."""
    gateway = virtual()
    host = wire.Host(SITE_KEY, 1, stamp=gateway.now // 10**6)
    recorded = []
    for _ in range(300):
        recorded.append(host.hello())
        recorded.append(host.challenged(gateway.give(recorded[-1], "home")))
    host.welcomed(gateway.give(recorded[-1], "home"))
    gateway.report(host, wire.transfer(PREFIX, 1000))
    restarted = 0
    for step in range(6000):
        gateway.at(1000 + step / 100)
        if step % 1000 == 999:
            gateway.report(host, wire.transfer(PREFIX, 1000))
            gateway.hello(wire.Host(SITE_KEY, 1))
            restarted += 1
        response = gateway.give(recorded[step % 600], "elsewhere")
        assert host.opened(response)[0] == wire.CHALLENGE and len(response) <= len(recorded[0])
    assert gateway.give(recorded[-1], "home"), "the cookie is too old at home too"
    counters = gateway.counters()
    assert counters["hellos"] == 1 + restarted == counters["sessions"] and counters["reports"] == 1 + restarted
    assert "rate_limited" not in counters and "evicted_sessions" not in counters


def test_a_cookie_is_of_one_reporter_nonce_and_address_and_lives_ten_seconds(virtual: Make) -> None:
    gateway = virtual()
    host, other = wire.Host(SITE_KEY, 1), wire.Host(SITE_KEY, 2)
    hello = host.challenged(gateway.give(host.hello(), "home"))
    cookie = struct.unpack(">Q", hello[-24:-16])[0]
    for wrong in (other.hello(host.nonce, cookie), host.hello(host.nonce + 1, cookie)):
        assert gateway.give(wrong, "home")[3] == wire.CHALLENGE
    assert gateway.give(hello, "elsewhere")[3] == wire.CHALLENGE
    assert gateway.give(hello, "home")[3] == wire.WELCOME
    assert gateway.give(hello, "home") == b"" and gateway.counters()["replayed"] == 1
    hello = host.challenged(gateway.give(host.hello(), "home"))
    gateway.at(1010)
    assert gateway.give(hello, "home")[3] == wire.CHALLENGE


def test_another_gateway_has_other_cookies(virtual: Make) -> None:
    """So one that was recorded before a restart is none after it."""
    hello = wire.Host(SITE_KEY, 1).hello(7)
    assert len({virtual().give(hello, "home") for _ in range(3)}) == 3


def test_a_sessions_first_message_is_measured_from_its_hello(virtual: Make) -> None:
    gateway = virtual()
    host = gateway.host(1)
    held = host.report(wire.transfer(PREFIX, 900_000))
    gateway.at(1010.1)
    assert gateway.give(held) == b"" and gateway.counters()["stale"] == 1
    gateway.report(host, wire.transfer(PREFIX, 10_000))
    assert gateway.counters()["reports"] == 1


@pytest.mark.parametrize("days", [1, 24.9, 25, 30, 49])
def test_a_message_that_was_held_for_days_is_stale(virtual: Make, days: float) -> None:
    """Stamps have 32 bits of ms: half of that is 24.9 days."""
    gateway = virtual()
    host = gateway.host(1)
    gateway.report(host, wire.transfer(PREFIX, 10_000))
    held = host.report(wire.transfer(PREFIX, 900_000))
    gateway.at(1000 + days * 86_400)
    gateway.give(held)
    assert gateway.counters()["reports"] == 1


def test_a_session_that_is_silent_for_ten_minutes_ends_and_takes_no_memory(virtual: Make) -> None:
    gateway = virtual()
    silent, busy = gateway.host(1), gateway.host(2)
    for minute in range(1, 11):
        gateway.at(1000 + 60 * minute)
        gateway.report(busy, wire.transfer(PREFIX, 1000))
    gateway.at(1600.5)
    assert silent.opened(gateway.give(silent.report(wire.transfer(PREFIX, 9000))))[0] == wire.REFUSAL
    gateway.report(busy, wire.transfer(PREFIX, 1000))
    gateway.sweep()
    assert (gateway.counters()["sessions"], gateway.counters()["reporters"]) == (1, 1)


def test_sessions_are_bounded_by_memory_and_a_reporter_loses_only_its_own(virtual: Make) -> None:
    gateway = virtual("[store]\nmegabytes = 1\n[limits]\nhellos_per_second = 1000000\nhello_burst = 1000000\n")
    quiet = gateway.host(1)
    fitting = 0
    for reporter in range(2, 2000):
        host = wire.Host(SITE_KEY, reporter, stamp=gateway.now // 10**6)
        if gateway.give(host.challenged(gateway.give(host.hello()))) == b"":
            break
        fitting += 1
    assert 300 < fitting < 1900 and gateway.counters()["rate_limited"] == 1
    gateway.hello(again := wire.Host(SITE_KEY, 5))
    assert gateway.counters()["evicted_sessions"] == 1, "its own before this one"
    for host in (quiet, again):
        gateway.report(host, wire.transfer(PREFIX, 1000))
    gateway.at(1700)
    gateway.hello(wire.Host(SITE_KEY, 3000))
    assert gateway.counters()["sessions"] == 1


def test_two_keys_are_valid_at_once_and_a_denied_reporter_has_none(virtual: Make) -> None:
    other = bytes(31) + b"\1"
    gateway = virtual(key_lines=f"key 2 {other.hex()}\ndeny 5\n")
    gateway.report(gateway.host(1), wire.transfer(PREFIX, 30_000))
    gateway.report(gateway.host(2, other, 2), wire.transfer(PREFIX, 30_000))
    assert gateway.give(wire.Host(SITE_KEY, 5).hello()) == b""
    assert gateway.give(wire.Host(other, 1, key_id=1).hello()) == b"", "a key of another number"
    assert gateway.counters()["denied_reporter"] == 1 and gateway.counters()["forged"] == 1


def test_the_session_used_least_recently_makes_place(virtual: Make) -> None:
    gateway = virtual("[limits]\nsessions = 2\n")
    first, second = gateway.host(1), gateway.host(1)
    gateway.report(second, wire.transfer(PREFIX, 1000))
    gateway.report(first, wire.transfer(PREFIX, 1000))
    third = gateway.host(1)
    gateway.report(first, wire.transfer(PREFIX, 1000))
    gateway.report(third, wire.transfer(PREFIX, 1000))
    assert second.opened(gateway.give(second.report(wire.transfer(PREFIX, 1000))))[0] == wire.REFUSAL
    assert gateway.counters()["evicted_sessions"] == 1 and gateway.counters()["sessions"] == 2
