# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`downbeat gateway bench`: messages a second that one core takes, and how long an answer takes at half of that.

Half of the messages are reports, half queries with one prefix each. The gateway has one processor, the generator the
other; messages are sealed before the first is sent. build/reports/gateway.json is made by `make bench NAME=gateway`.

A virtual machine stands still at times, and who waits for an answer waits for that too: `p99_us` is of all answers,
`window_p99_us` the median over 20 ms each, most of which have no such pause. `paused` is the share of time that the
machine takes from two programs that never wait, one on each of the two processors, and its longest pause.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
from pathlib import Path
from typing import Annotated, Any

import typer

from downbeat_toe.gateway import admin, keys
from downbeat_toe.gateway.process import Site, program
from downbeat_toe.refused import Refused, explained

LIMITS = "[limits]\nmessages_per_second = 100000000\nmessage_burst = 100000000\ndelay_ms = 300000\n"
PREFIXES = 25_000


def machine() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    name = next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.machine())
    return f"{name}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}"


def load(site: Site, seconds: float, rate: float) -> dict[str, Any]:
    """One run of the generator: what it saw, and how many messages the gateway accepted."""
    before, spent = _accepted(site), _processor(site)
    words = ["load", site.uri, str(seconds), str(rate), str(PREFIXES)]
    command = ["taskset", "-c", "0", str(program("gateway-bench")), *words]
    done = subprocess.run(command, text=True, capture_output=True, check=False, input=keys.issue(site.keys, 1))
    if done.returncode:
        raise Refused(done.stderr.strip())
    found: dict[str, Any] = json.loads(done.stdout)
    accepted = _accepted(site) - before - 1  # without the hello
    spent = _processor(site) - spent
    return found | {
        "accepted": int(accepted),
        "messages_per_second": accepted / found["seconds"],
        "processor_us": 1e6 * spent / accepted,
    }


def pauses(seconds: float) -> dict[str, float]:
    command = [str(program("gateway-bench")), "pauses", str(seconds)]
    both = [
        subprocess.Popen(["taskset", "-c", str(cpu), *command], text=True, stdout=subprocess.PIPE)
        for cpu in {0, (os.cpu_count() or 1) - 1}
    ]
    found = [json.loads(each.communicate()[0]) for each in both]
    return {name: max(each[name] for each in found) for name in ("share", "longest_us")}


def measure(seconds: float = 2.0, rounds: int = 3) -> dict[str, Any]:
    """The best of the rounds as the rate, and the latency at half of it, or at half of 200,000 if that is less."""
    with Site(settings=LIMITS, cpu=(os.cpu_count() or 1) - 1) as site:
        full = [load(site, seconds, 0) for _ in range(rounds)]
        rate = max(run["messages_per_second"] for run in full)
        paused = pauses(seconds)
        half = [load(site, seconds, min(rate, 200_000) / 2) for _ in range(rounds)]
    best = min(half, key=lambda run: float(run["p99_us"]))
    return {
        "machine": machine(),
        "messages_per_second": round(rate),
        "processor_us": round(min(run["processor_us"] for run in full), 3),
        "p50_us": best["p50_us"],
        "p99_us": best["p99_us"],
        "window_p99_us": best["window_p99_us"],
        "paused": paused,
        "half_load_messages_per_second": round(best["messages_per_second"]),
        "rounds": {"full": full, "half": half},
    }


def _accepted(site: Site) -> float:
    return sum(value for name, value in admin.metrics(site.metrics).items() if name.startswith("accepted_total"))


def _processor(site: Site) -> float:
    """Seconds that the gateway has spent, in the kernel too: what a busy machine changes least."""
    assert site.process
    fields = Path(f"/proc/{site.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def command(seconds: Annotated[float, typer.Option(help="of each round", min=0.1, max=60)] = 2.0) -> None:
    """Messages a second on one processor over loopback, and the time of an answer at half of that."""
    with explained():
        found = measure(seconds)
    print(f"{found['machine']}")
    print(f"{found['messages_per_second']:,} messages/s accepted, half of them queries of one prefix each;")
    print(f"the gateway spends {found['processor_us']:.2f} us of its processor on one, in the kernel too")
    print(
        f"at {found['half_load_messages_per_second']:,} messages/s an answer takes "
        f"{found['p50_us']:.0f} us (median), {found['p99_us']:.0f} us (p99); "
        f"{found['window_p99_us']:.0f} us (p99) where"
    )
    print(
        f"the machine does not pause: it takes {found['paused']['share']:.1%} of a busy processor, "
        f"{found['paused']['longest_us']:.0f} us at the longest"
    )
