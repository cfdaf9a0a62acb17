# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The registry: each policy of Policies.scala has a golden model, a module and a test, under the name it goes by."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from sim.golden.congestion.outside import places
from sim.golden.congestion.seam import Policy
from sim.golden.policies import STARTUP, STEADY

ROOT = Path(__file__).resolve().parents[2]
RTL = ROOT / "rtl" / "downbeat" / "congestion"
REGISTRY = ROOT / "rtl" / "downbeat" / "builds" / "Policies.scala"
MODELS: dict[str, Mapping[str, Policy]] = {"startup": STARTUP, "steady": STEADY}


def registered() -> list[tuple[str, str]]:
    """Folder and Scala object of each policy in the registry."""
    lists = re.findall(r"val (\w+): Seq\[\w+\] = Seq\((.*?)\)", REGISTRY.read_text(), re.DOTALL)
    return [(folder, policy) for folder, body in lists for policy in re.findall(r"\w+", body)]


def outside(folder: str) -> set[str]:
    """Golden models from outside the tree, which the registry does not list."""
    return {path.stem for place in places(folder) for path in Path(place).glob("*.py")}


def test_the_registry_is_read() -> None:
    assert {folder for folder, _ in registered()} == set(MODELS)


@pytest.mark.parametrize(("folder", "policy"), registered())
def test_a_registered_policy_has_a_golden_model_a_module_and_a_test(folder: str, policy: str) -> None:
    scala = (RTL / folder / f"{policy}.scala").read_text()
    named = re.search(r'val name = "([a-z0-9]+)"', scala)
    assert named, f"{policy}.scala: no name of lower-case letters and digits"
    name = named.group(1)
    model = MODELS[folder].get(name)
    assert model, f"no golden model of {name} in sim/golden/congestion/{folder}"
    module = f"Policy{name.capitalize()}"
    assert (ROOT / "build" / "rtl" / f"{module}.v").exists()
    tests = "".join(path.read_text() for path in (ROOT / "cocotb_tests" / "congestion" / folder).glob("test_*.py"))
    assert f'run_module("{module}"' in tests, f"no test in cocotb_tests/congestion/{folder} runs {module}"


@pytest.mark.parametrize("folder", MODELS)
def test_each_golden_model_is_of_a_registered_policy(folder: str) -> None:
    own = [name for name in MODELS[folder] if name not in outside(folder)]
    assert len(own) == len([policy for where, policy in registered() if where == folder])
