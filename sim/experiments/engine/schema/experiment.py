# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The whole file, and [run]."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from sim.experiments.engine.schema.flow import Flow
from sim.experiments.engine.schema.measures import TRACED, Listing, Measure, Plot, Published, Table
from sim.experiments.engine.schema.topology import Topology
from sim.experiments.engine.schema.traffic import Pairs, Traffic
from sim.experiments.engine.schema.units import Payload, Size, Time


class Run(Table):
    duration: Time
    seeds: int = Field(1, ge=1, le=10_000)  # runs of each cell, with the seeds from SEED on
    measure: Time = 0  # time from which windows, rates, queues and losses count
    warm_up: Time = 0  # runs that differ only in later flows share it
    sample: Time = 0  # interval of the samples; 0: no samples
    marks: tuple[Time, ...] = ()  # times since establishment at which progress is kept
    sizes: tuple[Payload, ...] = ()  # acknowledged bytes at which the time is kept
    packet: Size = 1502  # bytes of a full packet that the link rates count; ours has 1,500 bytes and 2 of PPP
    # sim: 16 connections of a core and windows up to 1 MiB. sim65536: 65,536 connections and the largest windows, but
    # each pair counts as disturbed. ns2: sim65536 with a minimum RTO of 200 ms in place of 1 s, for ns-3's TCPs too.
    preset: Literal["sim", "sim65536", "ns2"] = "sim65536"
    miss_weight: int = Field(2, ge=1, le=2)  # weight of MISS's new interval between drops, in thirds
    spand_lower_bound: bool = False  # a transfer without loss does not lower SPAND's mean window
    complete: bool = False  # the run ends when all transfers are acknowledged
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


class Experiment(Table):
    """One cell: the axes' values are in their places."""

    name: str = Field(pattern=r"^[a-z0-9-]+$")
    title: str
    source: str
    quick: bool = True  # in the set of `make experiments`
    departs: tuple[str, ...] = ()  # differences to the paper, in sentences
    assumed: tuple[str, ...] = ()  # values that the paper leaves out
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
        ends += [("pairs", pairs) for pairs in self.pairs] + [
            ("traffic", one) for one in self.traffic if not one.each_hop
        ]
        if self.topology.kind not in ("chain", "parking-lot") and any(one.each_hop for one in self.traffic):
            raise ValueError("traffic: each_hop is for a chain or a parking-lot, which have hops")
        if not self.flow and not self.pairs:
            raise ValueError("nothing is sent: give a [[flow]] or [[pairs]]")
        for what, each in ends:
            drawn = (
                self.topology.stubs is not None and each.target == 1
            )  # both ends have the number of the stubs and are two routers
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
                raise ValueError(f"{each.named}: no flow has the label '{label}', use {', '.join(sorted(labels))}")
            in_series = getattr(each, "series", "") == "marks"
            if each.metric == "packets_at" and not in_series and each.mark not in self.run.marks:
                raise ValueError(f"{each.named}: packets_at needs a mark that run.marks has")
            if in_series and not self.run.marks:
                raise ValueError(f"{each.named}: series = 'marks' needs run.marks")
            if each.metric == "seconds_to" and each.size not in self.run.sizes:
                raise ValueError(f"{each.named}: seconds_to needs a size that run.sizes has")
            traced = {flow.label for flow in self.flow if flow.trace}
            traced |= paired if each.metric == "arrival_gap" else set()
            if each.metric in TRACED and not traced >= ({each.label} if each.label else labels):
                raise ValueError(
                    f"{each.named}: {each.metric} needs trace = true in the flows that it measures: trace them, or give "
                    "a label"
                )
            if each.label in paired and each.metric != "arrival_gap":
                raise ValueError(f"{each.named}: '{each.label}' are pairs: their metric is arrival_gap")
            if each.metric == "seconds_to_window" and not (each.reached and self.run.sample):
                raise ValueError(f"{each.named}: seconds_to_window needs reached, packets, and run.sample")
            self._has_samples(each)
            self._has_link(each)
        return self

    def _has_samples(self, measure: Measure) -> None:
        series = getattr(measure, "series", "")
        in_time = series not in ("", "marks", "gaps")
        sampled = measure.begin or measure.end or measure.metric == "seconds_to_full" or in_time
        if sampled and not self.run.sample:
            what = f"series = '{series}'" if series else f"{measure.metric} over a part of the run"
            raise ValueError(f"{measure.named}: {what} needs samples: set run.sample, as '100 ms'")

    def _has_link(self, measure: Measure) -> None:
        last = self.topology.hops - 1
        if self.topology.kind in ("dumbbell", "chain", "parking-lot") and measure.link > last:
            raise ValueError(f"{measure.named}: link = {measure.link}: this {self.topology.kind} has links 0 to {last}")
