# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Which ACKs give a round-trip sample, as rtl/downbeat/engine/recovery/SendLog.scala and RoundTrip.scala.

A record of each segment in flight, at the place that its end says; the ACK at that end gives the sample. Samples up to
SND.MAX at the last loss, timeout or retransmission do not count (Karn). The first sample beyond SND.MAX at the last
first one is the first of its round trip: SRTT and RTTVAR take it. With `single` one segment is timed at a time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from sim.golden.engine.protocol.sequence import MODULUS, since
from sim.golden.engine.rto import RtoEstimator

NONE = (1 << 36) - 1  # ns: no round trip yet; also the longest
PLACE_SHIFT = 11  # a place is for 2 KiB of sequence numbers


class Mark(Enum):
    NONE = 0
    ROUND = 1
    REPAIR = 2


@dataclass
class Record:
    end: int  # one past the segment's last byte
    full: bool
    departure: int | None = None  # ns; None: no stamp has come


@dataclass(frozen=True)
class Sample:
    rtt: int  # ns
    first: bool  # the first of its round trip
    full: bool  # the segment was a full one


@dataclass
class RoundTrips:
    """One connection; numbers modulo 2^32, times in ns. `una` and `highest` are SND.UNA and SND.MAX after an event."""

    single: bool = False
    places: int = 32
    estimator: RtoEstimator = field(default_factory=RtoEstimator)
    minimum: int = NONE
    minimum_full: bool = False
    mark: int = 0
    marked: Mark = Mark.NONE
    records: dict[int, Record] = field(default_factory=dict)

    def _place(self, number: int) -> int:
        return (number >> PLACE_SHIFT) % self.places

    def sent(self, end: int, *, full: bool, una: int, highest: int, resent: bool = False, ahead: bool = False) -> None:
        """A segment leaves; `ahead`: the first half of an inverted pair."""
        if not resent and not ahead:
            place = self._place(end)
            before = self.records.get(place)
            taken = before is not None and before.end != end and 0 < since(before.end, una) <= since(highest, una)
            if self.single and self.marked is Mark.NONE:
                self.mark, self.marked = end, Mark.ROUND
                self.records[place] = Record(end, full)
            elif not self.single and not taken:
                self.records[place] = Record(end, full)
        if resent:
            self.breaks(highest)

    def departed(self, end: int, stamp: int) -> None:
        record = self.records.get(self._place(end))
        if record is not None and record.end == end and record.departure is None:
            record.departure = stamp

    def breaks(self, highest: int) -> None:
        """A loss, a timeout, a retransmission or, without SACK, a partial ACK."""
        self.mark, self.marked = highest, Mark.NONE if self.single else Mark.REPAIR

    def advanced(self, una: int, highest: int, stamp: int, *, behind_pair: int = 0) -> Sample | None:
        """An ACK of new data; `behind_pair`: SMSS if it acknowledges inverted pairs, whose second half is timed."""
        sample = self._single(una, stamp) if self.single else self._sample(una, highest, stamp, behind_pair)
        if sample is None:
            return None
        if sample.first:
            self.estimator.sample(sample.rtt)
        self._smallest(sample.rtt, sample.full)
        return sample

    def echoed(self, rtt: int, highest: int) -> None:
        """A sample by the timestamp that an ACK echoes, which gives none by its end (RFC 7323 4.1)."""
        self.estimator.sample(rtt)
        self._smallest(rtt, full=False)
        if self.single:
            self.marked = Mark.NONE
        elif self.marked is not Mark.REPAIR:
            self.mark, self.marked = highest, Mark.ROUND

    def _smallest(self, rtt: int, full: bool) -> None:
        if full and not self.minimum_full:
            self.minimum, self.minimum_full = rtt, True
        elif full == self.minimum_full:
            self.minimum = min(self.minimum, rtt)

    def _sample(self, una: int, highest: int, stamp: int, behind_pair: int) -> Sample | None:
        beyond = since(una, self.mark) > 0
        blocked = self.marked is Mark.REPAIR and not beyond
        first = self.marked is Mark.NONE or beyond
        if beyond:
            self.marked = Mark.NONE
        end = (una - behind_pair) % MODULUS
        record = self.records.get(self._place(end))
        if blocked or record is None or record.end != end or record.departure is None:
            return None
        if first:
            self.mark, self.marked = highest, Mark.ROUND
        return Sample(min(stamp - record.departure, NONE), first, record.full)

    def _single(self, una: int, stamp: int) -> Sample | None:
        if self.marked is not Mark.ROUND or since(una, self.mark) < 0:
            return None
        self.marked = Mark.NONE
        record = self.records[self._place(self.mark)]
        if record.departure is None:
            return None
        return Sample(min(stamp - record.departure, NONE), first=True, full=record.full)
