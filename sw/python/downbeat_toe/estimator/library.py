# SPDX-License-Identifier: BSD-2-Clause-Patent
"""libdownbeat_estimator.so: where it lies, and its functions with their types."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
from ctypes import POINTER, c_char_p, c_int, c_size_t, c_uint32, c_uint64, c_void_p
from pathlib import Path

from downbeat_toe.estimator.structures import CAddress, COptions, CPrefix, CQuestion, CReport, CStart
from downbeat_toe.refused import Refused

ABI = 1
NAME = "libdownbeat_estimator.so"
BUILT = Path(__file__).resolve().parents[4] / "build" / "estimator" / NAME


def load(path: Path | None = None) -> ctypes.CDLL:
    """The library at `path`; without: of DOWNBEAT_ESTIMATOR, of this tree's build, or of the system."""
    named = path or (Path(os.environ["DOWNBEAT_ESTIMATOR"]) if "DOWNBEAT_ESTIMATOR" in os.environ else None)
    found = str(named or BUILT) if named or BUILT.exists() else ctypes.util.find_library("downbeat_estimator")
    if found is None:
        raise Refused(f"{NAME} is not built: make estimator, or set DOWNBEAT_ESTIMATOR to its path")
    try:
        library = ctypes.CDLL(found)
    except OSError as error:
        raise Refused(f"{found} is not a library: {error}") from None
    _type(library)
    if (abi := library.downbeat_estimator_abi()) != ABI:
        raise Refused(f"{found} has interface {abi}, this package needs {ABI}: build both from one release")
    return library


def _type(library: ctypes.CDLL) -> None:
    estimator, address = c_void_p, POINTER(CAddress)
    for name, result, arguments in (
        ("estimator_abi", c_uint32, []),
        ("estimator_defaults", None, [POINTER(COptions)]),
        ("estimator_paper_mode", None, [POINTER(COptions)]),
        ("estimator_create", estimator, [POINTER(COptions), POINTER(c_char_p)]),
        ("estimator_destroy", None, [estimator]),
        ("estimator_rules", c_size_t, [estimator, c_char_p, c_size_t]),
        ("estimator_open", c_int, [estimator, c_uint64, c_uint64, address]),
        ("estimator_report", c_int, [estimator, c_uint64, POINTER(CReport)]),
        ("estimator_close", c_int, [estimator, c_uint64, c_uint64]),
        ("estimator_transfer", c_int, [estimator, c_uint64, address, *[c_uint64] * 4, c_uint32]),
        ("estimator_ask", c_int, [estimator, c_uint64, POINTER(CQuestion), POINTER(CStart)]),
        ("estimator_take", c_int, [estimator, c_uint64, POINTER(CQuestion), POINTER(CStart)]),
        ("estimator_prefix", c_int, [estimator, c_uint64, address, POINTER(CPrefix)]),
        ("estimator_next_prefix", c_int, [estimator, c_uint64, POINTER(c_size_t), POINTER(CPrefix)]),
        ("estimator_save", c_size_t, [estimator, c_uint64, c_char_p, c_size_t]),
        ("estimator_load", c_int, [estimator, c_uint64, c_uint64, c_char_p, c_size_t]),
        ("estimator_refused", c_uint64, [estimator, c_int]),
        ("estimator_memory", c_size_t, [estimator]),
        ("estimator_cause_text", c_char_p, [c_int]),
        ("estimator_method_text", c_char_p, [c_int]),
        ("address_parse", c_int, [c_char_p, address]),
        ("address_text", None, [address, c_char_p]),
        ("liss", c_uint64, [c_uint64, c_uint32, c_uint64]),
        ("awnd", c_uint64, [c_uint64, c_uint64]),
        ("drop_interval", c_uint64, [c_uint64, c_uint64, c_uint64, c_uint32]),
        ("miss", c_uint64, [c_uint64] * 4),
        ("spand", c_uint32, [c_uint64, c_uint32, c_uint32, c_int]),
    ):
        function = getattr(library, f"downbeat_{name}")
        function.restype, function.argtypes = result, arguments
