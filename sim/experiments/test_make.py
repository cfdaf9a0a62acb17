# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make experiments` runs the quick set."""

from __future__ import annotations

import subprocess

from sim.lib.build import ROOT


def test_make_experiments_asks_for_the_quick_set() -> None:
    dry = subprocess.run(("make", "-n", "experiments"), cwd=ROOT, check=True, capture_output=True, text=True)
    recipe = dry.stdout.splitlines()[-1]
    assert "python -m sim.experiments" in recipe
    asked = recipe.replace("python -m sim.experiments", "printenv NAME")
    told = subprocess.run(("bash", "-c", asked), cwd=ROOT, check=True, capture_output=True, text=True)
    assert told.stdout.strip() == "quick"
