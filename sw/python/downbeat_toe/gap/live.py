# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`downbeat gap live`: frames stamped as they arrive, against a schedule that this host sends or another one."""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from downbeat_toe import schedule_file
from downbeat_toe.gap import planning, sending, stamping
from downbeat_toe.gap.analysis import Analysis, analyse
from downbeat_toe.gap.frames import Frames
from downbeat_toe.gap.listening import Received, listen
from downbeat_toe.gap.stamping import Clock
from downbeat_toe.refused import Refused
from downbeat_toe.schedule import Schedule

QUIET = 0.5  # s without a frame after which no more is expected of a sender on this host


def require_common_time(received: Clock, sent: Clock | None, common_time: bool) -> None:
    """One-way delay is a difference of two clocks' times: refused unless they are one, or are said to have one time."""
    if common_time or (sent is not None and received.same_as(sent)):
        return
    other = f"departures are {sent}" if sent is not None else "launches are of another host's clock"
    raise Refused(
        f"no one-way delay: arrivals are {received}, {other}, and nothing says that they have one time. "
        "Discipline both by PTP or PPS and say --common-time, or leave --one-way out: gaps need no common time"
    )


def receive(planned: Schedule, interface: str, time_limit: float) -> Received:
    """What another host sends: until all of it is there, or nothing for `time_limit` seconds."""

    def done(count: int, silence: float) -> bool:
        return count >= len(planned) or silence > time_limit

    return listen(interface, stamping.clock(interface), planned.kind, done)


def exchange(
    schedule: Path, planned: Schedule, interface: str, sender: str, options: list[str]
) -> tuple[Received, Schedule, Schedule]:
    """Sends on one interface and receives on the other: what arrived, the schedule as launched, and as departed (by
    stamps).

    The sender is a process of its own: it waits busily, and this one must not hold it up.
    """
    with tempfile.TemporaryDirectory() as directory:
        log = Path(directory) / "log.csv"
        words = ["replay", str(schedule), "--interface", sender, "--log", str(log), *options]
        command = [sys.executable, "-m", "downbeat_toe", *words]
        by = stamping.clock(interface)
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            try:
                received = listen(
                    interface, by, "probe", lambda _, silence: process.poll() is not None and silence > QUIET
                )
            finally:
                process.terminate()
            said = process.communicate()[1]
        if process.returncode != 0 or not log.exists():
            raise Refused(said.strip() or f"the sender ended with status {process.returncode}")
        return received, *_logged(log, planned)


def _by_clock(planned: Schedule) -> Schedule:
    """Launches by CLOCK_REALTIME, as stamps are, from CLOCK_TAI."""
    launch = planned.launch - sending.tai_ahead()
    planned = replace(planned, launch=launch)
    planning.require_one_time(planned, time.time_ns(), "give times of CLOCK_TAI, and send them by replay --absolute")
    return planned


def _logged(log: Path, planned: Schedule) -> tuple[Schedule, Schedule]:
    with log.open(newline="") as file:
        rows = list(csv.DictReader(file))
    launch, departed = (np.array([int(row[name]) for row in rows], np.int64) for name in ("launch_ns", "departed_ns"))
    numbered = replace(planned, kind="probe", sequence=_numbers(planned), retransmission=np.zeros(len(planned), bool))
    known = departed != 0
    if not known.any():
        raise Refused("the interface gave no stamp of any departure: its driver has none (ethtool -T)")
    return replace(numbered, launch=launch), replace(numbered, launch=departed).where(known)


def _numbers(planned: Schedule) -> np.ndarray:
    counts = dict.fromkeys(planned.flows(), -1)
    numbers = []
    for flow in planned.flow:
        counts[flow] += 1
        numbers.append(counts[flow])
    return np.array(numbers, np.int64)


def both(
    schedule: Path, interface: str, sender: str, options: list[str], one_way: bool, common_time: bool, keep_drift: bool
) -> dict[str, Analysis]:
    """Sends and receives: arrivals against the schedule; and its halves, arrivals against departures and these against
    it."""
    sent_by = stamping.clock(sender)
    if one_way:
        require_common_time(stamping.clock(interface), sent_by, common_time)
    received, launched, departed = exchange(schedule, schedule_file.read(schedule), interface, sender, options)
    left = Frames(departed.launch, departed.flow, departed.sequence, departed.length)
    same = received.clock.same_as(sent_by)
    here, there = received.clock.phc is None, sent_by.phc is None  # by the system's clock, as launches are
    between = f"{received.clock}; departures: {sent_by}"
    analyses = {
        "arrivals against schedule": analyse(
            launched, received.frames, interface, str(received.clock), here, keep_drift, one_clock=here
        ),
        "arrivals against departures": analyse(
            departed, received.frames, interface, between, common_time or same, keep_drift, one_clock=same
        ),
        "departures against schedule": analyse(
            launched, left, sender, str(sent_by), there, keep_drift, one_clock=there
        ),
    }
    next(iter(analyses.values())).data["notes"] += received.notes
    return analyses


def heard(
    planned: Schedule, interface: str, time_limit: float, one_way: bool, common_time: bool, keep_drift: bool
) -> dict[str, Analysis]:
    """Receives what another host sends: arrivals against the schedule."""
    if one_way:
        require_common_time(stamping.clock(interface), None, common_time)
    if common_time:
        planned = _by_clock(planned)
    received = receive(planned, interface, time_limit)
    analysis = analyse(planned, received.frames, interface, str(received.clock), common_time, keep_drift)
    analysis.data["notes"] += received.notes
    return {"arrivals against schedule": analysis}
