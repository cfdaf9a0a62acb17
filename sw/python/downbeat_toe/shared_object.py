# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A shared library of the project with the types of its functions."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

from downbeat_toe.refused import Refused


def load(path: str | Path, functions: dict[str, tuple[Any, list[Any]]], version: str = "", abi: int = 0) -> ctypes.CDLL:
    """The library at `path`. `version`: its function that returns its interface's number, which must be `abi`.

    Refused: another interface. OSError: not there, or no library.
    """
    library = ctypes.CDLL(str(path))
    if version:
        function = getattr(library, version)
        function.restype = ctypes.c_uint32
        if (found := function()) != abi:
            raise Refused(f"{path} has interface {found}, this package needs {abi}: build both from one release")
    for name, (result, parameters) in functions.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, parameters
    return library
