# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Sending frames at given times: by the kernel, given each frame's time (SO_TXTIME), or by waiting for it.

Launches are in CLOCK_TAI, which no leap second moves; `etf` wants it too. `fq` wants CLOCK_MONOTONIC.
"""

from __future__ import annotations

import errno
import gc
import os
import socket
import struct
import time
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from downbeat_toe.gap import probe, stamping
from downbeat_toe.gap.methods import Method
from downbeat_toe.refused import Refused
from downbeat_toe.schedule import NANOSECONDS, Integers, Schedule

SO_TXTIME = SCM_TXTIME = 61
LEAST_LEAD = 50_000_000  # ns from now to the first launch
AHEAD = 1_000_000  # ns by which the kernel has a frame before its launch, by SO_TXTIME
AT_ONCE = 64  # frames that the kernel holds at most: fq keeps 100 of a flow
AWAKE = 60_000  # ns before a launch during which the sender no longer sleeps
REALTIME_SHARE = 0.9  # of the time: Linux takes the processor from real-time processes that want 95 % of a second
LAST_STAMPS = 0.2  # s to wait for the stamps of the last frames


@dataclass(frozen=True)
class Sent:
    """Arrays by entry of the schedule; times in ns of CLOCK_REALTIME, but departures in the stamping clock's."""

    launch: Integers
    departed: Integers  # 0: no stamp
    clock: stamping.Clock
    method: str
    refused: int  # frames that the kernel did not take


def send(
    schedule: Schedule, interface: str, destination: bytes, method: Method, by: stamping.Clock, absolute: bool
) -> Sent:
    """Sends every entry of the schedule as a numbered frame, from twice LEAST_LEAD on, or at absolute times
    (CLOCK_TAI)."""
    launch = schedule.launch if absolute else schedule.launch - schedule.launch[0] + _now() + 2 * LEAST_LEAD
    if (late := _now() + LEAST_LEAD - int(launch[0])) > 0:
        raise Refused(
            f"{schedule.source}: entry 1 is to leave at {launch[0]} ns of CLOCK_TAI, {late - LEAST_LEAD} ns ago: "
            f"it takes {LEAST_LEAD // 10**6} ms to be ready. Give later times, or times from the start, without --absolute"
        )
    with stamping.sender(interface, by) as raw:
        source = raw.getsockname()[4]
        if method.txtime:
            raw.setsockopt(socket.SOL_SOCKET, SO_TXTIME, struct.pack("iI", method.clock, 0))
        departed, refused = _loop(schedule, launch, raw, (destination, source), method, by)
    return Sent(launch - tai_ahead(), departed, by, method.words, refused)


def _loop(
    schedule: Schedule,
    launch: Integers,
    raw: socket.socket,
    ends: tuple[bytes, bytes],
    method: Method,
    by: stamping.Clock,
) -> tuple[Integers, int]:
    templates = {length: probe.Frame(*ends, length) for length in set(schedule.length.tolist())}
    numbers = probe.flow_numbers(schedule)
    counts = dict.fromkeys(numbers, 0)
    departed = np.zeros(len(schedule), np.int64)
    refused = 0
    shift = _shift(method.clock)
    dues = launch.tolist()

    def collect() -> None:
        for number, stamp in stamping.departures(raw, by):
            departed[number] = stamp

    gc.disable()
    _hurry(launch)
    try:
        for entry, (due, length, flow) in enumerate(zip(dues, schedule.length.tolist(), schedule.flow, strict=True)):
            frame = templates[length].number(numbers[flow], counts[flow], due)
            counts[flow] += 1
            if method.txtime:
                ready = max(due - AHEAD, dues[entry - AT_ONCE] if entry >= AT_ONCE else 0)
                ancillary = [(socket.SOL_SOCKET, SCM_TXTIME, struct.pack("Q", due + shift))]
            else:
                ready, ancillary = due, []
            while ready - _now() > AWAKE:
                collect()
                time.sleep(max(0, ready - _now() - AWAKE) / NANOSECONDS)
            while _now() < ready:
                pass
            try:
                raw.sendmsg([frame], ancillary)
            except OSError as error:
                if error.errno != errno.ENOBUFS:
                    raise Refused(f"sending of entry {entry + 1} failed: {error.strerror}") from None
                refused += 1  # no space in a queue, behind the numbering
        end = time.monotonic() + LAST_STAMPS
        while time.monotonic() < end and np.count_nonzero(departed) < len(schedule) - refused:
            collect()
            time.sleep(0.001)
    finally:
        gc.enable()
    return departed, refused


def tai_ahead() -> int:
    """Nanoseconds that CLOCK_TAI is ahead of CLOCK_REALTIME: whole seconds; 0 where the kernel does not know."""
    return round((_now() - time.clock_gettime_ns(time.CLOCK_REALTIME)) / NANOSECONDS) * NANOSECONDS


def _hurry(launch: Integers) -> None:
    """Goes ahead of all that is not urgent: who waits for a time and loses the processor is late by milliseconds."""
    awake = np.minimum(np.diff(launch), AWAKE).sum()
    if awake > REALTIME_SHARE * max(launch[-1] - launch[0], NANOSECONDS):
        return
    with suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))


def _now() -> int:
    return time.clock_gettime_ns(time.CLOCK_TAI)


def _shift(clock: int) -> int:
    """What to add to CLOCK_TAI for another clock: the best of some readings."""
    if clock == time.CLOCK_TAI:
        return 0
    readings = [(_now(), time.clock_gettime_ns(clock), _now()) for _ in range(50)]
    before, there, after = min(readings, key=lambda reading: reading[2] - reading[0])
    return there - (before + after) // 2
