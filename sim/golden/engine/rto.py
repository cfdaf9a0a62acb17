# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The retransmission timeout (RFC 6298) in Jacobson's integer form, nanoseconds.

srtt8 is 8 SRTT, var4 is 4 RTTVAR, so both means are a shift and an addition:

    first sample R:  srtt8 = 8 R,  var4 = 2 R                        (2.2: RTTVAR = R / 2)
    then:            err = R - (srtt8 >> 3)
                     var4 += |err| - (var4 >> 2),  srtt8 += err      (2.3: gains 1/4 and 1/8, RTTVAR by the old SRTT)
    RTO = (srtt8 >> 3) + max(G, var4), held between floor and ceiling

Each shift drops less than 1 ns of SRTT or RTTVAR.
"""

from __future__ import annotations

from dataclasses import dataclass

GRANULARITY = 1_000  # G, ns
SECOND = 1_000_000_000  # ns


@dataclass
class RtoEstimator:
    """`sample` takes a round trip in ns; `rto` is the timeout in ns, before any backing off."""

    floor: int = SECOND  # 2.4
    ceiling: int = 60 * SECOND  # 2.5
    initial: int = SECOND  # 2.1
    granularity: int = GRANULARITY
    srtt8: int = 0
    var4: int = 0
    sampled: bool = False

    def sample(self, rtt: int) -> int:
        if self.sampled:
            err = rtt - (self.srtt8 >> 3)
            self.var4 += abs(err) - (self.var4 >> 2)
            self.srtt8 += err
        else:
            self.srtt8, self.var4, self.sampled = rtt << 3, rtt << 1, True
        return self.rto

    @property
    def srtt(self) -> int:
        return self.srtt8 >> 3

    @property
    def rttvar(self) -> int:
        return self.var4 >> 2

    @property
    def rto(self) -> int:
        unbounded = self.srtt + max(self.granularity, self.var4) if self.sampled else self.initial
        return min(max(unbounded, self.floor), self.ceiling)
