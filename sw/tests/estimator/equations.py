# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The equations of LISS, ISS, MISS and SPAND in plain Python: as the papers print them, in floats, and in whole
numbers.

Yu, "Improving TCP Slow Start", 2009 (LISS, ISS, MISS); Zhang, Qiu, Keshav, "Speeding Up Short Data Transfers", 2000
(SPAND).
"""

from __future__ import annotations

import itertools
from fractions import Fraction

AWND_WEIGHT = Fraction(131, 65536)


def liss(starting_sum: float, steady: int, oldest: float) -> float | None:
    """ssthresh = (S + L w) / (L + S/w + 1) [Yu, p. 25]; None without a steady connection."""
    if steady == 0 or oldest == 0:
        return None
    return (starting_sum + steady * oldest) / (steady + starting_sum / oldest + 1)


def liss_whole(starting_sum: int, steady: int, oldest: int) -> int:
    """The same rounded down, exactly."""
    if steady == 0 or oldest == 0:
        return 0
    share = Fraction(starting_sum + steady * oldest) / (steady + Fraction(starting_sum, oldest) + 1)
    return int(share)


def awnd(average: float, cwnd: float, weight: float = 0.002) -> float:
    """awnd = (1-w) awnd + w cwnd, an ACK [Yu, p. 30]."""
    return (1 - weight) * average + weight * cwnd


def awnd_whole(average: int, cwnd: int) -> int:
    """With 16 fraction bits, the step truncated to zero."""
    return average + int((cwnd - average) * AWND_WEIGHT)


LEFT = [int(Fraction(499, 500) ** (1 << bit) * (1 << 32) + Fraction(1, 2)) for bit in range(12)]


def awnd_together(average: int, cwnd: int, acks: int) -> int:
    """So many ACKs at one window: (1-w)^acks of the distance is left, with 32 fraction bits."""
    if acks >= 1 << len(LEFT):
        return cwnd
    left = 1 << 32
    for bit, factor in enumerate(LEFT):
        if acks >> bit & 1:
            left = left * factor >> 32
    distance = abs(cwnd - average) * left >> 32
    return cwnd - distance if cwnd > average else cwnd + distance


def smoothed(times: list[float], weight: float = 2 / 3) -> float | None:
    """delta or gamma: the EWMA of the intervals between drops, the first as it is [Yu, p. 27]."""
    if len(times) < 2:
        return None
    interval = times[1] - times[0]
    for before, after in itertools.pairwise(times):
        interval = (1 - weight) * interval + weight * (after - before)
    return interval


def smoothed_whole(interval: int, intervals: int, sample: int, thirds: int) -> int:
    """One more interval."""
    return sample if intervals == 0 else ((3 - thirds) * interval + thirds * sample) // 3


def miss(gamma: float, delta: float, elapsed: float, round_trip: float) -> float | None:
    """cwnd = gamma/delta (delta - elapsed) / R [Yu, p. 27]; None where the drop is overdue."""
    return gamma / delta * (delta - elapsed) / round_trip if elapsed < delta else None


def epoch(window: int, ratio: Fraction) -> Fraction:
    """Segments of Reno's epoch: b sum(h..W) up to the loss, then W+1 and W more [Zhang, Qiu, Keshav, 4.1]."""
    return ratio * sum(range(max(1, (window + 1) // 2), window + 1)) + 2 * window + 1


def spand(segments: int, window: int, ratio: Fraction, shift: bool) -> int:
    """Eq. 3: the largest w with b sum(w..W) >= r. Eq. 4 shares the excess among its b (W-w+1) rounds."""
    if window == 0:
        return 0
    half = max(1, (window + 1) // 2)
    if segments == 0:
        return half
    whole = epoch(window, ratio)
    rest = int((segments - 1) % whole) + 1
    start, sent = window, ratio * window
    while sent < rest and start > 1:
        start -= 1
        sent += ratio * start
    if not shift or sent <= rest:
        return start
    lowest = min(start, half) if segments > whole else 1
    return max(lowest, start - int((sent - rest) / (ratio * (window - start + 1))))


def rounds(segments: int, start: int, window: int, ratio: int) -> int:
    """Round trips that Reno needs in that model, counted one by one."""
    sent = count = 0
    current = start
    while True:
        while current <= window:
            for _ in range(ratio):
                sent, count = sent + current, count + 1
                if sent >= segments:
                    return count
            current += 1
        for last in (window + 1, window):
            sent, count = sent + last, count + 1
            if sent >= segments:
                return count
        current = max(1, (window + 1) // 2)
