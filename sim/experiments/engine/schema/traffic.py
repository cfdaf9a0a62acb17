# SPDX-License-Identifier: BSD-2-Clause-Patent
"""[[traffic]] and [[pairs]]: packets that ns-3's hosts send without TCP."""

from __future__ import annotations

from typing import Literal, Self

from downbeat_toe import quantities
from pydantic import Field, model_validator

from sim.experiments.engine.schema.measures import Table
from sim.experiments.engine.schema.units import Rate, RateOrNone, Time


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
    """`count` sources between two routers, or between the two of each hop."""

    kind: Literal["cbr", "poisson", "pareto"]
    count: int = Field(1, ge=0)
    origin: int = Field(0, alias="from", ge=0)
    target: int = Field(0, alias="to", ge=0)
    each_hop: bool = False
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
        if self.each_hop and self.model_fields_set & {"origin", "target"}:
            raise ValueError("each_hop says where such sources are: leave from and to out")
        if (self.rate is None) == (not self.rates):
            raise ValueError("give either rate or rates")
        if (self.kind == "pareto") != bool(self.on and self.off and self.shape > 1):
            raise ValueError("on, off and shape (above 1) are of kind = 'pareto', which needs them")
        for size, weight in self.packets.items():
            quantities.size(size)
            if weight <= 0:
                raise ValueError(f"packets: '{size}' has the weight {weight:g}: use one above 0, or leave it out")
        return self
