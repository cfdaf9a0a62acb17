# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Each ctypes structure has the size, the offsets and the sizes of members that the compiler gives the C structure."""

from __future__ import annotations

from ctypes import Structure
from importlib import import_module
from pathlib import Path

import pytest

from sw.api import model
from sw.api.__main__ import INTERFACES
from sw.api.layouts import compiles

BY_HEADER = {Path(each.header).name: each for each in INTERFACES}


def structures(interface: model.Interface) -> dict[str, type[Structure]]:
    """The ctypes classes by the names of their structures in C."""
    module = import_module(interface.python_module())
    named = {each.name: each.python for each in interface.entries if isinstance(each, model.Structure)}
    return {name: getattr(module, python) for name, python in named.items()}


@pytest.mark.parametrize("header", BY_HEADER)
def test_ctypes_has_the_layout_of_the_compiler(header: str, tmp_path: Path) -> None:
    found = structures(BY_HEADER[header])
    assert found and not compiles(header, found, tmp_path)


def test_a_member_that_was_moved_by_hand_is_refused(tmp_path: Path) -> None:
    header = "downbeat_sim_core_types.h"
    first, second, *rest = structures(BY_HEADER[header])["downbeat_sim_info"]._fields_

    class Moved(Structure):
        _fields_ = (first, *rest, second)

    complaints = compiles(header, {"downbeat_sim_info": Moved}, tmp_path)
    assert complaints.count("static assertion failed") > 1
