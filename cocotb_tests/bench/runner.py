# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Runs the cocotb cases of a test module on one module: `run_module("FrameFilter", __name__)` is all a test module
says."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from cocotb_tools.runner import get_runner

from cocotb_tests.bench.build import BuildFailed, build_module
from cocotb_tests.bench.layout import LAYOUT_VARIABLE
from cocotb_tests.bench.ports import PORTS_VARIABLE, top_ports
from cocotb_tests.bench.results import CaseResult, CasesFailed, note, read_results, record

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"

# A case that never waits for the clock hangs the simulator itself, where no bounded wait can end it.
WALL_SECONDS = 1800
RESULTS = "results.xml"


def run_module(
    module: str,
    test_module: str,
    *,
    label: str = "",
    around: Sequence[Path] = (),
    rtl: Path = BUILD / "rtl",
    netlist: Sequence[Path] = (),
    verilator_args: Sequence[str] = (),
    parameters: Mapping[str, object] | None = None,
    environment: Mapping[str, str] | None = None,
    random_power_up: bool = False,
    plusargs: Sequence[str] = (),
) -> None:
    """Verilates `rtl`/`module`.v (cached by content) and runs each cocotb case of `test_module` on it.

    A test module that runs one module in several ways calls this once for each, with a `label` that tells their results
    apart. `around` is Verilog that has the module inside; the top is then the module that its last file is named after.
    `netlist` is Verilog that is simulated in the module's place; it reads `plusargs` as `$value$plusargs` does.
    `environment` reaches the cases through os.environ.
    With `random_power_up` registers and memories (all words of one alike) start as SEED draws them, otherwise from
    zero; the test module's first case meets them, each later one what the case before it left.
    """
    __tracebackhide__ = True
    if "." not in test_module:
        pytest.fail(
            f"{test_module}: its folder needs an __init__.py, or the simulation cannot import it", pytrace=False
        )
    test_filter = _filter(label)
    if test_filter is None:
        return
    verilog = rtl / f"{module}.v"
    if not verilog.exists():
        pytest.fail(f"no {verilog.relative_to(ROOT)}: is {module} in Modules.scala? (make rtl)", pytrace=False)
    sources = list(netlist or [verilog])
    if around:
        sources.extend(around)
        module, verilog = around[-1].stem, around[-1]
    waves = os.environ.get("WAVES") == "1"
    try:
        build = build_module(module, sources, verilator_args, parameters or {}, waves)
    except BuildFailed as error:
        pytest.fail(str(error), pytrace=False)

    name = "-".join(filter(None, (test_module.removeprefix("cocotb_tests."), label)))
    place = BUILD / "cocotb" / module / "runs" / name
    place.mkdir(parents=True, exist_ok=True)
    ports = place / "ports.json"
    ports.write_text(json.dumps(top_ports(verilog.read_text(), module)))
    log = place / "simulation.log"
    ended = _simulate(
        place,
        test_module=test_module,
        hdl_toplevel=module,
        build_dir=build,
        log_file=log,
        waves=waves,
        test_filter=test_filter or None,
        plusargs=[*_plusargs(random_power_up), *plusargs],
        extra_env={
            PORTS_VARIABLE: str(ports),
            LAYOUT_VARIABLE: str(rtl / "downbeat_layout.json"),
            **(environment or {}),
        },
    )
    cases = _cases(place / RESULTS, label, log, ended)
    if waves and (place / "dump.fst").exists():
        _keep_waves(place / "dump.fst", name)
    record(cases)
    if not cases and not test_filter:
        raise CasesFailed(f"{test_module} has no cocotb case")
    failed = [case.name for case in cases if case.outcome == "failed"]
    if failed:
        raise CasesFailed(f"{module}: {', '.join(failed)} failed")


def _simulate(place: Path, **arguments: Any) -> str:
    """Runs cocotb's runner with its files in `place`; why it ended early, or nothing."""
    runner = get_runner("verilator")
    prefix = os.environ.get("SIM_CMD_PREFIX", f"timeout {WALL_SECONDS}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SIM_CMD_PREFIX", prefix)
        # Ours is the one report of a failure; the runner would end the whole session instead.
        patch.delenv("PYTEST_CURRENT_TEST", raising=False)
        try:
            runner.test(hdl_toplevel_lang="verilog", test_dir=place, results_xml=str(place / RESULTS), **arguments)
        except (RuntimeError, SystemExit) as error:
            return str(error)
    return ""


def _filter(label: str) -> str | None:
    """The cocotb filter that the session's CASE asks for: "" for all, None when this label is not meant. A name without
    parameters is for all of them."""
    case = os.environ.get("DOWNBEAT_CASE", "")
    if not case:
        return os.environ.get("COCOTB_TEST_FILTER", "")
    wanted, _, name = case.rpartition(":")
    return rf"\.{re.escape(name)}(/.*)?$" if wanted == label else None


def _plusargs(random_power_up: bool) -> list[str]:
    # To Verilator a seed of zero means any.
    seed = 1 + int(os.environ.get("SEED") or 1) % (2**31 - 1)
    return [f"+verilator+seed+{seed}", *(["+verilator+rand+reset+2"] if random_power_up else [])]


def _cases(results: Path, label: str, log: Path, ended: str) -> list[CaseResult]:
    shown = str(log.relative_to(ROOT))
    if results.exists():
        return read_results(results, label, shown)
    tail = "\n".join(log.read_text(errors="replace").splitlines()[-20:]) if log.exists() else ""
    pytest.fail(f"the simulation left no results ({ended}); the end of {shown}:\n{tail}", pytrace=False)


def _keep_waves(dump: Path, name: str) -> None:
    kept = BUILD / "waves" / f"{name}.fst"
    kept.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(dump, kept)
    note(f"waves: {kept.relative_to(ROOT)}")
