# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The experiments' names: programs and files. Python's own library alone: make asks before set-up."""

from __future__ import annotations

from pathlib import Path

PROGRAMS = {
    "gateway": ("sim.experiments.gateway", "two hosts of a site, one path: what the second starts with"),
    "linearity": ("sim.experiments.linearity", "sent gap and received gap over ns-3, our MAC at both ends"),
}
# The files' variables that a program reads too.
PROGRAMS_TAKE = {"gateway": ("SEED",), "linearity": ("SEED", "JOBS", "DURATION")}
PROGRAMS_MINIMUM_SECONDS = {"linearity": 20}  # simulated: its runs have a pair each
FILES = {path.stem: path for path in sorted(Path(__file__).resolve().parent.glob("papers/*/*.toml"))}
EXPERIMENTS = [*PROGRAMS, *FILES]
