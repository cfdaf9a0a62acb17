# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The delivery-rate samples of a connection (draft-ietf-ccwg-bbr 4.1.2) from a log of few segments, in integers.

A place of the log is for 2^shift bytes of sequence numbers, and has the first segment that ends in it until the peer
holds that; one that was sent again, until it is acknowledged cumulatively. The shift follows the flight, so that an
eighth of the places or more are in it. It changes at most once in a round trip: numbers up to SND.MAX of then keep the
shift before. An ACK finds the place of the highest byte that it reports, cumulatively or by its first SACK block. It is
a sample if that byte is beyond all that were delivered, and if the segment of that place is delivered with it. An ACK
that only fills the first hole is a sample if the place of that segment has it. One that came sooner than the smallest
round trip is of the segment's first departure, and no sample.

    C.lost grows by the change of (lost and not sent again) + sent again
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sim.golden.congestion.seam import DeliverySample, wrap
from sim.golden.engine.protocol.sequence import since

MAX_INTERVAL = (1 << 36) - 1  # ns
SHORTEST = 11  # the smallest shift


@dataclass
class Record:
    """P. `departure`: none has come yet."""

    end: int
    delivered: int
    delivered_time: int
    first_send: int
    lost: int
    tx_in_flight: int
    app_limited: bool
    again: bool
    departure: int | None = None


@dataclass(frozen=True)
class Ack:
    """An ACK; bytes, ns."""

    edge: int  # the highest byte that it reports
    una: int  # SND.UNA and SND.MAX after it
    maximum: int
    delivered: int  # bytes that it reports as arrived, less those that it takes back
    now: int
    advanced: int = 0  # by which SND.UNA moved
    lost_now: int = 0  # lost and not sent again
    in_flight: int = 0  # PIPE after it
    cwnd: int = 0
    segment: int = 1460
    rtt_minimum: int = 1
    selective: int = 1  # the peer sends SACK


@dataclass
class DeliveryMeter:
    """One connection. `highest`: the highest byte that the peer holds; numbers modulo 2^32, times in ns."""

    highest: int = 0
    una: int = 0  # SND.UNA
    shift: int = SHORTEST
    longest: int = SHORTEST  # the largest shift
    places: int = 32
    changed_at: int = 0  # numbers up to this one have the shift before
    shift_before: int = SHORTEST
    delivered: int = 0
    delivered_time: int = 0
    first_send: int = 0
    lost: int = 0
    lost_now: int = 0  # lost and not sent again
    limited_until: int | None = None  # C.app_limited
    records: dict[int, Record] = field(default_factory=dict)

    def sent(self, end: int, length: int, maximum: int, in_flight: int, now: int, lost_now: int, again: bool) -> None:
        """A segment leaves, `again` or new. After it SND.MAX, pipe and what is lost and not sent again."""
        self.changes(lost_now, again=length if again else 0)
        if in_flight == length:
            self.first_send = self.delivered_time = now
        place = self._place(end)
        before = self.records.get(place)
        if before and before.end != end and self._stays(before, end, maximum):
            return
        totals, limited = (
            (self.delivered, self.delivered_time, self.first_send, self.lost),
            self.limited_until is not None,
        )
        self.records[place] = Record(end, *totals, in_flight, limited, again)

    def departed(self, end: int, stamp: int) -> None:
        record = self.records.get(self._place(end))
        if record is not None and record.end == end and record.departure is None:
            record.departure = stamp

    def limits(self, in_flight: int) -> None:
        """Less than a segment waits to be sent, none to be sent again, and cwnd is not full (4.1.2.4)."""
        self.limited_until = wrap(self.delivered + in_flight, 32)

    def acknowledged(self, ack: Ack) -> DeliverySample | None:
        before, reports = self.highest, since(ack.edge, self.highest) > 0
        fills = ack.advanced > 0 and not reports
        hole = wrap(ack.una - ack.advanced + ack.segment, 32)
        record = self.records.get(self._place(hole if fills else ack.edge))
        self._follow(ack)
        self.changes(ack.lost_now, ack.delivered)
        if ack.delivered > 0:
            self.delivered_time = ack.now
        self.una = ack.una
        if reports:
            self.highest = ack.edge
        if record is None or record.departure is None:
            return None
        if not (fills and record.end == hole or reports and 0 < since(record.end, before) <= since(ack.edge, before)):
            return None
        interval = max(record.departure - record.first_send, ack.now - record.delivered_time)
        self.first_send = record.departure
        if interval < ack.rtt_minimum:
            return None
        return DeliverySample(
            delivered=self.delivered,
            prior_delivered=record.delivered,
            interval=min(interval, MAX_INTERVAL),
            lost=self.lost,
            prior_lost=record.lost,
            tx_in_flight=record.tx_in_flight,
            in_flight=ack.in_flight,
            app_limited=int(record.app_limited),
            cwnd_limited=int(record.tx_in_flight + ack.segment > ack.cwnd),
            selective=ack.selective,
        )

    def changes(self, lost_now: int, delivered: int = 0, again: int = 0) -> None:
        """With every event: bytes that are lost and not sent again, that arrived, and that leave again."""
        self.delivered = wrap(self.delivered + delivered, 32)
        if self.limited_until is not None and since(self.delivered, self.limited_until) > 0:
            self.limited_until = None
        newly_lost = max(lost_now + again - self.lost_now, 0)
        self.lost, self.lost_now = wrap(self.lost + newly_lost, 32), lost_now

    def _stays(self, record: Record, end: int, maximum: int) -> bool:
        """It is in flight, unless it has the shift before and `end` has the new one."""
        gives_way = since(record.end, self.changed_at) <= 0 < since(end, self.changed_at)
        new = 0 < since(record.end, self.highest) <= since(maximum, self.highest)
        repairs = record.again and since(record.end, self.highest) <= 0 < since(record.end, self.una)
        return (new or repairs) and not gives_way

    def _place(self, number: int) -> int:
        shift = self.shift if since(number, self.changed_at) > 0 else self.shift_before
        return (number >> shift) % self.places

    def _follow(self, ack: Ack) -> None:
        if since(ack.una, self.changed_at) < 0:
            return
        self.changed_at = ack.una
        fits = (
            since(ack.maximum, ack.una).bit_length() - self.places.bit_length() + 1
        )  # at least half of the places are in flight
        low, middle, high = (min(max(shift, SHORTEST), self.longest) for shift in range(fits, fits + 3))
        if not low <= self.shift <= high:
            self.shift_before, self.shift, self.changed_at = self.shift, middle, ack.maximum
