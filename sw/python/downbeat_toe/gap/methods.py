# SPDX-License-Identifier: BSD-2-Clause-Patent
"""How frames leave at given times: SO_TXTIME where the interface's queueing discipline obeys it, else busy waiting."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from dataclasses import dataclass
from typing import Literal

from downbeat_toe.refused import Refused

Wanted = Literal["auto", "txtime", "wait"]


@dataclass(frozen=True)
class Method:
    clock: int  # of the launches, as the kernel or the waiting takes them
    txtime: bool
    words: str


def choose(interface: str, wanted: Wanted) -> Method:
    """SO_TXTIME where the interface's queueing discipline obeys it."""
    kind, clock = _discipline(interface) if wanted != "wait" else ("", 0)
    if kind:
        name = "CLOCK_TAI" if clock == time.CLOCK_TAI else "CLOCK_MONOTONIC"
        return Method(clock, True, f"SO_TXTIME, queueing discipline {kind}, {name}")
    if wanted == "txtime":
        raise Refused(
            f"{interface} has no queueing discipline that obeys SO_TXTIME: tc qdisc replace dev {interface} root fq, or etf; "
            "without it: --method wait"
        )
    return Method(time.CLOCK_TAI, False, "busy waiting, CLOCK_TAI")


def _discipline(interface: str) -> tuple[str, int]:
    """Queueing discipline that obeys launch times, and its clock; or nothing."""
    if shutil.which("tc") is None:
        return "", 0
    done = subprocess.run(
        ["tc", "-json", "qdisc", "show", "dev", interface], capture_output=True, text=True, timeout=30, check=False
    )
    return obeying(done.stdout) if done.returncode == 0 else ("", 0)


def obeying(shown: str) -> tuple[str, int]:
    """The same from what `tc -json qdisc show` prints. Every frame must pass it: as the root, or fq on each queue of
    `mq`."""
    disciplines = json.loads(shown or "[]")
    if any(discipline["kind"] == "etf" and discipline.get("root") for discipline in disciplines):
        return "etf", time.CLOCK_TAI
    queues = {discipline["kind"] for discipline in disciplines if discipline["kind"] != "mq"}
    return ("fq", time.CLOCK_MONOTONIC) if queues == {"fq"} else ("", 0)
