# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The connection of BBR (draft-ietf-ccwg-bbr) and its samples of the delivery rate (4.1), in floats: bytes and seconds."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf


@dataclass
class Packet:
    """P of 4.1.2.1.2."""

    number: int
    size: int
    send_time: float
    first_send_time: float
    delivered_time: float
    delivered: float
    is_app_limited: bool
    tx_in_flight: float
    lost: float


@dataclass
class RateSample:
    """RS of 4.1.2.1.3. Without data nothing was delivered that has a packet."""

    has_data: bool = False
    delivery_rate: float = 0.0
    delivered: float = 0.0
    interval: float = 0.0
    prior_delivered: float = 0.0
    is_app_limited: bool = False
    tx_in_flight: float = 0.0
    lost: float = 0.0
    newly_acked: float = 0.0
    rtt: float | None = None


@dataclass
class Connection:
    """C of 2.2 and 4.1.2.1.1, and the sampling of 4.1.2."""

    smss: int
    initial_cwnd: float
    cwnd: float = 0.0
    pacing_rate: float = 0.0
    inflight: float = 0.0
    delivered: float = 0.0
    delivered_time: float = 0.0
    first_send_time: float = 0.0
    lost: float = 0.0
    app_limited: float = 0.0
    min_rtt: float = inf
    srtt: float = 0.0
    has_selective_acks: bool = True
    is_cwnd_limited: bool = False
    in_loss_recovery: bool = False
    _sent: int = 0

    def __post_init__(self) -> None:
        self.cwnd = self.initial_cwnd

    def on_packet_sent(self, size: int, now: float) -> Packet:
        if self.inflight == 0:
            self.first_send_time = self.delivered_time = now
        self.inflight += size
        self._sent += 1
        times = (now, self.first_send_time, self.delivered_time)
        return Packet(self._sent, size, *times, self.delivered, self.app_limited != 0, self.inflight, self.lost)

    def on_ack(self, acked: list[Packet], now: float) -> RateSample:
        """UpdateRateSample() of each packet, then GenerateRateSample()."""
        newest: Packet | None = None
        for packet in acked:
            self.delivered += packet.size
            self.inflight -= packet.size
            self.delivered_time = now
            if newest is None or (packet.send_time, packet.number) > (newest.send_time, newest.number):
                newest = packet
        if self.app_limited and self.delivered > self.app_limited:
            self.app_limited = 0
        sample = RateSample(newly_acked=sum(packet.size for packet in acked))
        if newest is None:
            return sample
        self.first_send_time = newest.send_time
        sample.has_data, sample.rtt = True, now - newest.send_time
        self.min_rtt = min(self.min_rtt, sample.rtt)
        sample.interval = max(newest.send_time - newest.first_send_time, now - newest.delivered_time)
        sample.prior_delivered, sample.delivered = newest.delivered, self.delivered - newest.delivered
        sample.is_app_limited, sample.tx_in_flight = newest.is_app_limited, newest.tx_in_flight
        sample.lost = self.lost - newest.lost
        if sample.interval and sample.interval >= self.min_rtt:
            sample.delivery_rate = sample.delivered / sample.interval
        return sample

    def mark_app_limited(self) -> None:
        self.app_limited = max(self.delivered + self.inflight, 1)
