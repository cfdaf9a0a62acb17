# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Request by request: a policy's own test with more requests than `make test` asks, and its model against its
equation."""

from __future__ import annotations

import importlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from sim.golden.congestion.seam import calculator_of, state_of
from sim.golden.policies import STARTUP, STEADY
from sim.lib import build

MODELS = {"startup": STARTUP, "steady": STEADY}
CASE = "rtl_agrees_with_the_golden_model"
NOTHING_COLLECTED = 5  # pytest's exit status


class BenchFailed(Exception):
    """The policy's test left no figures; the message is its end."""


def compare(family: str, name: str, count: int, seed: int) -> dict[str, Any]:
    """`requests`, `mismatches`, `latency_clocks`, and `said`: the first counterexample, where something differs."""
    test = module_file(family, name)
    with tempfile.TemporaryDirectory() as place:
        figures = Path(place) / "figures.json"
        environment = os.environ | {
            "POLICY_REQUESTS": str(count),
            "POLICY_FIGURES": str(figures),
            "COCOTB_RANDOM_SEED": str(seed),
            "DOWNBEAT_CASE": CASE,
        }
        command = [sys.executable, "-m", "pytest", "-qq", "--tb=short", f"{test}::test_{name}"]
        done = subprocess.run(command, cwd=build.ROOT, env=environment, text=True, capture_output=True, check=False)
        said = done.stdout + done.stderr
        if not figures.exists():
            raise BenchFailed(f"{name}: {test.name} requested nothing:\n{said[-3000:]}")
        found: dict[str, Any] = json.loads(figures.read_text())
    if first := found.pop("first", None):
        head = f"{name}: {found['mismatches']:,} of {found['requests']:,} answers differ. The first, by SEED={seed}:"
        return found | {"said": "\n".join([head, *first])}
    return found | {"said": said[-3000:] if done.returncode else ""}


def paper(family: str, name: str) -> tuple[int, str]:
    """The policy's other tests, which compare its golden model with the paper: how many passed, and what the first
    says.

    A model that its own test contradicts is wrong, also where the RTL repeats its mistake.
    """
    test = module_file(family, name)
    command = [sys.executable, "-m", "pytest", "-q", "--no-header", "--tb=short", "--maxfail=1", "-pno:cacheprovider"]
    command.append(str(test))
    environment = {
        key: value for key, value in os.environ.items() if key not in ("DOWNBEAT_CASE", "COCOTB_TEST_FILTER")
    }
    environment["DOWNBEAT_MODELS_ALONE"] = "1"
    done = subprocess.run(command, cwd=build.ROOT, env=environment, text=True, capture_output=True, check=False)
    passed = re.findall(r"(\d+) passed", done.stdout)
    said = "" if done.returncode in (0, NOTHING_COLLECTED) else f"{name}: its golden model contradicts {test.name}:\n"
    return int(passed[0]) if passed else 0, said and said + (done.stdout + done.stderr)[-3000:]


def float_error(family: str, name: str, seed: int) -> float | None:
    """The relative error of the golden model from the equation that the policy's test measures; None: it measures nothing."""
    test = module_file(family, name)
    if test.is_relative_to(build.ROOT / "cocotb_tests"):
        module = importlib.import_module(f"cocotb_tests.congestion.{family}.test_{name}")
    else:
        sys.path.insert(0, str(test.parents[1]))
        module = importlib.import_module(f"{family}.test_{name}")
    measure = getattr(module, "float_error", None)
    return None if measure is None else float(measure(random.Random(f"float_error {seed}")))


def state_bits(family: str, name: str) -> int:
    """The bits of the golden model's state, which the bench has compared with the RTL's."""
    return state_of(MODELS[family][name]).bits()


def calculates(family: str, name: str) -> bool:
    """It has long calculations."""
    return calculator_of(MODELS[family][name]) is not None


def module_file(family: str, name: str) -> Path:
    """A policy's test: in the tree, or in POLICY_PATH."""
    own = build.ROOT / "cocotb_tests" / "congestion" / family / f"test_{name}.py"
    other = Path(os.environ.get("POLICY_PATH") or own) / family / own.name
    for found in (own, other):
        if found.is_file():
            return found.resolve()
    raise BenchFailed(f"{name}: no test of it: {own.relative_to(build.ROOT)} (scripts/lint and test_policies want one)")
