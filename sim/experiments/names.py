# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The experiments' names: programs and files. Python's own library alone: make asks before set-up."""

from __future__ import annotations

from pathlib import Path

PROGRAMS = {
    "astart": ("sim.experiments.astart", "Westwood's rate estimates and Astart beside other start-up policies"),
    "carson": ("sim.experiments.carson", "Carson and Reno on the thesis's dumbbell: ratios of its tables"),
    "cubic": ("sim.experiments.cubic", "the core's CUBIC and ns-3's TcpCubic on the same paths"),
    "fairness": ("sim.experiments.fairness", "64 flows of one core at once: what each gets"),
    "gateway": ("sim.experiments.gateway", "two hosts of a site, one path: what the second starts with"),
    "linearity": ("sim.experiments.linearity", "sent gap and received gap over ns-3, our MAC at both ends"),
    "logistic": ("sim.experiments.logistic", "the logistic window beside HighSpeed and Scalable"),
    "spm": ("sim.experiments.spm", "start-up by packet pairs beside constant-rate traffic"),
    "ssipp": ("sim.experiments.ssipp", "inverted pairs for receivers that delay ACKs; root"),
}
FILES = {path.stem: path for path in sorted(Path(__file__).parent.glob("*.toml"))}
EXPERIMENTS = [*PROGRAMS, *FILES]
