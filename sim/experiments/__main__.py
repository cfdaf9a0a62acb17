# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make experiment NAME=name`: what the papers simulated, with the RTL as the sender."""

from __future__ import annotations

import sys

from sim.lib.named import choose

EXPERIMENTS = {
    "astart": ("sim.experiments.astart", "Westwood's rate estimates and Astart beside other start-up policies"),
    "carson": ("sim.experiments.carson", "Carson and Reno on the thesis's dumbbell: ratios of its tables"),
    "cubic": ("sim.experiments.cubic", "the core's CUBIC and ns-3's TcpCubic on the same paths"),
    "fairness": ("sim.experiments.fairness", "64 flows of one core at once: what each gets"),
    "linearity": ("sim.experiments.linearity", "sent gap and received gap over ns-3, our MAC at both ends"),
    "logistic": ("sim.experiments.logistic", "the logistic window beside HighSpeed and Scalable"),
    "spm": ("sim.experiments.spm", "start-up by packet pairs beside constant-rate traffic"),
    "ssipp": ("sim.experiments.ssipp", "inverted pairs for receivers that delay ACKs; root"),
}

if __name__ == "__main__":
    sys.exit(choose("experiment", EXPERIMENTS))
