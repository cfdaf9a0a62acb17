# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The golden models by name: each module of startup/ and steady/ holds one, called POLICY."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from types import ModuleType

from sim.golden.congestion import startup, steady
from sim.golden.congestion.seam import Policy


def _policies(folder: ModuleType) -> dict[str, Policy]:
    modules = (
        importlib.import_module(f"{folder.__name__}.{found.name}")
        for found in pkgutil.iter_modules(folder.__path__)
        if not found.name.startswith("test_")  # beside its model outside the tree
    )
    return {module.POLICY.name: module.POLICY for module in modules}


STARTUP: dict[str, Policy] = _policies(startup)
STEADY: dict[str, Policy] = _policies(steady)


def title(family: str, name: str) -> str:
    """The title of a policy, by the first line of its golden model."""
    policy = (STARTUP if family == "startup" else STEADY)[name]
    first = (sys.modules[type(policy).__module__].__doc__ or name).splitlines()[0]
    return first.partition(", as rtl/")[0].rstrip(".")
