# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The memory layout of a structure as the C compiler has it and as ctypes has it, in one form for comparison."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from ctypes import Structure, sizeof
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INCLUDES = ("sw/include", "sw/driver/include", "sw/estimator/include", "sw/gateway", "sim/device")

Layout = dict[str, tuple[int, int]]
"""Offset and size in bytes of each member; the empty name has 0 and the size of the whole structure."""


def of_ctypes(structure: type[Structure]) -> Layout:
    fields = ((name, getattr(structure, name)) for name, *_ in structure._fields_)
    return {"": (0, sizeof(structure))} | {name: (field.offset, field.size) for name, field in fields}


def of_compiler(header: str, structures: Mapping[str, type[Structure]], directory: Path) -> dict[str, Layout]:
    """Layouts of C `structures` that `header` declares, members by the names that ctypes has.

    CalledProcessError: the compiler refuses the program, where a member has another name in C for example.
    """
    lines = []
    for name, structure in structures.items():
        lines.append(f'printf("{name} - 0 %zu\\n", sizeof({name}));')
        for member, *_ in structure._fields_:
            offset, size = f"offsetof({name}, {member})", f"sizeof((({name} *)0)->{member})"
            lines.append(f'printf("{name} {member} %zu %zu\\n", {offset}, {size});')
    source = directory / "layouts.c"
    source.write_text("\n".join(["#include <stdio.h>", f'#include "{header}"', "int main(void) {", *lines, "}", ""]))
    include = [f"-I{ROOT / path}" for path in INCLUDES]
    program = directory / "layouts"
    subprocess.run([os.environ.get("CC", "gcc"), *include, source, "-o", program], check=True, timeout=60)
    layouts: dict[str, Layout] = {name: {} for name in structures}
    for line in subprocess.check_output([program], text=True, timeout=60).splitlines():
        name, member, offset, size = line.split()
        layouts[name][member.strip("-")] = int(offset), int(size)
    return layouts
