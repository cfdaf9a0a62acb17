# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The program that runs an experiment, the policies in it, and its workers."""

from __future__ import annotations

import os
from pathlib import Path

from downbeat_toe import policies
from downbeat_toe.refused import Refused

from sim.experiments.engine.runs.runs import Runs
from sim.experiments.engine.runs.workers import Cluster, Processes, require_address
from sim.experiments.engine.schema.checks import Policies
from sim.experiments.engine.schema.load import File
from sim.lib import build
from sim.lib.verilated import LARGEST, rtl

KEPT = build.ROOT / "build" / "experiments"


def built_policies(preset: str = LARGEST) -> Policies:
    return policies.read(_layout(preset))


def _layout(preset: str) -> Path:
    layout = rtl(preset) / "downbeat_layout.json"
    if not layout.exists():
        raise Refused(f"{layout.relative_to(build.ROOT)} is missing: make {rtl(preset).relative_to(build.ROOT)}.stamp")
    return layout


def program(file: File) -> Path:
    """The program that runs the file's cells; built if it is missing."""
    preset = file.experiment.run.preset
    _layout(preset)
    return build.experiment(preset) / "downbeat_experiment"


def runner(jobs: int = 0, scheduler: str = "") -> Runs:
    """`jobs` processes, 0 for as many as there are cores, or a Dask cluster."""
    if scheduler:
        require_address(scheduler)
        return Runs(KEPT, lambda: Cluster(scheduler))
    return Runs(KEPT, lambda: Processes(jobs or os.cpu_count() or 1))
