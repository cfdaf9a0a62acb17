# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Requests to events_bench, and its reports."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from downbeat_toe.policies import Policy, read

from sim.lib import build

# ssthresh in bytes of a connection that stays in its start-up, and of one that leaves it soon
ENDLESS, EARLY = 1 << 30, 8 * 1460
MIXED = "all, mixed"


class BenchFailed(Exception):
    """The engine did what it must not."""


@dataclass(frozen=True)
class Case:
    """So many flows in that order; `policies` is empty where the flows have no connection."""

    order: str  # round, random, one
    flows: int
    policies: str = ""  # MIXED, or STARTUP, STEADY

    def __str__(self) -> str:
        return f"{self.flows} flows, {self.order}, {self.policies or 'no connection'}"


def all_cases() -> list[Case]:
    """Orders without connections and with all policies mixed; then each policy alone, round robin."""
    orders = [("round", 8), ("round", 16), ("random", 16), ("one", 1)]
    policies = read(_layout())
    steady = next(iter(policies["steady"]))
    alone = [f"{startup}, {steady}" for startup in policies["startup"]]
    alone += [f"standard, {each}" for each in policies["steady"] if each != steady]
    return [
        *(Case(order, flows) for order, flows in orders),
        *(Case(order, flows, MIXED) for order, flows in orders),
        *(Case("round", 16, each) for each in alone),
    ]


def run(case: Case, events: int, seed: int, program: Path) -> dict[str, Any]:
    """The counts of the bench, with `rate` in events a clock."""
    load = ["sending", *_connections(case)] if case.policies else ["passing", str(case.flows)]
    command = [str(program), case.order, str(events), str(seed), *load]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 2):
        raise BenchFailed(f"{case}: events_bench ended with status {done.returncode}")
    figures: dict[str, Any] = json.loads(done.stdout)
    if failure := figures.pop("failure"):
        raise BenchFailed(f"{case}: {failure}; again: {' '.join(command)}")
    names = json.loads(_layout().read_text())["enums"]["EventKind"]
    kinds = {name: figures["kinds"][number] for name, number in names.items() if figures["kinds"][number]}
    about: dict[str, Any] = {"load": "sending" if case.policies else "passing", "policies": case.policies or "none"}
    about |= {"order": case.order, "flows": case.flows}
    return about | figures | {"kinds": kinds, "rate": figures["events"] / figures["clocks"]}


def _connections(case: Case) -> Iterator[str]:
    """For each flow what the bench opens it with. Every second connection stays in its start-up."""
    policies = read(_layout())
    families = [list(policies[family].values()) for family in ("startup", "steady")]
    if case.policies != MIXED:
        families = [
            [policy for policy in family if policy.name == name]
            for family, name in zip(families, case.policies.split(", "), strict=True)
        ]
    for flow in range(case.flows):
        startup, steady = (_word(family[flow % len(family)]) for family in families)
        yield f"{startup}:{steady}:{ENDLESS if flow % 2 else EARLY}"


def _word(policy: Policy) -> str:
    """Number and argument, with the fields' default values."""
    argument = sum(field.default << field.offset for field in policy.fields.values())
    return f"{policy.number}:{argument:x}"


def _layout() -> Path:
    return build.MODULES / "downbeat_layout.json"
