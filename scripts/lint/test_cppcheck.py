# SPDX-License-Identifier: BSD-2-Clause-Patent
"""cppcheck finds nothing in the C++ of the host half: driver, run, estimator, gateway and the device around the
core.

A member that a record's user fills has no initializer here on purpose: what is left out is the sanitizers' to find.
"""

from __future__ import annotations

import os

from scripts.lint.tools import ROOT, passes

PLACES = ("sw/driver", "sw/run", "sw/estimator", "sw/gateway", "sim/device/host", "sim/host")
INCLUDES = (
    "sw/include",
    "sw/driver/include",
    "sw/driver/src",
    "sw/estimator/include",
    "sw/gateway",
    "sw/gateway/client",
)
SUPPRESSED = ("missingIncludeSystem", "uninitMemberVarNoCtor", "normalCheckLevelMaxBranches")


def test_cpp() -> None:
    options = ["--std=c++20", "--quiet", "--error-exitcode=1", f"-j{os.cpu_count() or 1}", "--inline-suppr"]
    options += ["--enable=warning,performance,portability", *(f"--suppress={name}" for name in SUPPRESSED)]
    passes("cppcheck", *options, *(f"-I{ROOT / place}" for place in INCLUDES), *(str(ROOT / place) for place in PLACES))
