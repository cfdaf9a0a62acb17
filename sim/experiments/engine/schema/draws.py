# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Times and sizes that are drawn for each connection."""

from __future__ import annotations

from pydantic import Field

from sim.experiments.engine.schema.measures import Table
from sim.experiments.engine.schema.units import Payload, Time


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
