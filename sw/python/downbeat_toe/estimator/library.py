# SPDX-License-Identifier: BSD-2-Clause-Patent
"""libdownbeat_estimator.so: where it lies."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
from pathlib import Path

from downbeat_toe import shared_object
from downbeat_toe.estimator.structures import ABI, FUNCTIONS
from downbeat_toe.refused import Refused

NAME = "libdownbeat_estimator.so"
BUILT = Path(__file__).resolve().parents[4] / "build" / "estimator" / NAME


def load(path: Path | None = None) -> ctypes.CDLL:
    """The library at `path`; without: of DOWNBEAT_ESTIMATOR, of this tree's build, or of the system."""
    named = path or (Path(os.environ["DOWNBEAT_ESTIMATOR"]) if "DOWNBEAT_ESTIMATOR" in os.environ else None)
    found = str(named or BUILT) if named or BUILT.exists() else ctypes.util.find_library("downbeat_estimator")
    if found is None:
        raise Refused(f"{NAME} is not built: make estimator, or set DOWNBEAT_ESTIMATOR to its path")
    try:
        return shared_object.load(found, FUNCTIONS, "downbeat_estimator_abi", ABI)
    except OSError as error:
        raise Refused(f"{found} is not a library: {error}") from None
