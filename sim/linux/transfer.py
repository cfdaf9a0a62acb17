# SPDX-License-Identifier: BSD-2-Clause-Patent
"""One file one way between the core on the TAP interface, or a second kernel in its place, and a socket of the
kernel."""

from __future__ import annotations

import hashlib
import platform
import threading
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sim.linux import kernel, namespace
from sim.linux.kernel import KernelSideFailed, Outcome, TimeLimit
from sim.linux.program import ended, started

TO_CORE = "linux to core"
FROM_CORE = "core to linux"
BESIDE_CORE = "linux to linux"  # a kernel in the core's place
PORT = 5001
# The program ends itself at the wall limit; the kernel's side waits for that, and then for the program's result.
KERNEL_GRACE_SECONDS = 2
GRACE_SECONDS = 15


@dataclass(frozen=True)
class Impairment:
    """Faults of the wire, each way: shares from 0 to 1."""

    drop: float = 0.0
    reorder: float = 0.0
    duplicate: float = 0.0
    corrupt: float = 0.0


@dataclass(frozen=True)
class Plan:
    direction: str
    contents: bytes
    impairment: Impairment
    seed: int
    congestion_control: str  # congestion control of the kernel's socket; empty: the system's own
    wall_limit: float  # seconds
    waves: Path | None
    pcap: Path | None
    more: tuple[str, ...] = ()  # arguments of downbeat_tap
    delays_acks: bool = False  # the kernel's ACKs: from the first segment on


@dataclass
class Result:
    plan: Plan
    core: dict[str, Any]  # downbeat_tap's result; empty if it ended without one
    kernel: Outcome | None
    queue_drops: int
    received: bytes
    failures: list[str] = field(default_factory=list)

    @property
    def sha256_equal(self) -> bool:
        return sha256(self.received) == sha256(self.plan.contents)

    def as_json(self) -> dict[str, Any]:
        """One of interop.json's `transfers`."""
        sender_retransmissions = self.core.get("retransmissions")
        if self.plan.direction == TO_CORE:
            sender_retransmissions = self.kernel.retransmissions if self.kernel else None
        dropped: dict[str, int] = self.core.get("dropped", {})
        return {
            "peer": f"linux {platform.release()} {self.kernel.congestion_control if self.kernel else 'unknown'}",
            "options": self.kernel.options if self.kernel else [],
            "direction": self.plan.direction,
            "bytes": len(self.received),
            "sha256": sha256(self.plan.contents),
            "sha256_equal": self.sha256_equal,
            "drop": self.plan.impairment.drop,
            "dropped_frames": sum(dropped.values()),
            "dropped": dropped,
            "queue_drops": self.queue_drops,
            "retransmissions": sender_retransmissions,
            "seconds": round(self.kernel.seconds, 3) if self.kernel else None,
            "failures": self.failures,
            "core": self.core,
        }


def run(plan: Plan, program: Path, work: Path) -> Result:
    """Never raises for what the two sides do: it stands in the result's failures."""
    sent, received = work / "sent.bin", work / "received.bin"
    sent.write_bytes(plan.contents)
    received.write_bytes(b"")
    to_core = plan.direction == TO_CORE
    outcome: Outcome | None = None
    failures = []
    with namespace.interface() as name:
        command = [str(program), f"--tap={name}", f"--core-ip={namespace.CORE_IP}", f"--core-mac={namespace.CORE_MAC}"]
        command += [f"--port={PORT}", f"--seed={plan.seed}", f"--wall-limit={plan.wall_limit}"]
        command += [f"--{name}={share}" for name, share in asdict(plan.impairment).items()]
        command += [f"--receive={received}"] if to_core else [f"--send={sent}", f"--peer-ip={namespace.LINUX_IP}"]
        command += [f"--waves={plan.waves}"] if plan.waves else []
        command += [f"--pcap={plan.pcap}"] if plan.pcap else []
        command += plan.more
        with kernel.listen(PORT, plan.congestion_control) as listener, started(command) as process:
            time_limit = TimeLimit(
                time.monotonic() + plan.wall_limit + KERNEL_GRACE_SECONDS, lambda: process.poll() is None
            )
            try:
                if to_core:
                    outcome = kernel.send(PORT, plan.contents, plan.congestion_control, time_limit)
                else:
                    outcome = kernel.receive(listener, time_limit, delays_acks=plan.delays_acks)
            except KernelSideFailed as error:
                failures.append(f"Linux: {error}")
                process.terminate()
            core = ended(process, max(0.0, time_limit.deadline - time.monotonic()) + GRACE_SECONDS)
        drops = namespace.queue_drops()
    if core.get("failure", "no result"):
        failures.insert(0, f"core: {core.get('failure', 'its program ended without a result')}")
    result = Result(
        plan, core, outcome, drops, received.read_bytes() if to_core else outcome.data if outcome else b"", failures
    )
    if not result.sha256_equal:
        failures.append(f"SHA-256 differs: {_first_difference(plan.contents, result.received)}")
    return result


def run_beside(plan: Plan, program: Path) -> Result:
    """As `run` from the core, but the sender is the kernel of a second namespace, behind the same wire."""
    outcome: Outcome | None = None
    failures: list[str] = []
    with (
        namespace.interface() as name,
        kernel.listen(PORT, plan.congestion_control) as listener,
        namespace.second_interface() as first,
    ):
        command = [str(program), f"--tap={name}", f"--relay={name}", f"--relay-namespace={first}"]
        command += [f"--seed={plan.seed}", *plan.more]
        command += [f"--{fault}={share}" for fault, share in asdict(plan.impairment).items()]
        with started(command) as process:
            time_limit = TimeLimit(time.monotonic() + plan.wall_limit, lambda: process.poll() is None)

            def send() -> None:
                try:
                    kernel.send(PORT, plan.contents, plan.congestion_control, time_limit, namespace.LINUX_IP)
                except KernelSideFailed as error:
                    failures.append(f"Linux, sender: {error}")

            sender = threading.Thread(target=send)
            sender.start()
            try:
                outcome = kernel.receive(listener, time_limit, delays_acks=plan.delays_acks)
            except KernelSideFailed as error:
                failures.append(f"Linux: {error}")
            sender.join()
            process.terminate()
            wire = ended(process, GRACE_SECONDS)
    result = Result(plan, wire, outcome, 0, outcome.data if outcome else b"", failures)
    if not result.sha256_equal:
        failures.append(f"SHA-256 differs: {_first_difference(plan.contents, result.received)}")
    return result


def sha256(contents: bytes) -> str:
    return hashlib.sha256(contents).hexdigest()


def _first_difference(sent: bytes, received: bytes) -> str:
    for position, (ours, theirs) in enumerate(zip(sent, received, strict=False)):
        if ours != theirs:
            return f"first at byte {position} of {len(sent)}"
    return f"{len(received)} bytes of {len(sent)} arrived"
