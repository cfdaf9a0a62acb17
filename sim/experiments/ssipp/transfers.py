# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Transfers by the core with SSIPP, over ns-3 to ns-3's TCP and over a TAP to the kernel's."""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path

from sim.experiments.ssipp.capture import Figures, figures, read
from sim.linux import namespace, transfer

ROUNDS = 9  # from one segment: in the last 256
SEGMENTS = 2 * 2**ROUNDS
ROUND_TRIP_MS = 400  # of ns-3's time; longer than its delayed ACKs, and than a round takes to be sent
# Of true time, in which the simulated core must do its part; below the second after which a SYN goes again.
LINUX_ROUND_TRIP_MS = 800
LINUX_ROUNDS = 7
LINUX_SEGMENTS = 2**LINUX_ROUNDS  # beyond that its window may have no space for pairs, which then go in order
SYN_TIMEOUT_MS = 1000
# A core that was ever so much behind the clock says nothing of rounds: its SYN went again, which ends SSIPP.
LATE_MS = 0.75 * (SYN_TIMEOUT_MS - LINUX_ROUND_TRIP_MS)
TRIES = 5
SEGMENT_BYTES = 1460
RATE = 100_000_000  # b/s: a round of 256 segments takes 31 ms
LIMIT_SECONDS = 300


def contents(segments: int) -> bytes:
    return random.Random("downbeat ssipp").randbytes(segments * SEGMENT_BYTES)


class Disturbed(Exception):
    """This machine had no time for the run."""


def ns3(program: Path, startup: str, work: Path, capture: Path) -> Figures:
    """ns-3's receiver acknowledges every second segment in order, or after 200 ms."""
    file = work / "file"
    file.write_bytes(contents(SEGMENTS))
    values: dict[str, object] = {
        "sender": "core",
        "file": file,
        "out": work,
        "pcap": capture,
        "rate": RATE,
        "rtt": ROUND_TRIP_MS * 1_000_000,
        "buffer-packets": SEGMENTS,
        "segment-size": SEGMENT_BYTES,
        "initial-window": 1,
        "ssthresh": 1 << 30,
        "startup": startup,
        "wall-limit": LIMIT_SECONDS,
    }
    command = [str(program), *(f"--{name}={value}" for name, value in values.items())]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_SECONDS + 60, check=False)
    result = json.loads((work / "result.json").read_text())
    if done.returncode or result["failure"] or (work / "received.bin").read_bytes() != file.read_bytes():
        raise RuntimeError(f"ns-3: {result['failure'] or 'other bytes arrived than were sent'}")
    return figures(read(capture, "10.0.1.2", "sender"), ROUND_TRIP_MS / 1000)


def linux(program: Path, startup: str, work: Path, capture: Path) -> Figures:
    """The kernel's receiver, told to delay its ACKs from the first on; the path's delay lies before the TAP.

    Raises Disturbed if the core fell behind the clock each time that it was tried.
    """
    more = (f"--startup={startup}", "--initial-window=1", f"--delay={LINUX_ROUND_TRIP_MS / 2}")
    clean = transfer.Impairment()
    file = contents(LINUX_SEGMENTS)
    plan = transfer.Plan(transfer.FROM_CORE, file, clean, 1, "", LIMIT_SECONDS, None, capture, more, delays_acks=True)
    late = 0.0
    for _ in range(TRIES):
        result = transfer.run(plan, program, work)
        if result.failures:
            raise RuntimeError(f"Linux: {'; '.join(result.failures)}")
        late = 1000 * float(result.core["worst_lag_seconds"])
        if late < LATE_MS:
            return figures(read(capture, namespace.CORE_IP, "core"), LINUX_ROUND_TRIP_MS / 1000, acks_apart=False)
    raise Disturbed(
        f"Linux: the simulated core was {late:.0f} ms behind the clock, {TRIES} times: this machine is too busy"
    )
