# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Verilator's headers, precompiled once: reading them is half of what the C++ of a small module takes."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

from sim.lib.cache import cached, content, run

NAME = "verilated_headers.h"
TEXT = "".join(f'#include "{name}.h"\n' for name in ("verilated", "verilated_dpi", "verilated_vpi"))
EMPTY = "module empty; endmodule\n"


def precompiled(optimise: str) -> Path:
    """A header for `-include`, with what the compiler made of it beside it. The compiler takes that only where all its
    options are the same, and reads the header otherwise: Verilator's own makefile, for an empty module, has them."""

    def make(place: Path) -> None:
        (place / NAME).write_text(TEXT)
        (place / "empty.v").write_text(EMPTY)
        run(place, "verilator", "--cc", "--vpi", "--prefix", "Vempty", "--Mdir", str(place), "empty.v")
        run(place, "make", "-f", "Vempty.mk", "OBJCACHE=", f"OPT_FAST={optimise}", f"{NAME}.fast.gch")
        (place / f"{NAME}.fast.gch").rename(place / f"{NAME}.gch")

    key = content(TEXT, EMPTY, optimise, importlib.metadata.version("verilator"))
    return cached("cocotb-headers", key, make) / NAME
