# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The state of each golden model has the fields of the RTL's bundle: names, widths and order, as the layout has them."""

from __future__ import annotations

import json
import re

import pytest
from downbeat_toe.policies import FAMILIES, OWN

from sim.golden.congestion.outside import places
from sim.golden.congestion.seam import state_of
from sim.golden.policies import STARTUP, STEADY

MODELS = {"startup": STARTUP, "steady": STEADY}
STATES: dict[str, dict[str, dict[str, int]]] = json.loads(OWN.read_text())["states"]
POLICIES = [(family, name) for family, key in FAMILIES.items() for name in STATES[key]]


def snake_case(name: str) -> str:
    """tMinusK is t_minus_k."""
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()


@pytest.mark.parametrize(("family", "name"), POLICIES)
def test_a_model_has_the_fields_of_the_rtl(family: str, name: str) -> None:
    fields = [(snake_case(field), bits) for field, bits in STATES[FAMILIES[family]][name].items()]
    assert state_of(MODELS[family][name]).widths() == fields


@pytest.mark.parametrize("family", FAMILIES)
def test_the_layout_has_the_state_of_each_policy(family: str) -> None:
    assert places(family) or set(STATES[FAMILIES[family]]) == set(MODELS[family])
