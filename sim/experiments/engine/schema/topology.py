# SPDX-License-Identifier: BSD-2-Clause-Patent
"""[topology]: routers, the links between them and their queues."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from sim.experiments.engine.schema.measures import Table
from sim.experiments.engine.schema.units import QueueSize, Rate, Share, Time

MAX_HOPS = 16  # each router's hosts have their own prefix


class Queue(Table):
    size: QueueSize
    discipline: Literal["drop-tail", "red"] = "drop-tail"
    low: float = Field(0, ge=0)  # packets; RED's thresholds
    high: float = Field(0, ge=0)

    @model_validator(mode="after")
    def _thresholds(self) -> Self:
        if self.discipline == "red" and not 0 < self.low < self.high:
            raise ValueError("red needs low and high, packets, with 0 < low < high")
        if self.discipline == "drop-tail" and (self.low or self.high):
            raise ValueError("low and high are RED's: set discipline = 'red'")
        return self


class Access(Table):
    """The link of a host or of a core to its router; its queue never overflows."""

    rate: Rate
    delay: Time


class LinkChange(Table):
    """A change of the path during the run; the queue keeps its size."""

    at: Time
    rate: Rate | None = None  # None: as before
    delay: Time | None = None
    loss: Share | None = None

    @model_validator(mode="after")
    def _something(self) -> Self:
        if self.rate is None and self.delay is None and self.loss is None:
            raise ValueError("give what changes: rate, delay or loss")
        return self


class Link(Access):
    queue: Queue
    loss: Share = 0  # share of the packets towards the receivers that the link destroys
    changes: tuple[LinkChange, ...] = ()  # changes of every link


class Stubs(Table):
    """A transit-stub network: `transits` routers in the middle, on each `domains` of `routers` each."""

    transits: int = Field(ge=2, le=20)
    domains: int = Field(ge=1, le=10)
    routers: int = Field(ge=1, le=20)
    edges: float = Field(ge=0, le=1)  # probability of a link between two routers of a domain beside its tree


class Topology(Table):
    """`hops` links in a row between hops + 1 routers, numbered from 0; `star`: one router and a path to each host;
    `transit-stub`: router 0 is in the middle, 1 stands for one of a stub domain, drawn for each end; the delay of a
    link is drawn between half and one and a half of `link`'s."""

    kind: Literal["dumbbell", "chain", "parking-lot", "star", "transit-stub"]
    stubs: Stubs | None = None
    hops: int = Field(1, ge=1, le=MAX_HOPS)
    link: Link
    access: Access

    @model_validator(mode="after")
    def _hops(self) -> Self:
        if (self.kind == "transit-stub") != (self.stubs is not None):
            raise ValueError("stubs are of kind = 'transit-stub', which needs them")
        if self.stubs and "bdp" in self.link.queue.size.lower():
            raise ValueError("a transit-stub has no one delay: give the queue in packets or bytes")
        if self.stubs and any(change.delay is not None for change in self.link.changes):
            raise ValueError("each link of a transit-stub has a delay of its own: let changes leave delay out")
        if self.kind in ("dumbbell", "star", "transit-stub") and self.hops != 1:
            raise ValueError(f"a {self.kind} has one link in the middle: leave hops out, or use kind = 'chain'")
        if self.kind in ("chain", "parking-lot") and self.hops < 2:
            raise ValueError(f"a {self.kind} needs hops = 2 or more")
        return self
