# SPDX-License-Identifier: BSD-2-Clause-Patent
"""libdownbeat.so: where it and its programs lie."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import shutil
from pathlib import Path

from downbeat_toe import shared_object
from downbeat_toe.driver.structures import ABI, FUNCTIONS
from downbeat_toe.refused import Refused

NAME = "libdownbeat.so"
BUILT = Path(__file__).resolve().parents[4] / "build" / "driver"


def directory() -> Path | None:
    """The one that DOWNBEAT_DRIVER names, or this tree's build; None: the installed library is used."""
    named = os.environ.get("DOWNBEAT_DRIVER")
    if named:
        return Path(named)
    return BUILT if (BUILT / NAME).exists() else None


def program(name: str) -> Path:
    """One of the driver's programs."""
    built = directory()
    found = str(built / name) if built else shutil.which(name)
    if found is None or not Path(found).exists():
        raise Refused(f"{name} is not built: make driver, or set DOWNBEAT_DRIVER to its directory")
    return Path(found)


def load() -> ctypes.CDLL:
    built = directory()
    found = str(built / NAME) if built else ctypes.util.find_library("downbeat")
    if found is None:
        raise Refused(f"{NAME} is not built: make driver, or set DOWNBEAT_DRIVER to its directory")
    try:
        return shared_object.load(found, FUNCTIONS, "downbeat_abi", ABI)
    except OSError as error:
        raise Refused(f"{found} is not a library: {error}") from None
