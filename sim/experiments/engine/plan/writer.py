# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Writes a plan: its lines, the numbers of its hosts, cores and routers, and its random draws."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from sim.experiments.engine.plan.transit_stub import Graph
from sim.experiments.engine.schema.checks import Policies
from sim.experiments.engine.schema.experiment import Experiment
from sim.experiments.engine.schema.flow import FASTEST_LINE, Flow
from sim.experiments.engine.schema.topology import Access
from sim.experiments.engine.schema.units import PPP, WIRE

SHORT = 1000  # ns
ENDLESS = "100000p"  # a queue


@dataclass
class Writer:
    experiment: Experiment
    policies: Policies
    seed: int
    lines: list[str] = field(default_factory=list)
    graph: Graph | None = None  # a transit-stub's
    named: dict[str, int] = field(default_factory=dict)  # hosts
    routers: int = 0
    hosts: int = 0
    cores: int = 0

    def line(self, kind: str, **words: object) -> None:
        pairs = (
            f"{name.replace('_', '-')}={int(value) if isinstance(value, bool) else value}"
            for name, value in words.items()
        )
        self.lines.append(" ".join([kind, *pairs]))

    def draws(self, *about: object) -> random.Random:
        return random.Random(":".join(map(str, (self.experiment.name, self.seed, *about))))

    def wire_rate(self, rate: int) -> int:
        return round(rate * WIRE / self.experiment.run.packet)

    def link_rate(self, rate: int) -> int:
        return round(rate * PPP / self.experiment.run.packet)

    def at(self, place: int, draws: random.Random) -> int:
        """The router of an end; in a transit-stub, 1 stands for any router of a stub domain."""
        return draws.choice(self.graph.stubs) if self.graph and place else place

    def host(self, router: int, access: Access) -> int:
        self.line("host", at=router, rate=self.link_rate(access.rate), delay=access.delay)
        self.hosts += 1
        return self.hosts - 1

    def receivers(self, flow: Flow, draws: random.Random) -> list[int]:
        """The hosts that a flow's connections share; none: each has its own."""
        access = self.experiment.topology.access
        if not flow.host:
            return [self.host(self.at(flow.target, draws), access) for _ in range(flow.hosts)]
        if flow.host not in self.named:
            self.named[flow.host] = self.host(self.at(flow.target, draws), access)
        return [self.named[flow.host]]

    def source(self, flow: Flow, draws: random.Random) -> int:
        """A host or a core of its own that sends."""
        access = flow.access or self.experiment.topology.access
        return self.host(self.at(flow.origin, draws), access) if flow.sender == "ns-3" else self.core(flow, draws)

    def core(self, flow: Flow, draws: random.Random) -> int:
        access, router = flow.access or self.experiment.topology.access, self.at(flow.origin, draws)
        rate = min(flow.line or self.wire_rate(access.rate), FASTEST_LINE)
        if flow.line:
            router = self.behind(router, access)
        self.line("core", at=router, rate=rate, delay=access.delay)
        self.cores += 1
        return self.cores - 1

    def behind(self, router: int, access: Access) -> int:
        """A new router; its link to `router` has the access link's rate and a delay of 1 us."""
        self.line("link", a=self.routers, b=router, rate=self.link_rate(access.rate), delay=SHORT, queue=ENDLESS)
        self.routers += 1
        return self.routers - 1
