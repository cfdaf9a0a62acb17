# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What stands in sim/experiments/NAME.toml: the network and its flows; measures.py has what is asked of the runs.

Every key has a type and a unit; an unknown one is refused.
"""

from __future__ import annotations

from typing import Any, Literal, Self

from downbeat_toe import quantities
from pydantic import Field, model_validator

from sim.experiments.engine.measures import TRACED, Listing, Measure, Plot, Published, Table
from sim.experiments.engine.methods import METHODS
from sim.experiments.engine.units import Payload, QueueSize, Rate, RateOrNone, Share, Size, Time

NS3_TCP = ("TcpNewReno", "TcpLinuxReno", "TcpCubic", "TcpHighSpeed", "TcpScalable", "TcpVegas", "TcpBbr")
FASTEST_LINE = 10**9  # b/s
MOST_HOPS = 16  # a router's hosts have a prefix of their own


class Uniform(Table):
    uniform: tuple[Time, Time]


class Exponential(Table):
    exponential: Time


class ParetoLaw(Table):
    mean: Time
    shape: float = Field(gt=1)


class Pareto(Table):
    pareto: ParetoLaw


class UniformSize(Table):
    uniform: tuple[Payload, Payload]


Draw = Time | Uniform | Exponential | Pareto
SizeDraw = Payload | UniformSize


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
    """Another path under running connections; the queue keeps its size."""

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
    loss: Share = 0  # of the packets towards the receivers, which it destroys
    changes: tuple[LinkChange, ...] = ()  # of each link of the topology


class Stubs(Table):
    """Of a transit-stub network: `transits` routers in the middle, on each `domains` of `routers` each."""

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
    hops: int = Field(1, ge=1, le=MOST_HOPS)
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


class Run(Table):
    duration: Time
    seeds: int = Field(1, ge=1, le=10_000)  # runs of each cell, with the seeds from SEED on
    measure: Time = 0  # from when on windows, rates, queues and losses count
    warm_up: Time = 0  # runs that differ in the flows which begin from then on go through it once, together
    sample: Time = 0  # between two samples of the series; 0: none
    marks: tuple[Time, ...] = ()  # since establishment
    sizes: tuple[Payload, ...] = ()  # acknowledged, whose times are kept
    packet: Size = 1502  # what the link rates count of a full packet; ours is 1,500 bytes and 2 of PPP
    # sim: 16 connections of a core and windows to 1 MiB; sim65536: as many and as large as may be, but each pair counts
    # as disturbed; ns2: as sim65536, with an RTO of at least 200 ms instead of 1 s, of ns-3's TCPs too.
    preset: Literal["sim", "sim65536", "ns2"] = "sim65536"
    miss_weight: int = Field(2, ge=1, le=2)  # of MISS's new interval between drops, in thirds
    spand_lower_bound: bool = False  # a transfer without loss does not lower SPAND's mean window
    complete: bool = False  # ends when all transfers are acknowledged
    sack: bool = False

    @model_validator(mode="after")
    def _shorter(self) -> Self:
        for name, time in (("warm_up", self.warm_up), ("measure", self.measure)):
            if time >= self.duration:
                raise ValueError(f"{name} is as long as the run: make it shorter than duration")
        return self

    @model_validator(mode="after")
    def _rising(self) -> Self:
        for name, values in (("marks", self.marks), ("sizes", self.sizes)):
            if list(values) != sorted(set(values)):
                raise ValueError(f"{name}: list them in rising order, each once")
        return self


class Receiver(Table):
    delayed_ack: bool = False
    ack_timeout: Time = 200_000_000
    rwnd: Payload = 16 << 20


class Rounds(Table):
    """Transfers one behind the other. Small ones at drawn gaps, on one connection, are an interactive session."""

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
    count: int | None = Field(None, ge=0)  # None: one; with `every` as many as arrive
    cores: Literal["one", "each"] = "one"  # connections of one core, or a core for each
    origin: int = Field(0, alias="from", ge=0)  # routers
    target: int = Field(alias="to", ge=0)
    hosts: int = Field(0, ge=0)  # receivers, drawn at random; 0: one each
    host: str = Field("", pattern=r"^[a-z0-9-]*$")  # instead: the one receiver of all flows that name it
    access: Access | None = None  # of the sender, instead of the topology's
    # b/s of the core's wire, which then ends at a router before the access link: a policy that measures gaps needs
    # 1 Gb/s, as on a slower wire a segment does not leave within 8 ns of its time.
    line: Rate | None = None
    startup: str = ""
    startup_argument: str = ""
    steady: str = ""
    steady_argument: str = ""
    initial_window: int = Field(1, ge=1, le=255)
    ssthresh: Payload | None = None
    nssr: bool = False
    recovery: Literal["newreno", "reno"] = "newreno"  # reno: the first ACK of new data ends it (RFC 5681 3.2)
    # What the metric `estimate` is: ssthresh as the policy has set it, or Westwood's rate, as a window, when cwnd reaches
    # the first ssthresh or slow start ends by a loss.
    estimated_by: Literal["ssthresh", "bwe", "ere"] = "ssthresh"
    estimated_after: int = Field(0, ge=0)  # round trips from then until the rate is read
    trace: bool = False  # each segment, ACK and gap is kept, as the metrics of single segments need
    estimate: Literal["", *METHODS] = ""  # type: ignore[valid-type]
    observed: bool = False  # it reports to the estimator
    start: Draw = 0
    every: Draw | None = None  # between two arrivals, from `start` on
    lifetime: Draw | None = None
    transfer: SizeDraw | None = None  # without: data without end
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


class Pairs(Table):
    """Two packets `gap` apart, again and again, whatever comes back: from a host of ns-3, at its nanosecond. The core's
    launch gate and stamps keep to that within 8 ns (make experiment NAME=linearity)."""

    label: str = Field(pattern=r"^[a-z0-9-]+$")
    origin: int = Field(0, alias="from", ge=0)
    target: int = Field(alias="to", ge=0)
    gaps: tuple[Time, ...] = Field(min_length=1)  # in turn
    every: Time = 1_000_000_000  # on average, from pair to pair: a tenth of it is a rest, the others a Poisson process
    start: Time = 1_000_000_000

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.every < 2 * max(self.gaps):
            raise ValueError("every is the mean time from pair to pair: use twice the longest gap or more")
        return self


class Traffic(Table):
    kind: Literal["cbr", "poisson", "pareto"]
    count: int = Field(1, ge=0)
    origin: int = Field(0, alias="from", ge=0)
    target: int = Field(alias="to", ge=0)
    at: Literal["host", "router"] = "host"  # with access links of their own, or not
    rate: Rate | None = None
    rates: tuple[tuple[Time, RateOrNone], ...] = ()  # instead: from when on how much
    packets: dict[str, float] = Field({"1000 B": 1}, min_length=1)  # sizes and their weights
    on: Time = 0
    off: Time = 0
    shape: float = 0
    start: Time = 0
    stop: Time | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.rate is None) == (not self.rates):
            raise ValueError("give either rate or rates")
        if (self.kind == "pareto") != bool(self.on and self.off and self.shape > 1):
            raise ValueError("on, off and shape (above 1) are of kind = 'pareto', which needs them")
        for size, weight in self.packets.items():
            quantities.size(size)
            if weight <= 0:
                raise ValueError(f"packets: '{size}' has the weight {weight:g}: use one above 0, or leave it out")
        return self


class Experiment(Table):
    """One cell: the axes' values are in their places."""

    name: str = Field(pattern=r"^[a-z0-9-]+$")
    title: str
    source: str
    quick: bool = True  # one of `make experiments`
    departs: tuple[str, ...] = ()  # from the paper, in sentences
    assumed: tuple[str, ...] = ()  # what the paper leaves out
    topology: Topology
    run: Run
    flow: tuple[Flow, ...] = ()
    pairs: tuple[Pairs, ...] = ()
    traffic: tuple[Traffic, ...] = ()
    published: tuple[Published, ...] = ()
    plot: tuple[Plot, ...] = ()
    table: tuple[Listing, ...] = ()
    axes: dict[str, Any] = Field({})

    @model_validator(mode="after")
    def _places(self) -> Self:
        last = 1 if self.topology.kind in ("dumbbell", "star", "transit-stub") else self.topology.hops
        ends: list[tuple[str, Flow | Pairs | Traffic]] = [("flow", flow) for flow in self.flow]
        ends += [("pairs", pairs) for pairs in self.pairs] + [("traffic", one) for one in self.traffic]
        if not self.flow and not self.pairs:
            raise ValueError("nothing is sent: give a [[flow]] or [[pairs]]")
        for what, each in ends:
            drawn = (
                self.topology.stubs is not None and each.target == 1
            )  # two routers, though both are "one of the stubs"
            if max(each.origin, each.target) > last or (each.origin == each.target and not drawn):
                raise ValueError(
                    f"{what} from {each.origin} to {each.target}: this {self.topology.kind} has routers 0 to {last}, "
                    "use two of them"
                )
        return self

    @model_validator(mode="after")
    def _measures(self) -> Self:
        paired = {pairs.label for pairs in self.pairs}
        labels = {flow.label for flow in self.flow} | paired
        for each in (*self.published, *self.plot, *(column for table in self.table for column in table.column)):
            for label in {each.label, getattr(each, "against", "")} - {"", *labels}:
                raise ValueError(f"no flow has the label '{label}', use {', '.join(sorted(labels))}")
            if each.metric == "packets_at" and each.mark not in self.run.marks:
                raise ValueError("packets_at needs a mark that run.marks has")
            if each.metric == "seconds_to" and each.size not in self.run.sizes:
                raise ValueError("seconds_to needs a size that run.sizes has")
            traced = {flow.label for flow in self.flow if flow.trace}
            traced |= paired if each.metric == "arrival_gap" else set()
            if each.metric in TRACED and not traced >= ({each.label} if each.label else labels):
                raise ValueError(
                    f"{each.metric} needs trace = true in the flows that it measures: trace them, or give a label"
                )
            if each.label in paired and each.metric != "arrival_gap":
                raise ValueError(f"'{each.label}' are pairs: their metric is arrival_gap")
            if each.metric == "seconds_to_window" and not (each.reached and self.run.sample):
                raise ValueError("seconds_to_window needs reached, packets, and run.sample")
            self._has_samples(each)
            self._has_link(each)
        return self

    def _has_samples(self, measure: Measure) -> None:
        series = getattr(measure, "series", "")
        sampled = measure.begin or measure.end or measure.metric == "seconds_to_full" or series not in ("", "gaps")
        if sampled and not self.run.sample:
            what = f"series = '{series}'" if series else f"{measure.metric} over a part of the run"
            raise ValueError(f"{what} needs samples: set run.sample, as '100 ms'")

    def _has_link(self, measure: Measure) -> None:
        last = self.topology.hops - 1
        if self.topology.kind in ("dumbbell", "chain", "parking-lot") and measure.link > last:
            raise ValueError(f"link = {measure.link}: this {self.topology.kind} has links 0 to {last}")
