# SPDX-License-Identifier: BSD-2-Clause-Patent
"""[[flow]]: connections, of a core or of ns-3."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from sim.experiments.engine.schema.draws import Draw, SizeDraw
from sim.experiments.engine.schema.measures import Table
from sim.experiments.engine.schema.methods import METHODS
from sim.experiments.engine.schema.topology import Access
from sim.experiments.engine.schema.units import Payload, Rate, Time

NS3_TCP = ("TcpNewReno", "TcpLinuxReno", "TcpCubic", "TcpHighSpeed", "TcpScalable", "TcpVegas", "TcpBbr")
FASTEST_LINE = 10**9  # b/s


class Receiver(Table):
    delayed_ack: bool = False
    ack_timeout: Time = 200_000_000
    rwnd: Payload = 16 << 20


class Rounds(Table):
    """Transfers one after the other. Small transfers at drawn gaps, on one connection, model an interactive session."""

    count: int = Field(ge=1)
    gap: Draw
    jitter: Time = 0
    fresh: bool = False  # each round has a connection of its own


class Change(Table):
    at: Time
    steady_argument: str


class Flow(Table):
    """`count` connections alike, at once or one after the other."""

    label: str = Field(pattern=r"^[a-z0-9-]+$")
    sender: Literal["core", "ns-3"] = "core"
    tcp: Literal[NS3_TCP] = "TcpNewReno"  # type: ignore[valid-type]
    count: int | None = Field(None, ge=0)  # None: one connection; with `every`: all that arrive
    cores: Literal["one", "each"] = "one"  # one: one core has all connections; each: a core for each
    origin: int = Field(0, alias="from", ge=0)  # routers
    target: int = Field(alias="to", ge=0)
    hosts: int = Field(0, ge=0)  # receivers, drawn at random; 0: one each
    host: str = Field("", pattern=r"^[a-z0-9-]*$")  # instead of hosts: one receiver, shared by all flows that name it
    access: Access | None = None  # the sender's, instead of the topology's
    # Rate of the core's wire, b/s; a router then joins it to the access link. A policy that measures gaps needs
    # 1 Gb/s: on a slower wire a segment does not leave within 8 ns of its time.
    line: Rate | None = None
    startup: str = ""
    startup_argument: str = ""
    steady: str = ""
    steady_argument: str = ""
    initial_window: int = Field(1, ge=1, le=255)
    ssthresh: Payload | None = None
    nssr: bool = False
    # reno: the first ACK of new data ends it (RFC 5681 3.2). rack: RACK, tail loss probes, undo and the limit of growth,
    # which the papers' TCP does not have.
    recovery: Literal["newreno", "reno", "rack"] = "newreno"
    # Source of the metric `estimate`: ssthresh as the policy has set it, or Westwood's rate, as a window, when cwnd reaches
    # the first ssthresh or slow start ends by a loss.
    estimated_by: Literal["ssthresh", "bwe", "ere"] = "ssthresh"
    estimated_after: int = Field(0, ge=0)  # round trips from then until the rate is read
    trace: bool = False  # keeps each segment, ACK and gap for the metrics of single segments
    estimate: Literal["", *METHODS] = ""  # type: ignore[valid-type]
    observed: bool = False  # it reports to the estimator
    start: Draw = 0
    every: Draw | None = None  # time between two arrivals, from `start` on
    lifetime: Draw | None = None
    transfer: SizeDraw | None = None  # None: data without end
    rounds: Rounds | None = None
    changes: tuple[Change, ...] = ()
    receiver: Receiver = Receiver()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.sender == "ns-3" and (self.startup or self.steady or self.estimate or self.changes):
            raise ValueError("startup, steady, estimate and changes are a core's: leave them out, or sender = 'core'")
        if self.sender == "ns-3" and self.trace:
            raise ValueError("trace is a core's: leave it out, or sender = 'core'")
        if self.estimated_by != "ssthresh" and not (self.trace and self.ssthresh):
            raise ValueError(f"estimated_by = '{self.estimated_by}' needs trace = true and ssthresh")
        if self.estimated_after and self.estimated_by == "ssthresh":
            raise ValueError("estimated_after is of a rate: set estimated_by = 'bwe' or 'ere'")
        if self.line is not None and (self.sender == "ns-3" or self.line > FASTEST_LINE):
            raise ValueError("line is a core's, at most 1 Gb/s")
        if self.rounds and self.transfer is None:
            raise ValueError("rounds need a transfer")
        if self.host and self.hosts:
            raise ValueError("host names one receiver, hosts draws among several: use one of the two")
        return self
