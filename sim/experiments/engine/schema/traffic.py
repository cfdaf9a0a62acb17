# SPDX-License-Identifier: BSD-2-Clause-Patent
"""[[traffic]] and [[pairs]]: packets that ns-3's hosts send without TCP."""

from __future__ import annotations

from typing import Literal, Self

from downbeat_toe import quantities
from pydantic import Field, model_validator

from sim.experiments.engine.schema.measures import Table
from sim.experiments.engine.schema.units import Rate, RateOrNone, Time


class Pairs(Table):
    """Pairs of packets that a host of ns-3 sends at given gaps, to the nanosecond, whatever the path returns. The core's
    launch gate and stamps keep such gaps within 8 ns (make experiment NAME=linearity)."""

    label: str = Field(pattern=r"^[a-z0-9-]+$")
    origin: int = Field(0, alias="from", ge=0)
    target: int = Field(alias="to", ge=0)
    gaps: tuple[Time, ...] = Field(min_length=1)  # gaps of the pairs in turn
    every: Time = 1_000_000_000  # mean time between pairs: a tenth is fixed, the rest exponential
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
    at: Literal["host", "router"] = "host"  # host: each source has its own access link
    rate: Rate | None = None
    rates: tuple[tuple[Time, RateOrNone], ...] = ()  # instead of rate: pairs of a time and the rate from then on
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
