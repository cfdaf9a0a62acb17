# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The programs of the simulation, most of them with the core's library in them (sim/lib/verilated.py), and what each is
made of.

Everything is cached by content under build/sim (text, options and tools' versions make the name of a directory), so a
second build takes a second whatever the files' dates, and going back to an older text costs nothing. `python -m
sim.lib.build PART...` with the parts of PARTS; `build/sim/PART/` always leads to the newest.
"""

from __future__ import annotations

import argparse
import functools
import importlib.metadata
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console

from sim.lib import verilated
from sim.lib.cache import BUILDS, cached, content, run
from sim.lib.cache import ROOT as ROOT
from sim.lib.cache import BuildFailed as BuildFailed
from sim.lib.compiler import (
    DEVICE,
    INCLUDE,
    SIM,
    TRANSLATION,
    WARNINGS,
    model_includes,
    model_libraries,
    module_model,
    optimise,
    program,
)
from sim.lib.verilated import LARGEST, LAYOUT, NS2, PRESET, TAP, library, part_name, rtl, with_library

BENCH, ADVERSARIAL, EXPERIMENTS = SIM / "bench", SIM / "adversarial", SIM / "experiments"
PACKETS = SIM / "lib" / "packets"
NS3 = SIM / "ns3"
LINUX = SIM / "linux"
WIRE = BENCH / "wire"
GAP = BENCH / "gap"
LATENCY = BENCH / "latency"
TEN = BENCH / "ten"
HOST_BENCH = SIM / "host" / "bench"
FUZZ = ADVERSARIAL / "fuzz"
CHURN = ADVERSARIAL / "churn"
MATRIX = ADVERSARIAL / "matrix"
ENGINE = EXPERIMENTS / "engine" / "program"
ESTIMATOR = ROOT / "sw" / "estimator"
SITE = ROOT / "sw" / "gateway" / "client"  # downbeat_site.h
PACING = BENCH / "pacing"
EVENTS = BENCH / "events"
MODULES = ROOT / "build" / "rtl"  # every module, of the preset that `make rtl` has
PACER_FLOWS = (16, 1024, 65536)
NS3_LIBRARIES = ("applications", "point-to-point", "internet", "bridge", "traffic-control", "network", "stats", "core")


def bench(tap: str = TAP, preset: str = PRESET) -> Path:
    """The directory of bench_core."""
    flags = ["-std=c++20", *optimise(), *WARNINGS, f"-I{DEVICE}"]
    link = with_library(library(tap=tap, preset=preset))
    return program(
        part_name("bench", False, tap, preset), "bench_core", [DEVICE / "bench_core.cpp"], flags, link, [], ""
    )


def example() -> Path:
    """The directory of the example, which is C."""
    flags = ["-std=c11", "-O2", *WARNINGS, f"-I{DEVICE}"]
    directory = library()
    return program("example", "example", [DEVICE / "example.c"], flags, with_library(directory), [], "")


def ns3(waves: bool = False, tap: str = TAP) -> Path:
    """The directory of downbeat_sim, the ns-3 program."""
    return _ns3_program("ns3", "downbeat_sim", sorted(NS3.glob("*.cpp")), waves, tap)


def matrix(waves: bool = False, preset: str = PRESET) -> Path:
    """The directory of downbeat_matrix, transfers over bad paths of ns-3."""
    shared = [NS3 / "core_link.cpp", NS3 / "core_host.cpp"]
    shared += [LINUX / name for name in ("application.cpp", "file_transfer.cpp", "trace_log.cpp")]
    return _ns3_program("matrix", "downbeat_matrix", [*sorted(MATRIX.glob("*.cpp")), *shared], waves, preset=preset)


def packetdrill() -> Path:
    """The directory of libdownbeat_packetdrill.so, the core for Google's packetdrill."""
    flags = ["-std=c++20", "-fPIC", *optimise(), *WARNINGS]
    link = ["-shared", *with_library(library()), "-ldl", "-pthread"]
    sources = sorted((ADVERSARIAL / "packetdrill" / "shared_object").glob("*.cpp"))
    return program("packetdrill", "libdownbeat_packetdrill.so", sources, flags, link, [], "")


def experiment(preset: str = LARGEST) -> Path:
    """The directory of downbeat_experiment, which runs what an experiment's file says; by the header tap, with the
    largest windows by default, and with the estimator's own objects."""
    flags, link, version = _ns3()
    shared = [NS3 / "core_link.cpp", NS3 / "core_host.cpp"]
    objects = estimator()
    link = [*with_library(library(tap="header", preset=preset)), str(objects / "libdownbeat_estimator.a"), *link]
    flags = [*flags, f"-I{ENGINE}", f"-I{DEVICE}", f"-I{ESTIMATOR / 'include'}", f"-I{SITE}"]
    sources = [
        *sorted(ENGINE.rglob("*.cpp")),
        *shared,
        *(TRANSLATION / name for name in ("host_start.cpp", "path_counts.cpp")),
    ]
    return program(
        part_name("experiment", False, TAP, preset), "downbeat_experiment", sources, flags, link, [], version
    )


def estimator() -> Path:
    """The directory of libdownbeat_estimator.a, as sw/estimator/Makefile makes it."""
    sources = [*sorted(ESTIMATOR.rglob("*")), INCLUDE / "downbeat_types.h"]
    texts = [path.read_text() for path in sources if path.is_file()]
    key = content(*texts, optimise())  # which its Makefile chooses alike
    return cached("estimator", key, lambda place: run(place, "make", "-s", "-C", str(ESTIMATOR), f"OUT={place}"))


def _ns3_program(
    part: str, name: str, sources: Sequence[Path], waves: bool = False, tap: str = TAP, preset: str = PRESET
) -> Path:
    """An ns-3 program with the core in it."""
    flags, link, version = _ns3()
    link = [*with_library(library(waves, tap, preset)), *link]
    return program(part_name(part, waves, tap, preset), name, sources, [*flags, f"-I{DEVICE}"], link, [], version)


def _ns3() -> tuple[list[str], list[str], str]:
    """Flags of the compiler and the linker, and ns-3's version."""
    home = Path(os.environ["NS3_ROOT"])
    flags = ["-std=c++23", *optimise(), *WARNINGS, "-isystem", str(home / "include")]
    link = [f"-L{home / 'lib64'}", f"-Wl,-rpath,{home / 'lib64'}", f"-Wl,-rpath-link,{home / 'lib64'}"]
    link += [f"-lns3.44-{name}" for name in NS3_LIBRARIES]
    return flags, link, importlib.metadata.version("ns3")


def linux(waves: bool = False) -> Path:
    """The directory of downbeat_tap, the core on a TAP interface."""
    flags = ["-std=c++20", *optimise(), *WARNINGS, f"-I{DEVICE}"]
    directory = library(waves)
    part = "tap-waves" if waves else "tap"
    return program(part, "downbeat_tap", sorted(LINUX.glob("*.cpp")), flags, with_library(directory), [], "")


def host_bench(preset: str = verilated.HOST) -> Path:
    """The directory of host_bench, which drives a simulated host half by its registers and rings."""
    driver = ROOT / "sw" / "driver"
    shared = [driver / "src" / name for name in ("model.cpp", "setup.cpp", "failure.cpp")]
    shared.append(TRANSLATION / "texts.cpp")
    include = [HOST_BENCH, driver / "include", driver / "src", verilated.rtl(preset)]
    flags = [
        "-std=c++20",
        *optimise(),
        *WARNINGS,
        "-Wno-missing-field-initializers",
        *(f"-I{path}" for path in include),
    ]
    sources = [*sorted(HOST_BENCH.glob("*.cpp")), *shared]
    return program(f"{preset}-bench", "host_bench", sources, flags, ["-ldl"], [], "")


def host_cost() -> Path:
    """The directory of host_cost, which counts a program's instructions in libdownbeat (make driver)."""
    driver, built = ROOT / "sw" / "driver", ROOT / "build" / "driver" / "libdownbeat.a"
    include = [f"-I{driver / 'include'}", f"-I{driver / 'src'}"]
    flags = ["-std=c++20", "-O2", *WARNINGS, "-Wno-missing-field-initializers", *include]
    version = content(built.read_bytes().hex())
    sources = [HOST_BENCH.parent / "cost" / "main.cpp"]
    return program("host-cost", "host_cost", sources, flags, [str(built), "-ldl", "-pthread"], [], version)


def wire() -> Path:
    """The directory of wire_bench, the MAC at its pins."""
    return _module_program("wire", "WireBench", [*sorted(WIRE.glob("*.cpp")), DEVICE / "core" / "launch_gate.cpp"])


def gap() -> Path:
    """The directory of gap_bench, pacer and MAC at the MAC's pins."""
    return _module_program("gap", "GapBench", [*sorted(GAP.glob("*.cpp")), WIRE / "ethernet.cpp"], [GAP / "module.vlt"])


def latency() -> Path:
    """The directory of latency_bench, the core with registers and MAC at its pins."""
    shared = [WIRE / "ethernet.cpp", PACKETS / "packet.cpp"]
    return _module_program("latency", "DownbeatGmii", [*sorted(LATENCY.glob("*.cpp")), *shared])


def ten() -> Path:
    """The directory of ten_bench, the MAC of 10 Gb/s at its pins."""
    sources = [
        *sorted(TEN.glob("*.cpp")),
        *(WIRE / name for name in ("bench_model.cpp", "ethernet.cpp", "line_rate.cpp")),
    ]
    return _module_program("ten", "WireBench", sources, preset="ten", model_name="wire")


def ten_core() -> Path:
    """The directory of ten_core_bench, the core with registers and the MAC of 10 Gb/s at its pins."""
    shared = [LATENCY / name for name in ("application.cpp", "module.cpp", "peer.cpp")]
    sources = [*sorted((TEN / "core").glob("*.cpp")), *shared, WIRE / "ethernet.cpp", PACKETS / "packet.cpp"]
    return _module_program("ten_core", "DownbeatXgmii", sources, preset="ten", model_name="latency")


def _module_program(
    part: str,
    module: str,
    sources: Sequence[Path],
    configuration: Sequence[Path] = (),
    preset: str = PRESET,
    model_name: str = "",
) -> Path:
    """PART_bench, around one Verilated module, which is VPART if it has no other name."""
    name = model_name or part
    verilog = verilated.rtl(preset) / f"{module}.v"
    model = module_model(name, verilog, configuration, variant="" if name == part else f"-{part}")
    link = model_libraries(model, name)
    include = (f"-I{place}" for place in (verilated.rtl(preset), DEVICE, WIRE))
    flags = ["-std=c++20", *optimise(), *WARNINGS, *include, *model_includes(model)]
    return program(part, f"{part}_bench", sources, flags, link, [], model.name)


def events() -> Path:
    """The directory of events_bench, the engine alone at its ports."""
    model = module_model("events", MODULES / "FlowEngine.v")
    flags = ["-std=c++20", *optimise(), *WARNINGS, f"-I{MODULES}", *model_includes(model)]
    link = model_libraries(model, "events")
    return program("events", "events_bench", sorted(EVENTS.glob("*.cpp")), flags, link, [], model.name)


def pacing(flows: int) -> Path:
    """The directory of pacing_bench, the pacer of so many flows alone."""
    model = module_model("pacer", BUILDS / f"rtl-pacer-{flows}" / "Pacer.v", variant=f"-{flows}")
    flags = ["-std=c++20", *optimise(), *WARNINGS, f"-DPACER_FLOWS={flows}", *model_includes(model)]
    link = model_libraries(model, "pacer")
    return program(f"pacing-{flows}", "pacing_bench", sorted(PACING.glob("*.cpp")), flags, link, [], model.name)


def fuzz(waves: bool = False, preset: str = PRESET) -> Path:
    """The directory of downbeat_fuzz, mutated frames for the core."""
    flags = ["-std=c++20", *optimise(), *WARNINGS, f"-I{DEVICE}", f"-I{rtl(preset)}"]
    directory = library(waves, preset=preset)
    part = part_name("fuzz", waves, TAP, preset)
    sources = [ADVERSARIAL / "core.cpp", *sorted(FUZZ.glob("*.cpp")), *sorted(PACKETS.glob("*.cpp"))]
    return program(part, "downbeat_fuzz", sources, flags, with_library(directory), [], "")


def churn() -> Path:
    """The directory of downbeat_churn: connections opened and closed, floods and blind attacks."""
    flags = ["-std=c++20", *optimise(), *WARNINGS, f"-I{DEVICE}", f"-I{LAYOUT.parent}"]
    packets = [PACKETS / name for name in ("endpoint.cpp", "packet.cpp")]
    sources = [ADVERSARIAL / "core.cpp", *sorted(CHURN.glob("*.cpp")), *packets]
    return program("churn", "downbeat_churn", sources, flags, with_library(library()), [], "")


PARTS: dict[str, Callable[[], Path]] = {
    "lib": library,
    "lib-waves": lambda: library(waves=True),
    "lib-header": lambda: library(tap="header"),
    "lib-ns2-header": lambda: library(tap="header", preset=NS2),
    "lib-sim65536-header": lambda: library(tap="header", preset=LARGEST),
    verilated.HOST: verilated.host,
    "hosttests": lambda: verilated.host(verilated.HOST_TESTS),
    "bench": bench,
    "bench-header": lambda: bench(tap="header"),
    "example": example,
    "ns3": ns3,
    "ns3-waves": lambda: ns3(waves=True),
    "ns3-header": lambda: ns3(tap="header"),
    "matrix": matrix,
    "matrix-waves": lambda: matrix(waves=True),
    "experiment": experiment,
    **{f"pacing-{flows}": functools.partial(pacing, flows) for flows in PACER_FLOWS},
    "events": events,
    "fuzz": fuzz,
    "churn": churn,
    "tap": linux,
    "tap-waves": lambda: linux(waves=True),
    "host-bench": host_bench,
    "wire": wire,
    "gap": gap,
    "latency": latency,
    "ten": ten,
    "ten-core": ten_core,
}


def shown(console: Console, part: Callable[[], Path]) -> Path:
    """The part's directory, with a line on the terminal while it is built; if that fails the program ends with the
    reason."""
    try:
        with console.status("Building the simulation (the core takes minutes, once for each content)"):
            return part()
    except BuildFailed as error:
        print(error, file=sys.stderr)
        sys.exit(2)


def _part(name: str) -> Callable[[], Path]:
    """One of PARTS, or `nic-PRESET`."""
    if name not in PARTS and not name.startswith(f"{verilated.HOST}-"):
        raise argparse.ArgumentTypeError(f"'{name}' is none of {', '.join(PARTS)}")
    return PARTS.get(name) or functools.partial(verilated.host, name)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m sim.lib.build", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("parts", nargs="+", type=_part, metavar="PART")
    try:
        for part in parser.parse_args().parts:
            part()
    except BuildFailed as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
