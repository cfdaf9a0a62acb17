# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Sources of stamps, and when two of them make a delay."""

from __future__ import annotations

import struct

import pytest
from downbeat_toe.gap import live, stamping
from downbeat_toe.gap.stamping import RAW_HARDWARE, RX_HARDWARE, TX_HARDWARE, Clock, Offer
from downbeat_toe.refused import Refused


def test_hardware_stamps_count_only_if_every_frame_gets_one() -> None:
    flags = TX_HARDWARE | RX_HARDWARE | RAW_HARDWARE
    assert Offer(flags, 0, 0b10, 0b10).hardware()
    for lacking in (
        Offer(flags, -1, 0b10, 0b10),  # no clock
        Offer(flags & ~TX_HARDWARE, 0, 0b10, 0b10),
        Offer(flags, 0, 0b01, 0b10),  # transmission: off alone
        Offer(flags, 0, 0b10, 0b1000),  # reception: PTP's own frames alone
    ):
        assert not lacking.hardware()


@pytest.mark.parametrize(
    ("rx_filters", "says"),
    [(0b10, "hardware, raw, of the NIC's clock /dev/ptp3"), (0b1000, "software, of the system's clock")],
)
def test_what_the_kernel_tells_of_a_nic_decides(monkeypatch: pytest.MonkeyPatch, rx_filters: int, says: str) -> None:
    """struct ethtool_ts_info of <linux/ethtool.h>; switched on by struct hwtstamp_config, or left alone."""
    asked = []

    def answer(_: str, command: int, words: bytes) -> bytes:
        asked.append((command, words))
        flags = TX_HARDWARE | RX_HARDWARE | RAW_HARDWARE
        return struct.pack("IIiI3II3I", 0x41, flags, 3, 0b10, 0, 0, 0, rx_filters, 0, 0, 0)

    monkeypatch.setattr(stamping, "_request", answer)
    assert str(stamping.clock("eth1")).startswith(says)
    assert asked[0][0] == 0x8946 and struct.unpack_from("I", asked[0][1]) == (0x41,)
    assert asked[1:] == ([(0x89B0, struct.pack("iii", 0, 1, 1))] if rx_filters == 0b10 else [])


def test_an_interface_without_a_clock_says_so() -> None:
    assert str(stamping.clock("lo")).startswith("software, of the system's clock (lo offers no hardware stamps")


def test_one_way_delay_wants_one_clock() -> None:
    first, second, system = Clock(0), Clock(1), Clock(None, "no other")
    live.require_common_time(first, Clock(0), False)
    live.require_common_time(system, Clock(None, "none either"), False)
    live.require_common_time(first, second, True)
    for received, sent in ((first, second), (first, system), (system, first), (system, None)):
        with pytest.raises(Refused, match=r"no one-way delay.*--common-time"):
            live.require_common_time(received, sent, False)
