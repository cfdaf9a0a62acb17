# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Rates, times and sizes as people write them."""

from __future__ import annotations

import pytest
from downbeat_toe.quantities import Buffer, buffer, duration, probability, rate, size


@pytest.mark.parametrize(
    "text",
    ["20Mbps", "20 Mb/s", "20000000", "20M", "0.02 Gbit/s", "20000kbps", "20Mbit", "20mbit", "20 Mbits", "20000kbit"],
)
def test_rate(text: str) -> None:
    assert rate(text) == 20_000_000


@pytest.mark.parametrize("text", ["20Mbit", "20mbit", "20 Mbits", "20000kbit", "0.02gbit/s"])
def test_rate_as_tc_and_iperf_write_it(text: str) -> None:
    assert rate(text) == 20_000_000


@pytest.mark.parametrize("text", ["40ms", "40 ms", "0.04s", "40000us", "40000000 ns"])
def test_duration(text: str) -> None:
    assert duration(text) == 40_000_000


@pytest.mark.parametrize(
    ("text", "value"), [("8MB", 8_000_000), ("64KiB", 65536), ("64 KiB", 65536), ("1.5kB", 1500), ("7", 7)]
)
def test_size(text: str, value: int) -> None:
    assert size(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1BDP", Buffer(bytes=1000)),
        ("0.5 bdp", Buffer(bytes=500)),
        ("50 packets", Buffer(packets=50)),
        ("3p", Buffer(packets=3)),
        ("2kB", Buffer(bytes=2000)),
    ],
)
def test_buffer(text: str, value: Buffer) -> None:
    assert buffer(text, 1000) == value


@pytest.mark.parametrize(("text", "value"), [("0.02", 0.02), ("2%", 0.02), ("0", 0.0)])
def test_probability(text: str, value: float) -> None:
    assert probability(text) == pytest.approx(value)


@pytest.mark.parametrize(
    ("reader", "text"),
    [(rate, "20 MB/s"), (duration, "40"), (size, "8 Mb"), (probability, "1"), (rate, "-1"), (rate, "20m")],
)
def test_nonsense_is_refused(reader: object, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        reader(text)  # type: ignore[operator]
