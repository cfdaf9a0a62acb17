# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Which reports have a record, and which command makes each of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, RootModel

from scripts.figures import benches, experiments, netlists
from scripts.figures.schema import Recorded

Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True)
class Kind(Generic[Model]):
    """A report build/reports/REPORT.json and its record records/NAME.json."""

    name: str
    model: type[Model]
    command: str  # fields of the report in braces
    report: str = ""  # the report's name if it differs

    @property
    def file(self) -> str:
        return f"{self.report or self.name}.json"


class Policies(Recorded, RootModel[list[netlists.PolicyArea]]):
    """The report is a list."""


SIM = Kind("sim", benches.Sim, "make sim")
SPEED = Kind("speed", benches.Speed, "make bench NAME=speed", "bench")
LATENCY = Kind("latency", benches.Latency, "make bench NAME=latency")
EVENTS = Kind("events", benches.Events, "make bench NAME=events")
HOST = Kind("host", benches.Host, "make bench NAME=host DURATION={duration}")
PACING = Kind("pacing", benches.Pacing, "make bench NAME=pacing")
SCALE = Kind("scale", benches.Scale, "make bench NAME=scale")
GAP = Kind("gap", benches.Gap, "make gap")
SELFTEST = Kind("gap-selftest", benches.Selftest, "downbeat gap selftest")
LINUX_PACING = Kind("linux-pacing", benches.LinuxPacing, "downbeat gap capture x.pcapng --paced 100Mb/s")
LINEARITY = Kind("linearity", experiments.Linearity, "make experiment NAME=linearity")
LEAGUE = Kind("league", experiments.League, "make experiment NAME=league", "experiments/league")
FILES = Kind("experiments", experiments.Files, "make experiments")
POLICIES = Kind("policies", Policies, "make policies AREA=1")
SYNTH = Kind("synth", netlists.Synth, "make synth TARGET={target} PRESET={preset} FLOWS={flows}")
CORE = Kind("core", netlists.Synth, "make synth MODULE={requested} TARGET={target} PRESET={preset}", "synth")
FMAX = Kind("fmax", netlists.Fmax, "make fmax MODULE={module} PRESET={preset} GRADE={grade} SEED={seed}")
BOARDS: tuple[Kind[netlists.Bitstream], ...] = tuple(
    Kind(f"bitstream-{board}", netlists.Bitstream, "make bitstream BOARD={board}")
    for board in ("colorlight-i9", "ecpix5", "ecpix5-tcp")
)

BENCHES: list[Kind[Any]] = [SIM, SPEED, LATENCY, EVENTS, HOST, PACING, SCALE, GAP, SELFTEST, LINUX_PACING]
EXPERIMENTS: list[Kind[Any]] = [LINEARITY, LEAGUE, FILES]
NETLISTS: list[Kind[Any]] = [POLICIES, SYNTH, CORE, FMAX, *BOARDS]
KINDS = {kind.name: kind for kind in (*BENCHES, *EXPERIMENTS, *NETLISTS)}
