# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Measures of the runs that an experiment's file names: numbers, published values, plots and tables."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from sim.experiments.engine.schema.units import THIRD, Payload, Time, Tolerance

TRACED = ("arrival_gap", "inverted_share", "max_per_ack")  # metrics of single segments, ACKs and pairs
UNITS = {  # unit of each metric; none: a share or a count
    **dict.fromkeys(("packets_at", "packets", "window", "exit_window", "estimate", "queue", "max_queue"), "packets"),
    **dict.fromkeys(("loss_interval", "first_intervals", "max_per_ack"), "packets"),
    **dict.fromkeys(("seconds_to", "seconds_to_full", "seconds_to_window", "rtt", "completion", "established"), "s"),
    **dict.fromkeys(("throughput", "transfer_rate", "capacity", "available"), "Mb/s"),
    "arrival_gap": "ms",
    **dict.fromkeys(("utilisation", "jain", "exit_share", "inverted_share", "goodput"), ""),
    **dict.fromkeys(("losses", "timeouts", "retransmissions", "drops"), ""),
}
METRICS = tuple(UNITS)


class Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Measure(Table):
    """A number of a run: the `statistic` of `metric` over the connections of `label`."""

    metric: Literal[METRICS]  # type: ignore[valid-type]
    label: str = ""  # empty: all connections
    statistic: Literal["mean", "median", "sum", "min", "max", "p90"] = "mean"
    mark: Time = 0  # for packets_at: one of run.marks
    size: Payload = 0  # for seconds_to: one of run.sizes
    reached: float = Field(0, ge=0)  # for seconds_to_window: packets
    rounds: int | None = Field(None, ge=0)  # for estimate of a rate: round trips; None: the flow's estimated_after
    gap: Time = 0  # for arrival_gap: the gap at departure, within a sixteenth; 0: any
    begin: Time = 0  # for throughput and utilisation: start of the interval
    end: Time = 0  # its end; 0: the end of the run
    link: int = Field(0, ge=0)

    @property
    def named(self) -> str:
        """Its name in messages."""
        return f"'{getattr(self, 'quantity', '') or getattr(self, 'title', '')}'"


class Published(Measure):
    """The paper's value of a measure, in one form of `value`, `between`, `at_least`, `at_most`, `order`."""

    quantity: str
    figure: str
    of: dict[str, str] = {}  # chooses the cells: axis and name of its value
    over: dict[str, str] = {}  # chooses the divisor: the same measure in the cells that differ in these axes
    against: str = ""  # a label: the same measure of its connections, in the same runs, is the divisor
    value: float | None = None
    tolerance: Tolerance | None = None
    between: tuple[float, float] | None = None
    at_least: float | None = None
    at_most: float | None = None
    along: str = ""  # an axis
    order: tuple[str, ...] = ()  # names of its values, the highest first
    tie: float = Field(0, ge=0, lt=1)  # share by which a lower name may exceed a higher one
    explained: str = ""  # the reason why ours differs
    full: bool = False  # for cells that only the full form has
    level: Literal["number", "ratio", "shape", "goal"]  # by its form, if the file gives none; goal: ours, not counted

    @property
    def is_ratio(self) -> bool:
        return bool(self.over or self.against) and not self.order

    @property
    def unit(self) -> str:
        return "" if self.over or self.against or self.order else UNITS[self.metric]

    @model_validator(mode="before")
    @classmethod
    def _level(cls, keys: Any) -> Any:
        """A ratio or a ranking is a ratio, a bound is a shape, and a value or a range is a number."""
        if not isinstance(keys, dict) or "level" in keys:
            return keys
        ratio = any(keys.get(key) for key in ("over", "against", "order"))
        return keys | {"level": "ratio" if ratio else "number" if {"value", "between"} & keys.keys() else "shape"}

    @model_validator(mode="after")
    def _form(self) -> Self:
        forms = [self.value is not None, self.between is not None, self.at_least is not None]
        forms += [self.at_most is not None, bool(self.order)]
        if sum(forms) != 1:
            raise ValueError("give one of value, between, at_least, at_most, order")
        if (self.value is not None) != (self.tolerance is not None):
            raise ValueError("value and tolerance go together")
        if self.tolerance == THIRD and not self.is_ratio:
            raise ValueError("tolerance 'third' is a third of a ratio's difference from 1: give over or against")
        if self.between is not None and self.between[0] > self.between[1]:
            raise ValueError("between: write the lower bound first")
        if bool(self.order) != bool(self.along):
            raise ValueError("order and along go together")
        if self.against and (self.over or not self.label):
            raise ValueError(
                "against divides the measure of label by that of another label: give label, leave over out"
            )
        return self


class Plot(Measure):
    """Measures over an axis, a curve for each value of `by`; or packets_at over the run's marks; or a series of the
    first run in time; or, over the gap at departure, the mean gap at arrival of the pairs of all runs, with 5 and 95 %
    of them."""

    title: str
    x: str  # an axis, mark, time, or gap
    series: Literal["", "marks", "window", "queue", "throughput", "gaps"] = ""
    by: str = ""
    among: tuple[str, ...] = ()  # chosen values of `by`; none: all
    unit: str = ""
    of: dict[str, str] = {}
    over: dict[str, str] = {}

    @model_validator(mode="after")
    def _along_x(self) -> Self:
        x = {"": self.x, "marks": "mark", "gaps": "gap"}.get(self.series, "time")
        if self.x != x:
            raise ValueError(f"series = '{self.series}' is over {x}: write x = '{x}'")
        if self.series == "marks" and self.metric != "packets_at":
            raise ValueError(f"series = 'marks' is of packets_at, which {self.metric} is not")
        return self


class Column(Measure):
    """A measure of each row of a listing; with `over` its ratio to the measure there, in the same row."""

    title: str
    over: dict[str, str] = {}


class Listing(Table):
    """A row for each combination of the values of the axes `rows`, a listing for each value of the axis `each`; the
    other axes' cells are taken together."""

    title: str
    rows: tuple[str, ...] = Field(min_length=1)
    each: str = ""
    of: dict[str, str] = {}
    column: tuple[Column, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _each(self) -> Self:
        if self.each in self.rows:
            raise ValueError(f"each: '{self.each}' is one of rows already: use another axis")
        return self
