# SPDX-License-Identifier: BSD-2-Clause-Patent
"""python -m sim.linux.inverted_pairs STARTUP FOLDER: a file from the core to the kernel's TCP, which delays its ACKs
from the first segment on; prints what the core's wire shows of it, as JSON. Needs root."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path

from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether
from scapy.utils import RawPcapNgReader

from sim.experiments.engine.measures.traces import Trace, inverted_share
from sim.lib import build
from sim.linux import namespace, transfer

# Share of true time in which the simulated core must do its part; a SYN is sent again after a second.
ROUND_TRIP_MS = 800
SEGMENTS = 96  # more in flight than Linux's first window of 64 KiB has no space for pairs, and goes in order
SEGMENT_BYTES = 1448  # with timestamps
LIMIT_SECONDS = 300


def wire(capture: Path) -> Iterator[tuple[float, bool, TCP, int]]:
    """Seconds, whether the core sent it, the header and the bytes of payload."""
    with RawPcapNgReader(str(capture)) as frames:
        for data, about in frames:
            packet = Ether(data)
            if TCP in packet:
                ip, tcp = packet[IP], packet[TCP]
                seconds = ((about.tshigh << 32) + about.tslow) / about.tsresol
                yield seconds, ip.src == namespace.CORE_IP, tcp, ip.len - 4 * ip.ihl - 4 * tcp.dataofs


def trace(capture: Path) -> Trace:
    """Times are s since the SYN."""
    segments = list(wire(capture))
    begin, _, syn, _ = segments[0]
    found: Trace = {"sent": [], "acks": [], "gaps": []}
    for at, sent, tcp, length in segments[1:]:
        if sent and length:
            found["sent"].append([at - begin, tcp.seq - syn.seq - 1, length])
        elif not sent and "S" not in str(tcp.flags):
            found["acks"].append([at - begin, tcp.ack - syn.seq - 1])
    return found


def rounds(found: Trace) -> list[int]:
    """Segments of each round; rounds stand further apart than half a round trip."""
    counts, before = [0], found["sent"][0][0]
    for at, *_ in found["sent"]:
        if at - before > ROUND_TRIP_MS / 2000:
            counts.append(0)
        counts[-1] += 1
        before = at
    return counts


def main(startup: str, folder: Path) -> None:
    capture = folder / "core.pcapng"
    file = random.Random("downbeat ssipp").randbytes(SEGMENTS * SEGMENT_BYTES)
    more = (f"--startup={startup}", "--initial-window=1", f"--delay={ROUND_TRIP_MS / 2}")
    clean = transfer.Impairment()
    plan = transfer.Plan(transfer.FROM_CORE, file, clean, 1, "", LIMIT_SECONDS, None, capture, more, delays_acks=True)
    result = transfer.run(plan, build.linux() / "downbeat_tap", folder)
    found = trace(capture)
    figures = {
        "failures": result.failures,
        "lag_ms": 1000 * float(result.core.get("worst_lag_seconds", 0)),
        "rounds": rounds(found),
        "inverted_share": inverted_share(found),
        "segments": len(found["sent"]),
        "acks": len(found["acks"]),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
