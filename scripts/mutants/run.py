# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Runs one session on Verilog with mutants in it, with one of them switched on; in a process of a pool."""

from __future__ import annotations

import multiprocessing
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cocotb_tests.bench import results
from cocotb_tests.bench.build import build_module
from cocotb_tests.bench.runner import WALL_SECONDS, run_module
from scripts.mutants.mutate import differing
from scripts.mutants.place import ROOT, RTL
from scripts.mutants.sessions import Session

TEST_SEED = "1"  # as `make test` has it; the mutants' seed draws mutants alone
LOG_BYTES = 1 << 29  # a mutant may make an assertion of the Verilog speak each clock
SLACK_SECONDS, SLACK_FACTOR = 60, 5  # how much longer than without a mutant a simulation may take


@dataclass(frozen=True)
class Outcome:
    """`end`: passed, failed, `timed out`, or crashed, when the simulator left no results; `case` failed first."""

    end: str
    case: str
    seconds: float
    differing: frozenset[int]  # mutants that would have changed something, had they been on


def build(session: Session, verilog: Path) -> float:
    """Verilates what the session runs on; seconds that it took."""
    begun = time.monotonic()
    options = session.options
    around = [Path(file) for file in options.get("around", ())]
    top = around[-1].stem if around else session.top
    build_module(top, [verilog, *around], options.get("verilator_args", ()), options.get("parameters") or {}, False)
    return time.monotonic() - begun


def run(session: Session, verilog: Path, mutant: int, alone: float | None, rtl: Path = RTL) -> Outcome:
    """`alone`: seconds without a mutant, which bound the simulation; None where that is to be measured."""
    bound = WALL_SECONDS if alone is None else int(SLACK_SECONDS + SLACK_FACTOR * alone)
    options: dict[str, Any] = dict(session.options)
    options["around"] = [Path(file) for file in options.get("around", ())]
    options["environment"] = {**(options.get("environment") or {}), "COCOTB_MAX_FAILURES": "1"}
    # Two processes may run one session, each in a directory of its own.
    slot = multiprocessing.current_process().name.rpartition("-")[2]
    label = "-".join(filter(None, (session.label, f"mutants{slot}")))
    begun = time.monotonic()
    with _environment(bound):
        results.take()
        end = "passed"
        try:
            run_module(
                session.top,
                session.test_module,
                label=label,
                rtl=rtl,
                netlist=[verilog],
                plusargs=[f"+mutant={mutant}"],
                **options,
            )
        except results.CasesFailed:
            end = "failed"
        except pytest.fail.Exception:
            end = "crashed"
        cases = results.take()
        results.take_notes()
    seconds = time.monotonic() - begun
    if end == "crashed" and seconds >= bound:
        end = "timed out"
    log = next((ROOT / case.log for case in cases), None)
    changed = differing(log.read_text(errors="replace")) if log and mutant == 0 else frozenset()
    failed = next((case.name.partition(":")[2] for case in cases if case.outcome == "failed"), "")
    return Outcome(end, failed, seconds, changed)


@contextmanager
def _environment(bound: int) -> Iterator[None]:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SIM_CMD_PREFIX", f"timeout -k 5 {bound}")
        patch.setenv("SEED", TEST_SEED)
        patch.setenv("COCOTB_RANDOM_SEED", TEST_SEED)
        patch.setenv("PYTHONHASHSEED", "0")
        for name in ("DOWNBEAT_CASE", "COCOTB_TEST_FILTER", "WAVES"):
            patch.delenv(name, raising=False)
        resource.setrlimit(resource.RLIMIT_FSIZE, (LOG_BYTES, limits[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
