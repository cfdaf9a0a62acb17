# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Request and response of BBR's unit, in the units of model.py."""

from __future__ import annotations

from dataclasses import dataclass

from sim.golden.congestion.packed_fields import PackedFields

VOLUME_BITS = 31
NO_RTT = (1 << 36) - 1
MANTISSA_BITS = 25


@dataclass(frozen=True)
class Request(PackedFields):
    """An ACK with a sample."""

    opens: int = 0  # the connection's first
    undone: int = 0  # the last recovery was spurious
    timed_out: int = 0  # since the last request
    restarted: int = 0  # from idle, since the last request
    recovering: int = 0  # by duplicate ACKs
    selective: int = 1  # the peer sends SACK
    cwnd_limited: int = 0
    app_limited: int = 0
    initial_window: int = 10  # segments
    segment_size: int = 0
    delivered: int = 0  # total, after the ACK
    prior_delivered: int = 0  # total, when the sample's segment left
    interval: int = 0  # zero: no rate
    lost: int = 0  # total, after the ACK
    prior_lost: int = 0  # total, when the sample's segment left
    tx_in_flight: int = 0
    in_flight: int = 0
    cwnd: int = 0
    rtt: int = NO_RTT
    now: int = 0

    FIELDS = (
        ("opens", 1),
        ("undone", 1),
        ("timed_out", 1),
        ("restarted", 1),
        ("recovering", 1),
        ("selective", 1),
        ("cwnd_limited", 1),
        ("app_limited", 1),
        ("initial_window", 8),
        ("segment_size", 16),
        ("delivered", 32),
        ("prior_delivered", 32),
        ("interval", 36),
        ("lost", 32),
        ("prior_lost", 32),
        ("tx_in_flight", VOLUME_BITS),
        ("in_flight", VOLUME_BITS),
        ("cwnd", VOLUME_BITS),
        ("rtt", 36),
        ("now", 48),
    )


@dataclass(frozen=True)
class Response(PackedFields):
    """The window, and ns for each byte with 32 fraction bits as mantissa x 2^exponent."""

    cwnd: int = 0
    mantissa: int = 0
    exponent: int = 0

    FIELDS = (("cwnd", VOLUME_BITS), ("mantissa", MANTISSA_BITS), ("exponent", 5))

    @property
    def spacing(self) -> int:
        return self.mantissa << self.exponent
