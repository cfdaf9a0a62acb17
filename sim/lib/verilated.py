# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The Verilated core, the only part that takes minutes, and libdownbeat_sim.so around it, for each tap and preset."""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from sim.lib.cache import BUILDS, cached, content, run
from sim.lib.compiler import (
    DEVICE,
    MAKE_FIXES,
    OPTIMISE,
    QUICK,
    TRANSLATION,
    VERILATE,
    WARNINGS,
    for_tests,
    model_includes,
    model_libraries,
    needs,
    optimise,
    program,
)
from sim.lib.names_header import names_header

PRESET = "sim"
LARGEST = "sim65536"  # has the highest number of flows and the largest windows, in a directory of its own
NS2 = "ns2"  # as the largest, with ns-2's floor of the retransmission timeout
# Builds with the host half: for users, `sim` with 256 flows and a port for each of four programs; for tests the preset
# `host`, quick to build, whose rings wrap often; `nic-PRESET` is another preset's (make driver PRESET=...).
HOST, HOST_TESTS = "nic", "hosttests"
# The tops, by where the device meets the core; the other side of their ports is in sim/device/tap_frame, tap_header
# and host.
TAPS = {"frame": "Downbeat", "header": "HeaderTap", "host": "DownbeatHost"}
TAP = "frame"


def rtl(preset: str) -> Path:
    """The directory of a build's Verilog."""
    return BUILDS / ("rtl" if preset == PRESET else f"rtl-{preset}")


def wide(beat_bytes: int) -> str:
    """The build of `sim` with beats of so many bytes."""
    return PRESET if beat_bytes == 8 else f"wide{beat_bytes}"


LAYOUT = rtl(PRESET) / "downbeat_layout.h"

# The library for looking closely: waves, and a drawn value for what the Verilog leaves open.
WAVES = ("--trace-fst", "--trace-structs", "--x-assign", "unique")
COUNT = "-fprofile-generate"
TRAINED = (*OPTIMISE, "-fprofile-use", "-fprofile-partial-training", "-Wno-missing-profile")

CORE = DEVICE / "core"
# The host half's device has the model and the wire of the others.
HOST_SHARED = (CORE / "model.cpp", CORE / "launch_gate.cpp", DEVICE / "tap_frame" / "wire_port.cpp")
MODEL = CORE / "model.h"  # includes Verilator's header of the core, a megabyte and a half of text
DRIVER = DEVICE.parent.parent / "sw" / "driver" / "include"


def verilog(tap: str = TAP, preset: str = PRESET) -> Path:
    """The top's Verilog."""
    return rtl(preset) / f"{TAPS[tap]}.v"


def part_name(name: str, waves: bool, tap: str, preset: str = PRESET) -> str:
    """Name by which a build with the core in it is kept."""
    varied = [preset] * (preset != PRESET) + [tap] * (tap != TAP) + ["waves"] * waves
    return "-".join([name, *varied])


def library(waves: bool = False, tap: str = TAP, preset: str = PRESET) -> Path:
    """The directory of libdownbeat_sim.so; with `waves` it can write FST, and is several times slower."""
    core = _core(waves, tap, preset)
    flags = device_flags(core, waves, tap, preset)
    link = ["-shared", *model_libraries(core, "downbeat"), *(["-llz4", "-lz"] if waves else [])]
    texts = [_names_header(tap, preset), rtl(preset) / LAYOUT.name]
    part = part_name("lib", waves, tap, preset)
    return program(part, "libdownbeat_sim.so", _device_sources(tap), flags, link, texts, core.name, MODEL)


def host_name(preset: str) -> str:
    """As `sim:` and `downbeat nic --preset` have it."""
    return "host" if preset == HOST_TESTS else preset.removeprefix(f"{HOST}-")


def host(preset: str = HOST) -> Path:
    """The directory of libdownbeat_host_NAME.so: the Verilated DownbeatHost for `sim:NAME` and `downbeat nic`."""
    core = _core(False, "host", preset)
    flags = host_flags(core, preset)
    link = ["-shared", *model_libraries(core, "downbeat")]
    texts = [_names_header("host", preset), rtl(preset) / LAYOUT.name]
    return program(preset, host_library(preset), host_sources(), flags, link, texts, core.name, MODEL)


def host_library(preset: str = HOST) -> str:
    return f"libdownbeat_host_{host_name(preset)}.so"


def host_sources() -> list[Path]:
    return [*sorted((DEVICE / "host").glob("*.cpp"), key=str), *HOST_SHARED]


def host_flags(core: Path, preset: str) -> list[str]:
    """Flags of the compiler for the device around a Verilated DownbeatHost."""
    return [*device_flags(core, False, "host", preset), f"-I{DRIVER}", f'-DDOWNBEAT_HOST_NAME="{host_name(preset)}"']


def with_library(directory: Path) -> list[str]:
    """Flags that link the library there."""
    return [f"-L{directory}", f"-Wl,-rpath,{directory}", "-ldownbeat_sim"]


def device_flags(core: Path, waves: bool, tap: str, preset: str) -> list[str]:
    """Flags of the compiler for the device around a model."""
    include = [f"-I{rtl(preset)}", f"-I{_names_header(tap, preset).parent}", f"-I{DEVICE}"]
    flags = ["-std=c++20", "-fPIC", *optimise(), *WARNINGS, f"-DVM_TRACE_FST={int(waves)}"]
    return [*flags, *include, *model_includes(core)]


def _core(waves: bool, tap: str, preset: str) -> Path:
    """The Verilated core: the only part that takes minutes."""
    source = verilog(tap, preset)
    needs(source)
    options = ["--cc", "--prefix", "Vdownbeat", "--top-module", TAPS[tap], *VERILATE, *(WAVES if waves else ())]
    text = [source.read_text(), _layout_json(preset).read_text()]

    def key(flags: Sequence[str]) -> str:
        return content(*text, options, flags, importlib.metadata.version("verilator"))

    part = part_name("core", waves, tap, preset)
    # Tests run a core for seconds, which do not repay a training: they take a trained one only where it is there.
    # The bench that trains drives the application's streams, which a host's device has not.
    flags: Sequence[str] = () if waves else OPTIMISE if tap == "host" else TRAINED
    if flags and for_tests() and not (BUILDS / part / key(TRAINED) / "done").exists():
        flags = QUICK

    def make(place: Path) -> None:
        run(place, "verilator", *options, "--Mdir", str(place), str(source))
        if waves:  # seldom built, for short runs: quick to compile
            _compile_core(place, fast=["-O1"], slow="-O0")
        elif flags is TRAINED:
            _compile_core(place, fast=TRAINED if _train(place, tap, preset) else OPTIMISE)
        else:
            _compile_core(place, fast=flags, slow="-O0" if flags is QUICK else "-O1")

    return cached(part, key(flags), make)


def _compile_core(place: Path, fast: Sequence[str], slow: str = "-O1") -> None:
    for stale in (*place.glob("*.o"), *place.glob("*.a")):
        stale.unlink()
    optimise = [f"OPT_FAST={' '.join(fast)}", f"OPT_SLOW={slow}", "OPT_GLOBAL=-O2"]
    jobs = str(os.cpu_count() or 1)
    run(place, "make", "-C", str(place), "-j", jobs, "-f", "Vdownbeat.mk", *optimise, *MAKE_FIXES, "libVdownbeat")


def _train(place: Path, tap: str, preset: str) -> bool:
    """Compiles the model to count, lets the bench run on it, and leaves the counts beside the objects that are compiled
    next.

    A clock touches little of the model's code, which is several times as large as a processor's first cache; laid out
    by these counts it runs a fifth faster. False, and no counts, if the core does not get through the bench.
    """
    _compile_core(place, fast=[*OPTIMISE, COUNT])
    flags = [*device_flags(place, False, tap, preset), "-O1", COUNT]
    link = [*model_libraries(place, "downbeat"), COUNT]
    texts = [_names_header(tap, preset), rtl(preset) / LAYOUT.name]
    part = part_name("training", False, tap, preset)
    sources = [*_device_sources(tap), DEVICE / "bench_core.cpp"]
    training = program(part, "training", sources, flags, link, texts, place.name, MODEL)
    done = subprocess.run([str(training / "training"), "3"], cwd=place, capture_output=True, timeout=300, check=False)
    if done.returncode:
        for counts in place.glob("*.gcda"):
            counts.unlink()
    return done.returncode == 0


def _device_sources(tap: str) -> list[Path]:
    shared = [TRANSLATION / name for name in ("parameters.cpp", "texts.cpp")]
    return [*sorted([*CORE.glob("*.cpp"), *(DEVICE / f"tap_{tap}").glob("*.cpp")]), *shared]


def _names_header(tap: str, preset: str) -> Path:
    """downbeat_build.h: names of preset and tap, those behind the layout's numbers, and the core's counters, from its
    ports."""
    text = names_header(preset, tap, json.loads(_layout_json(preset).read_text()), verilog(tap, preset).read_text())
    place = cached("names", content(text), lambda place: (place / "downbeat_build.h").write_text(text))
    return place / "downbeat_build.h"


def _layout_json(preset: str) -> Path:
    return rtl(preset) / "downbeat_layout.json"
