# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Random draws that a seed reproduces, for one case alone as well as among its neighbours."""

from __future__ import annotations

import os
import random
from typing import TypeVar

Draw = TypeVar("Draw")


def draws(short: Draw, long: Draw) -> Draw:
    """How many random cases a test takes, or which: the long draw by `make soak`, the short one by `make test`."""
    return long if os.environ.get("SOAK") == "1" else short


def generator() -> random.Random:
    """A generator of its own for one driver.

    cocotb seeds Python's global generator for each case from COCOTB_RANDOM_SEED and the case's name, so what is drawn
    here depends on these two and on the order in which the case makes its drivers, and on nothing that ran before.
    """
    return random.Random(random.getrandbits(64))
