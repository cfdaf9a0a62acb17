# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Rounds of random calls over the kernel and then over the core, until a time is over; what was not the same."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sw.tests.driver.fuzz.lane import same
from sw.tests.driver.fuzz.program import LANES, PORTS
from sw.tests.driver.process import Nic
from sw.tests.driver.programs import CORE, KERNEL, free_port, over_core

ROOT = Path(__file__).resolve().parents[4]
PEER = "10.0.0.2"  # a core's way to itself
LIMIT = 90.0  # seconds for a round: nothing hangs
ROUND = "round {round} of seed {seed}, lane {lane}, call {call}: {text}; kernel {kernel}; core {core}"


@dataclass
class Found:
    """Calls compared; lanes in which the kernel or the core has two outcomes, as threads meet; in which the device had
    no space; differences in words."""

    seed: int
    rounds: int = 0
    calls: int = 0
    unsettled: int = 0
    full: int = 0
    differences: list[str] = field(default_factory=list)


def rounds(nic: Nic, seed: int, seconds: float) -> Found:
    found, end = Found(seed), time.monotonic() + seconds
    while time.monotonic() < end or found.rounds == 0:
        _round(nic, found)
        found.rounds += 1
    return found


def _round(nic: Nic, found: Found) -> None:
    name = f"{found.seed} {found.rounds}"
    ports = [str(free_port()) for _ in range(LANES * PORTS)]
    kernel = _run([], f"{KERNEL},{KERNEL}", name, ports, None)
    core = _run(over_core(nic), f"{CORE},{PEER}", name, ports, kernel)
    where = {"round": found.rounds, "seed": found.seed}
    for side in (kernel, core):
        found.differences += [f"round {found.rounds} of seed {found.seed}: {each}" for each in side["wrong"]]
    for lane, (wanted, seen) in enumerate(zip(kernel["lanes"], core["lanes"], strict=False)):
        found.calls += len(seen)
        if len(seen) == len(wanted) and all(map(same, seen, wanted)):
            continue
        call = len(seen) - 1
        if "ENOBUFS" in json.dumps(seen[call]):
            found.full += 1
            continue
        again = _run([], f"{KERNEL},{KERNEL}", name, ports, None)["lanes"][lane]
        repeated = _run(over_core(nic), f"{CORE},{PEER}", name, ports, kernel)["lanes"]
        if again[: call + 1] != wanted[: call + 1] or (repeated and len(repeated[lane]) > len(seen)):
            found.unsettled += 1
            continue
        text, *one = wanted[call]
        other = seen[call][1:] if seen[call][0] == text else seen[call]
        found.differences.append(ROUND.format(**where, lane=lane, call=call, text=text, kernel=one, core=other))


def _run(wrap: list[str], addresses: str, name: str, ports: list[str], kernel: Any) -> dict[str, Any]:
    command = [*wrap, sys.executable, "-m", "sw.tests.driver.fuzz.program", addresses, name, *ports]
    try:
        done = subprocess.run(
            command, input=json.dumps(kernel), capture_output=True, text=True, timeout=LIMIT, check=False, cwd=ROOT
        )
    except subprocess.TimeoutExpired as late:
        return {"lanes": [], "wrong": [f"{addresses} hangs: {(late.stderr or b'').decode()[-3000:]}"]}
    if done.returncode != 0 or not done.stdout:
        return {"lanes": [], "wrong": [f"{addresses} ends with {done.returncode}: {done.stderr[-500:]}"]}
    said: dict[str, Any] = json.loads(done.stdout)
    if None in said["lanes"]:
        return {"lanes": [], "wrong": [f"{addresses}: no result of the child: {done.stderr[-3000:]}"]}
    return said
