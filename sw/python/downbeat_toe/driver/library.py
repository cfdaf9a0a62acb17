# SPDX-License-Identifier: BSD-2-Clause-Patent
"""libdownbeat.so: where it and its programs lie, and its functions with their types."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import shutil
from ctypes import POINTER, c_char_p, c_int, c_int64, c_size_t, c_uint16, c_uint32, c_uint64, c_void_p
from pathlib import Path

from downbeat_toe.driver.structures import (
    CItem,
    ConnectionInfo,
    DeviceInfo,
    Estimate,
    Event,
    Options,
    Parameters,
    Span,
    Statistics,
)
from downbeat_toe.refused import Refused

ABI = 1
NAME = "libdownbeat.so"
BUILT = Path(__file__).resolve().parents[4] / "build" / "driver"


def directory() -> Path | None:
    """Of DOWNBEAT_DRIVER, or of this tree's build; None: what is installed is used."""
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
        library = ctypes.CDLL(found)
    except OSError as error:
        raise Refused(f"{found} is not a library: {error}") from None
    library.downbeat_abi.restype = c_uint32
    if (abi := library.downbeat_abi()) != ABI:
        raise Refused(f"{found} has interface {abi}, this package needs {ABI}: build both from one release")
    _type(library)
    return library


def _type(library: ctypes.CDLL) -> None:
    device = connection = listener = c_void_p
    for name, result, arguments in (
        ("open", c_int, [c_char_p, POINTER(c_void_p)]),
        ("release", None, [device]),
        ("problem", c_char_p, []),
        ("error_text", c_char_p, [c_int]),
        ("descriptor", c_int, [device]),
        ("poll", c_int64, [device, POINTER(CItem), c_size_t]),
        ("device_info_of", c_int, [device, POINTER(DeviceInfo)]),
        ("set_addresses", c_int, [device, c_uint32, c_uint32, c_uint32, c_char_p]),
        ("add_neighbour", c_int, [device, c_uint32, c_char_p]),
        ("core_counter", c_int, [device, c_uint32, POINTER(c_char_p), POINTER(c_uint32)]),
        ("startup_name", c_char_p, [device, c_uint32]),
        ("steady_name", c_char_p, [device, c_uint32]),
        ("log_freeze", c_int, [device, c_int]),
        ("log_read", c_int, [device, c_uint32, POINTER(Event)]),
        ("connect", c_int, [device, c_uint32, c_uint16, c_uint16, POINTER(Options), POINTER(c_void_p)]),
        ("listen", c_int, [device, c_uint16, c_uint32, POINTER(Options), c_void_p, POINTER(c_void_p)]),
        ("listening", c_int, [listener]),
        ("accept", c_int, [listener, POINTER(c_void_p)]),
        ("unlisten", c_int, [listener]),
        ("send", c_int64, [connection, c_char_p, c_size_t]),
        ("receive", c_int64, [connection, c_void_p, c_size_t]),
        ("reserve", c_int64, [connection, POINTER(Span)]),
        ("commit", c_int, [connection, c_size_t]),
        ("peek", c_int64, [connection, POINTER(Span)]),
        ("consume", c_int, [connection, c_size_t]),
        ("shutdown", c_int, [connection]),
        ("close", c_int, [connection]),
        ("abort", c_int, [connection]),
        ("set_policies", c_int, [connection, POINTER(Parameters)]),
        ("start", c_int, [connection, POINTER(Parameters)]),
        ("connection_info", c_int, [connection, POINTER(ConnectionInfo)]),
        ("connection_estimate", c_int, [connection, POINTER(Estimate)]),
        ("get_statistics", None, [device, POINTER(Statistics)]),
        ("sim_now", c_uint64, [device]),
        ("sim_next_deadline", c_uint64, [device]),
        ("sim_advance_to", c_int, [device, c_uint64]),
        ("sim_put_frame", c_int, [device, c_char_p, c_size_t, c_uint64]),
        ("sim_get_frame", c_int64, [device, c_char_p, c_size_t, POINTER(c_uint64)]),
    ):
        function = getattr(library, f"downbeat_{name}")
        function.restype, function.argtypes = result, arguments
