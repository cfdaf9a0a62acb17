# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The compiler takes the precompiled headers: it would say nothing if an option differed, and read them all again."""

from __future__ import annotations

import shlex
import subprocess

from cocotb_tests.bench.build import ROOT, build_module
from cocotb_tests.bench.headers import NAME


def test_a_module_is_compiled_with_the_headers_made_before() -> None:
    place = build_module("BenchFifo", [ROOT / "build" / "rtl" / "BenchFifo.v"], (), {}, waves=False)
    lines = (place / "build.log").read_text().splitlines()
    (command,) = [line for line in lines if " -c " in line and line.endswith("__ALL.cpp")]
    words = [*shlex.split(command.removeprefix("ccache ")), "-H", "-fsyntax-only"]
    done = subprocess.run(words, cwd=place, text=True, capture_output=True, check=True)
    taken = [line for line in done.stderr.splitlines() if line.startswith("! ")]  # `x` stands before one that is not
    assert len(taken) == 1 and taken[0].endswith(f"{NAME}.gch")
