# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Starts of a new connection by each method, where nothing is known, and after bad reports."""

from __future__ import annotations

from collections.abc import Callable
from ctypes import CDLL, byref, create_string_buffer
from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address

import pytest
from downbeat_toe.estimator import Address, Cause, Estimator, Method, Options, Pace, Phase, Report, Request
from downbeat_toe.estimator.structures import CAddress
from downbeat_toe.refused import Refused
from hypothesis import given, settings
from hypothesis import strategies as st

HERE, BESIDE, ELSEWHERE = IPv4Address("192.0.2.1"), IPv4Address("192.0.2.200"), IPv4Address("198.51.100.1")
SECOND, SIZE = 10**9, 1000
Make = Callable[..., Estimator]
STEADY = Report(SECOND, 1, HERE, 20 * SIZE, SIZE, Phase.AVOIDANCE, smoothed_rtt=SECOND // 10, smallest_rtt=SECOND // 10)


def opened(estimator: Estimator, *names: int, remote: IPv4Address = HERE) -> None:
    for name in names:
        assert estimator.open(0, name, remote) is Cause.NONE


def request(method: Method, **changed: object) -> Request:
    return replace(Request(BESIDE, method, segment_size=SIZE), **changed)  # type: ignore[arg-type]


def test_nothing_known_is_standard_slow_start_and_says_so(make: Make) -> None:
    for method in Method:
        cause, start = make().request(0, request(method))
        assert cause is Cause.NONE and not start.known and start.initial_window == 1
        assert (start.ssthresh, start.pace, start.gap, start.until) == (0, Pace.NONE, 0, 0)
        assert "known" in start.reason or "no saved" in start.reason


def test_the_oldest_steady_connection_is_the_one_established_first(make: Make) -> None:
    estimator = make()
    opened(estimator, 1, 2, 3)
    estimator.report(replace(STEADY, connection=3, cwnd=30 * SIZE))
    estimator.report(replace(STEADY, connection=2, cwnd=31 * SIZE))
    start = estimator.request(SECOND, request(Method.LISS))[1]
    assert start.reason.startswith("2 steady connections, oldest w = 31.00")
    estimator.report(replace(STEADY, connection=1, phase=Phase.STARTUP))
    estimator.close(SECOND, 2)
    state = estimator.prefix(SECOND, HERE)
    assert state and (state.oldest, state.steady, state.starting, state.starting_sum) == (3, 1, 1, 20 << 16)
    estimator.report(replace(STEADY, connection=3, phase=Phase.STARTUP, restarts=1))  # idle restart: not steady
    assert not estimator.request(SECOND, request(Method.LISS))[1].known


def test_recovery_counts_as_steady_with_ssthresh_for_its_window(make: Make) -> None:
    estimator = make()
    opened(estimator, 1)
    estimator.report(replace(STEADY, phase=Phase.RECOVERY, cwnd=23 * SIZE, ssthresh=10 * SIZE))
    assert estimator.request(SECOND, request(Method.LISS))[1].ssthresh == 5 * SIZE


def test_a_connection_does_not_count_itself(make: Make) -> None:
    estimator = make()
    opened(estimator, 1)
    estimator.report(STEADY)
    assert estimator.request(SECOND, request(Method.LISS))[1].known
    assert not estimator.request(SECOND, request(Method.LISS, connection=1, remote=HERE))[1].known


def test_a_silent_connection_stops_counting(make: Make) -> None:
    estimator = make(live=2 * SECOND)
    opened(estimator, 1)
    estimator.report(STEADY)
    assert estimator.request(3 * SECOND, request(Method.LISS))[1].known
    assert not estimator.request(3 * SECOND + 1, request(Method.LISS))[1].known


def test_js_starts_at_the_share_and_paces_it(make: Make) -> None:
    estimator = make()
    opened(estimator, 1, 2)
    for name in (1, 2):
        estimator.report(replace(STEADY, connection=name))
    start = estimator.request(SECOND, request(Method.JS, round_trip=SECOND // 5))[1]
    assert (start.initial_window, start.ssthresh, start.pace) == (13, 13333, Pace.EVEN)  # 2 * 20 / 3
    assert start.gap == SECOND // 5 // 13


def dropped(make: Make, **changed: int) -> Estimator:
    """Drops each second, the connection's own each third: vectors B of MISS."""
    estimator = make(**changed)
    opened(estimator, 1, 2)
    own, other = replace(STEADY, loss_window=20 * SIZE), replace(STEADY, connection=2, loss_window=20 * SIZE)
    for second in range(7):
        before = own if second % 3 == 0 else other
        after = replace(before, time=second * SECOND + SECOND, losses=before.losses + 1)
        after = replace(after, loss_time=after.time)
        assert estimator.report(after) is Cause.NONE
        own, other = (after, other) if second % 3 == 0 else (own, after)
    return estimator


def test_miss_gives_what_the_core_computes_its_window_from(make: Make) -> None:
    estimator = dropped(make)
    start = estimator.request(7_250_000_000, request(Method.MISS, round_trip=SECOND // 10))[1]
    assert (start.initial_window, start.pace, start.miss_rate, start.miss_next) == (1, Pace.NONE, 3 << 8, 8 * SECOND)
    assert start.ssthresh == 13333  # LISS's
    late = estimator.request(8 * SECOND, request(Method.MISS))[1]
    assert late.known and (late.miss_rate, late.miss_next) == (0, 0) and "overdue" in late.reason


def test_miss_is_capped_by_what_is_known(make: Make) -> None:
    assert (
        dropped(make, cap_to_known=1).request(7_250_000_000, request(Method.MISS))[1].miss_cap == 40
    )  # 2 windows of 20


def test_drops_of_a_prefix_within_a_round_trip_are_one(make: Make) -> None:
    """The next of `dropped` is due at 8 s; both connections lose then, a tenth of a second apart, and one again."""
    estimator = dropped(make)
    before, tenth = estimator.prefix(8 * SECOND, HERE), SECOND // 10
    assert before
    for name, losses, after, counted, last in ((2, 5, 0, 1, 0), (1, 5, tenth - 1, 1, 0), (2, 6, tenth, 2, tenth)):
        time = 8 * SECOND + after
        report = replace(STEADY, connection=name, time=time, losses=losses, loss_time=time, loss_window=20 * SIZE)
        assert estimator.report(replace(report, smoothed_rtt=tenth)) is Cause.NONE
        state = estimator.prefix(time, HERE)
        assert state and (state.drops, state.last_drop) == (before.drops + counted, 8 * SECOND + last)


def test_a_final_window_has_the_fraction_that_avoidance_has_earned(make: Make) -> None:
    """Two transfers of 9.75 segments each: the mean is floored once."""
    estimator = make()
    opened(estimator, 1, 2)
    assert estimator.report(replace(STEADY, growth=16)) is Cause.WINDOW
    for name in (1, 2):
        report = replace(STEADY, connection=name, cwnd=9 * SIZE, acked=30 * SIZE, acks=30, growth=12)
        assert estimator.report(report) is Cause.NONE
        estimator.close(SECOND, name)
    state = estimator.prefix(SECOND, HERE)
    assert state and state.spand_window == 9 * 256 + 192


def test_the_ack_of_a_short_segment_and_of_the_fin_are_of_segments(make: Make) -> None:
    """30 segments, the last short, and a FIN, an ACK for each: b is 1, not the 2 of a connection that said nothing."""
    estimator = make()
    opened(estimator, 1)
    assert estimator.report(replace(STEADY, acked=29 * SIZE + 701, acks=30)) is Cause.NONE
    estimator.close(SECOND, 1)
    state = estimator.prefix(SECOND, HERE)
    assert state and state.acks_ratio == 256


def test_spand_takes_the_window_of_figure_4(make: Make) -> None:
    estimator = make()
    estimator.transfer(0, HERE, 10 << 8, SECOND // 10, segments=100, acks=100)
    start = estimator.request(0, request(Method.SPAND, transfer_bytes=11 * SIZE))[1]
    assert (start.initial_window, start.ssthresh, start.pace) == (5, 5 * SIZE, Pace.BUCKET)
    assert start.gap == SECOND // 10 // 5
    unshifted = make(spand_shift=0)
    unshifted.transfer(0, HERE, 10 << 8, SECOND // 10, segments=100, acks=100)
    assert unshifted.request(0, request(Method.SPAND, transfer_bytes=10 * SIZE + 1))[1].initial_window == 9


def test_spand_forgets_after_five_minutes(make: Make) -> None:
    estimator = make()
    estimator.transfer(0, HERE, 10 << 8, SECOND // 10)
    assert estimator.request(299 * SECOND, request(Method.SPAND))[1].known
    assert not estimator.request(300 * SECOND, request(Method.SPAND))[1].known


def test_spand_gets_a_segment_less_than_the_window_that_was_lost(make: Make) -> None:
    estimator = make()
    opened(estimator, 1)
    lost = replace(STEADY, losses=1, loss_time=SECOND, loss_window=13 * SIZE, loss_in_avoidance=1)
    estimator.report(replace(lost, acked=90 * SIZE, acks=45))
    estimator.close(SECOND, 1)  # no report by its end: the transfer had a loss
    state = estimator.prefix(SECOND, HERE)
    assert state and (state.spand_reports, state.spand_window, state.spand_rtt) == (1, 12 << 8, SECOND // 10)


@pytest.mark.parametrize(("start", "end"), [(28, 16.9), (15, 12), (11, 12), (10, 10), (9, 10), (8, 9), (30, 31)])
def test_the_ratchet_of_lossless_transfers(make: Make, start: int, end: float) -> None:
    """A transfer of 30 segments without loss (b = 1) reports its last window: the mean falls and stays."""
    estimator = make()
    estimator.transfer(0, HERE, start << 8, SECOND // 10, segments=100, acks=100)
    window = float(estimator.request(0, request(Method.SPAND, transfer_bytes=30 * SIZE))[1].initial_window)
    for _ in range(30):  # congestion avoidance: 1/w an ACK
        window += 1 / window
    assert window == pytest.approx(end, abs=0.25)


def test_a_lower_bound_does_not_lower_the_mean(make: Make) -> None:
    for bound, mean in ((0, 15), (1, 20)):
        estimator = make(spand_lower_bound=bound)
        estimator.transfer(0, HERE, 20 << 8, SECOND // 10)
        estimator.transfer(0, HERE, 10 << 8, SECOND // 10, final=True)
        state = estimator.prefix(0, HERE)
        assert state and state.spand_window == mean << 8


def used_well(make: Make, **changed: int) -> Estimator:
    """100 kB acknowledged in each round trip of a window of 120."""
    estimator = make(**changed)
    opened(estimator, 1, 2)
    for count in range(1, 4):
        time, acked = count * SECOND // 10, count * 100 * SIZE
        estimator.report(replace(STEADY, time=time, cwnd=120 * SIZE, acked=acked, acks=count * 50))
    return estimator


def test_careful_resume_jumps_to_half_of_what_was_delivered(make: Make) -> None:
    start = used_well(make).request(SECOND, request(Method.RESUME, remote=HERE))[1]  # RFC 9959 3.1, 3.3
    assert (start.saved_window, start.jump, start.saved_rtt) == (100 * SIZE, 50 * SIZE, SECOND // 10)
    assert start.initial_window == 1 and start.ssthresh == 0
    bounded = used_well(make, resume_maximum_jump=20).request(SECOND, request(Method.RESUME, remote=HERE))[1]
    assert bounded.jump == 20 * SIZE  # RFC 9959 2.4


def test_saved_parameters_are_of_one_endpoint(make: Make) -> None:
    assert not used_well(make).request(SECOND, request(Method.RESUME, remote=BESIDE))[1].known  # RFC 9959 3.1


def test_saved_parameters_have_a_lifetime(make: Make) -> None:
    estimator = used_well(make, resume_lifetime=10 * SECOND)  # RFC 9959 2.4
    asked, last = request(Method.RESUME, remote=HERE), 3 * SECOND // 10
    assert estimator.request(last + 10 * SECOND, asked)[1].known
    assert "lifetime" in estimator.request(last + 10 * SECOND + 1, asked)[1].reason


def test_saved_parameters_go_to_one_connection_at_a_time(make: Make) -> None:
    estimator = used_well(make)  # RFC 9959 3.2
    asked = request(Method.RESUME, remote=HERE)
    assert estimator.take(SECOND, asked)[0] is Cause.UNKNOWN
    assert estimator.take(SECOND, replace(asked, connection=2))[1].known
    assert not estimator.request(SECOND, replace(asked, connection=1))[1].known
    estimator.close(SECOND, 2)
    assert estimator.request(SECOND, replace(asked, connection=1))[1].known


def test_saved_parameters_go_after_a_retreat(make: Make) -> None:
    estimator = used_well(make)  # RFC 9959 3.5
    estimator.report(replace(STEADY, connection=2, retreats=1))
    assert not estimator.request(SECOND, request(Method.RESUME, remote=HERE))[1].known


def test_too_small_a_window_is_not_saved(make: Make) -> None:
    estimator = used_well(make, initial_window=26)  # RFC 9959 3.1: four initial windows
    assert "no saved" in estimator.request(SECOND, request(Method.RESUME, remote=HERE))[1].reason


BAD = {
    Cause.FUTURE: {"time": 5 * SECOND},
    Cause.STALE: {"time": SECOND // 2},
    Cause.UNKNOWN: {"connection": 9},
    Cause.OTHER_PATH: {"remote": ELSEWHERE},
    Cause.SEGMENT: {"segment_size": 63},
    Cause.WINDOW: {"cwnd": 0},
    Cause.ROUND_TRIP: {"smoothed_rtt": 60 * SECOND + 1},
    Cause.PHASE: {"phase": 3},
    Cause.LOSS: {"losses": 1, "loss_time": 2 * SECOND, "loss_window": SIZE},
    Cause.COUNTER: {"acked": 1 << 62},
}


@pytest.mark.parametrize("cause", BAD)
def test_a_bad_report_changes_nothing_and_is_counted(make: Make, cause: Cause) -> None:
    estimator = make()
    opened(estimator, 1)
    estimator.report(STEADY)
    before = estimator.prefix(SECOND, HERE)
    assert estimator.report(replace(STEADY, **BAD[cause]), now=SECOND) is cause  # type: ignore[arg-type]
    assert estimator.prefix(SECOND, HERE) == before
    assert [each for each in Cause if estimator.refused(each)] == [cause]


def test_an_awnd_above_the_cap_and_a_loss_from_before_the_open_are_refused(make: Make) -> None:
    estimator = make()
    assert estimator.open(SECOND, 1, HERE) is Cause.NONE
    assert estimator.report(replace(STEADY, average_window=1 << 63)) is Cause.WINDOW
    assert estimator.report(replace(STEADY, losses=1, loss_time=SECOND - 1, loss_window=SIZE)) is Cause.LOSS


def test_a_transfers_window_is_one_to_the_largest(make: Make) -> None:
    estimator = make()
    largest = 65_535 << 8
    assert estimator.transfer(0, HERE, largest, SECOND // 10) is Cause.NONE
    assert estimator.transfer(0, HERE, 1, SECOND // 10) is Cause.NONE
    for window in (0, largest + 1):
        assert estimator.transfer(0, HERE, window, SECOND // 10) is Cause.WINDOW


def test_what_no_field_holds_is_a_python_error(make: Make) -> None:
    estimator = make()
    opened(estimator, 1)
    for value in (float("nan"), -1, 1 << 32):
        with pytest.raises(ValueError, match="cwnd is"):
            estimator.report(replace(STEADY, cwnd=value))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="is not a time"):
        estimator.open(-1, 2, HERE)


def test_the_longest_rule_names_the_prefix(make: Make) -> None:
    estimator = make()
    estimator.rules("192.0.0.0/16 # a site\n\n192.0.2.128/25\n2001:db8::/40\n")
    addresses: list[Address] = [HERE, BESIDE, ELSEWHERE, *map(IPv6Address, ("2001:db8::1", "2001:db9::1"))]
    for name, remote in enumerate(addresses, 1):
        estimator.open(0, name, remote)
    found = {f"{state.address}/{state.bits}" for state in estimator.prefixes(0)}
    assert found == {"192.0.0.0/16", "192.0.2.128/25", "198.51.100.0/24", "2001:db8::/40", "2001:db9::/64"}
    with pytest.raises(Refused, match="line 2"):
        make().rules("10.0.0.0/8\n10.0.0.1/8\n")


def test_what_is_saved_comes_back_older(make: Make) -> None:
    estimator = used_well(make)
    estimator.transfer(SECOND, HERE, 10 << 8, SECOND // 10, segments=30, acks=20)
    text, after = estimator.save(SECOND), make()
    assert after.load(1000 * SECOND, text, elapsed=20 * SECOND) is Cause.NONE
    state = after.prefix(1000 * SECOND, HERE)
    assert state and (state.spand_window, state.acks_ratio) == (10 << 8, 384)
    assert "20 s ago" not in text and after.request(1000 * SECOND, request(Method.RESUME, remote=HERE))[1].known
    assert after.save(1000 * SECOND).splitlines()[0] == text.splitlines()[0]
    late = make()
    late.load(5000 * SECOND, text, elapsed=4000 * SECOND)
    assert late.save(5000 * SECOND).count("\n") == 1


@pytest.mark.parametrize(
    "line",
    [
        "spand 192.0.2.0/24 0 1 99999999999 1 0 0",
        "spand 192.0.2.1/24 0 1 2560 1 0 0",
        "spand 192.0.2.0/24 0 4294967297 2560 1 0 0",
        "spand 192.0.2.0/24 -1 1 2560 1 0 0",
        "spand 192.0.2.0/24 0 1 2560 1 4294967296 0",
        "resume 192.0.2.1 0 0 1",
        "resume 192.0.2.1 0 100000 60000000001",
        "resume 127.0.0.1 0 100000 1000",
        "anything",
    ],
)
def test_a_bad_line_of_a_saved_table_is_counted(make: Make, line: str) -> None:
    estimator = make()
    assert estimator.load(SECOND, f"downbeat-estimator 1\n{line}\n") is Cause.NONE
    assert estimator.refused(Cause.ARGUMENT) == 1
    assert estimator.save(SECOND).count("\n") == 1
    assert estimator.load(SECOND, "downbeat-estimator 2\n") is Cause.ARGUMENT


def test_a_full_table_refuses_and_an_unused_prefix_makes_place(make: Make) -> None:
    estimator = make(prefixes=1, connections=2)
    opened(estimator, 1, 2)
    assert estimator.open(0, 3, HERE) is Cause.FULL
    estimator.close(0, 2)
    assert estimator.open(0, 3, ELSEWHERE) is Cause.FULL
    estimator.close(0, 1)
    assert estimator.open(0, 3, ELSEWHERE) is Cause.NONE


def test_memory_is_by_the_options(make: Make) -> None:
    """A record of each kind has at most 2 KiB with its share of the index; nothing grows with what is known."""
    small = {"prefixes": 100, "connections": 100, "endpoints": 100}
    smallest = make(**small).memory
    for name in small:
        more = make(**small | {name: 10_100}).memory - smallest
        assert 10_000 * 8 < more < 10_000 * 2048, name
    assert smallest < 1 << 20


def test_options_out_of_range_are_refused(make: Make) -> None:
    for name, value in {"prefixes": 0, "prefix_bits": 33, "maximum_window": 65_536, "miss_weight": 3}.items():
        with pytest.raises(Refused, match=name):
            make(**{name: value})


@settings(max_examples=40, deadline=None)
@given(
    windows=st.lists(st.integers(1, 65_535), min_size=1, max_size=8),
    size=st.sampled_from([64, 536, 1460, 65_535]),
    asked=st.sampled_from([64, 536, 1460, 65_535]),
    transfer=st.integers(0, (1 << 64) - 1),
    round_trip=st.integers(0, 60 * SECOND),
    since=st.integers(0, 3 * SECOND),
)
def test_no_window_is_above_its_caps(
    windows: list[int], size: int, asked: int, transfer: int, round_trip: int, since: int
) -> None:
    estimator = Estimator(Options(changed={"maximum_window": 30_000}))
    for name, window in enumerate(windows, 1):
        estimator.open(0, name, HERE)
        report = Report(1, name, HERE, min(window * size, (1 << 32) - 1), size, Phase(name % 2), smoothed_rtt=SECOND)
        for time in (SECOND, SECOND + 10**6):
            cut = {"losses": time // 10**6 % 256, "loss_time": time, "loss_window": report.cwnd, "loss_in_avoidance": 1}
            estimator.report(replace(report, time=time, **cut))  # type: ignore[arg-type]
    for method in Method:
        now, wanted = SECOND + 10**6 + since, Request(HERE, method, transfer, round_trip, 0, asked)
        start = estimator.request(now, wanted)[1]
        known = sum(window for window in windows if window <= 30_000)
        assert 1 <= start.initial_window <= max(10, min(known, 30_000))
        assert start.ssthresh <= max(2, min(known, 30_000)) * asked
        assert start.until == 0 if not start.known else start.until <= now + SECOND


@pytest.mark.parametrize(
    "text", ["192.0.2.1", "2001:db8::1", "2001:db8:1234:5678:9abc:def0:1234:5678", "255.255.255.255", "::"]
)
def test_an_address_is_its_text_again_in_at_most_46_characters(library: CDLL, text: str) -> None:
    address, written = CAddress(), create_string_buffer(b"x" * 60, 64)
    assert library.downbeat_address_parse(text.encode(), byref(address)) == 0
    library.downbeat_address_text(byref(address), written)
    assert written.value == text.encode() and written.raw[46:61] == b"x" * 14 + b"\0"
