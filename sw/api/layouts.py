# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The memory layout that ctypes gives a structure, as assertions for the C compiler."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from ctypes import Structure, sizeof
from pathlib import Path

from sw.api.model import ROOT

INCLUDES = ("sw/include", "sw/driver/include", "sw/estimator/include", "sim/device")


def assertions(name: str, structure: type[Structure]) -> Iterator[str]:
    """Size of the C structure `name` in bytes, offset and size of each member, as `structure` has them."""
    yield f"_Static_assert(sizeof({name}) == {sizeof(structure)}, #name);"
    for member, *_ in structure._fields_:
        field = getattr(structure, member)
        yield f"_Static_assert(offsetof({name}, {member}) == {field.offset}, #name);"
        yield f"_Static_assert(sizeof((({name} *)0)->{member}) == {field.size}, #name);"


def compiles(header: str, structures: Mapping[str, type[Structure]], directory: Path) -> str:
    """The compiler's complaints about the assertions of all `structures` of `header`; empty: they hold."""
    lines = [line.replace("#name", f'"{name}"') for name, each in structures.items() for line in assertions(name, each)]
    source = directory / "layouts.c"
    source.write_text("\n".join(["#include <stddef.h>", f'#include "{header}"', *lines, ""]))
    compiler = [os.environ.get("CC", "gcc"), "-std=c11", "-fsyntax-only", *(f"-I{ROOT / path}" for path in INCLUDES)]
    return subprocess.run([*compiler, source], text=True, capture_output=True, check=False, timeout=60).stderr
