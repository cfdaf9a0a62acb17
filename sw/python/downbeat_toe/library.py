# SPDX-License-Identifier: BSD-2-Clause-Patent
"""libdownbeat_sim.so, the simulated core: where it lies."""

from __future__ import annotations

import ctypes
from pathlib import Path

from downbeat_toe import shared_object
from downbeat_toe.device_structures import FUNCTIONS

OWN = Path(__file__).parent / "native" / "libdownbeat_sim.so"  # `make wheel` packs it


def load(path: Path = OWN) -> ctypes.CDLL:
    """libdownbeat_sim.so with the types of its functions; of a wheel with the simulated device in it, its own.

    OSError: it is not there, or no library.
    """
    return shared_object.load(path, FUNCTIONS)
