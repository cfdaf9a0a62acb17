# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Verilates a module for cocotb, once for each content: the Verilog, the options and the tools' versions."""

from __future__ import annotations

import fcntl
import hashlib
import importlib.metadata
import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cocotb_tools.runner import Verilator

from cocotb_tests.bench.headers import precompiled
from cocotb_tests.bench.ports import top_ports

ROOT = Path(__file__).resolve().parents[2]
BUILDS = ROOT / "build" / "cocotb"
KEPT = 6  # builds of one module that stay; the oldest goes first

PORTS = "ports.vlt"

# Functions are split: the compiler takes minutes for the engine's as one of 60,000 lines.
# A line of the check bits of a wide word has many tokens.
ARGS = ("--output-split", "0", "--output-split-cfuncs", "1000", "-Wno-fatal")
# One file for the compiler, and nothing optimised: half of the time for the core, a third for a small module. The
# cases' Python takes far longer than what the compiler leaves undone.
OPTIMISE = "-O0"


class PortsOnly(Verilator):
    """cocotb's runner, but that tests see the top's ports alone. With every signal of a module in sight
    (`--public-flat-rw`, which a test that needs it gives as an argument) Verilator may leave none out: its C++ is
    several times as much."""

    def __init__(self, ports: Path) -> None:
        """`ports` is Verilator's configuration that names them."""
        super().__init__()
        self._ports = ports

    def _build_command(self) -> Any:
        commands = super()._build_command()
        verilate: list[str] = commands[0]
        verilate[verilate.index("--public-flat-rw")] = str(self._ports)
        commands[1].extend(["VM_PARALLEL_BUILDS=0", f"OPT_FAST={OPTIMISE} -include {precompiled(OPTIMISE)}"])
        return commands


class BuildFailed(Exception):
    """Verilator or the C++ compiler refused a module."""


def build_module(
    module: str,
    verilog: Sequence[Path],
    verilator_args: Sequence[str],
    parameters: Mapping[str, object],
    waves: bool,
) -> Path:
    """The directory of the module's simulator, built unless it is there."""
    args = [*ARGS, *verilator_args, *(("--trace-fst", "--trace-structs") if waves else ())]
    text = "".join(file.read_text() for file in verilog)
    public = _public(module, top_ports(text, module))
    versions = [importlib.metadata.version(tool) for tool in ("verilator", "cocotb")]
    # The place counts too: the simulator finds cocotb's libraries by absolute path.
    key = json.dumps([text, public, args, OPTIMISE, sorted(parameters.items()), versions, str(ROOT)], default=str)
    home = BUILDS / module
    place = home / hashlib.sha256(key.encode()).hexdigest()[:16]
    done = place / "done"
    home.mkdir(parents=True, exist_ok=True)
    # Two workers may want the same module at once: the second finds it built.
    with (home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            shutil.rmtree(place, ignore_errors=True)
            _prune(home)
            place.mkdir()
            (place / PORTS).write_text(public)
            _verilate(module, verilog, args, parameters, place, waves)
        done.touch()
    return place


def _public(module: str, ports: Iterable[str]) -> str:
    """Verilator's configuration that shows the ports of `module`."""
    return "\n".join(["`verilator_config", *(f'public_flat_rw -module "{module}" -var "{port}"' for port in ports), ""])


def _verilate(
    module: str,
    verilog: Sequence[Path],
    args: list[str],
    parameters: Mapping[str, object],
    place: Path,
    waves: bool,
) -> None:
    log = place / "build.log"
    try:
        PortsOnly(place / PORTS).build(
            sources=list(verilog),
            hdl_toplevel=module,
            build_dir=place,
            build_args=args,
            parameters=parameters,
            waves=waves,
            log_file=log,
        )
    except (RuntimeError, SystemExit) as error:
        raise BuildFailed(f"{module} does not build ({error}): {log.relative_to(ROOT)}:\n{_reason(log)}") from None


def _reason(log: Path) -> str:
    """The lines of a build's log that say what is wrong, without the compiler's command lines."""
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    return "\n".join([line for line in lines if not line.startswith(("c++ ", "g++ ", "ccache ", "- "))][-25:])


def _prune(home: Path) -> None:
    builds = sorted(home.glob("*/done"), key=lambda done: done.stat().st_mtime, reverse=True)
    for done in builds[KEPT:]:
        shutil.rmtree(done.parent, ignore_errors=True)
