# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Runs a proof by SymbiYosys with z3: on the module as it is, or on a mutant of it."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from cocotb_tests.formal.proofs import Mutant, Proof

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "formal"
TIMEOUT_S = 300  # for the solver of one proof


class ProofError(Exception):
    """The proof did not run; the message says why."""


@dataclass(frozen=True)
class Outcome:
    proved: bool
    broken: tuple[str, ...]  # labels of properties with a counterexample
    seconds: float


def properties(proof: Proof) -> dict[str, str]:
    """Each property's label and sentence, as the file says them."""
    text = (ROOT / "cocotb_tests" / "formal" / f"{proof.name}.sv").read_text()
    return {label: sentence for sentence, label in re.findall(r"// P: (.*)\n\s*(\w+) : assert", text)}


def run(proof: Proof, mutant: Mutant | None = None) -> Outcome:
    verilog = (ROOT / "build" / "rtl" / f"{proof.module}.v").read_text()
    place = BUILD / proof.name / ("proof" if mutant is None else re.sub(r"\W+", "_", mutant.name).strip("_"))
    if mutant:
        verilog, fits = re.subn(mutant.pattern, mutant.replacement, verilog)
        if fits != 1:
            raise ProofError(
                f"{proof.name}: mutant '{mutant.name}' fits {fits} places of {proof.module}.v: mend its pattern"
            )
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    (place / f"{proof.module}.v").write_text(verilog)
    shutil.copy(ROOT / "cocotb_tests" / "formal" / f"{proof.name}.sv", place)
    (place / "proof.sby").write_text(_script(proof))
    started = time.monotonic()
    done = subprocess.run(["sby", "-f", "proof.sby"], cwd=place, text=True, capture_output=True, check=False)
    log = done.stdout + done.stderr
    (place / "sby.log").write_text(log)
    ended = re.search(r"DONE \((\w+)", log)
    if ended is None or ended[1] not in ("PASS", "FAIL", "UNKNOWN", "TIMEOUT"):
        raise ProofError(f"{proof.name}: sby did not finish; the end of its log:\n{log[-2000:]}")
    broken = re.findall(r"Assert failed in \w+: (\w+)$", log, re.MULTILINE)
    return Outcome(ended[1] == "PASS", tuple(dict.fromkeys(broken)), time.monotonic() - started)


def _script(proof: Proof) -> str:
    cuts = "".join(f"cutpoint w:dut.{name}\n" for name in proof.free)
    return f"""[options]
timeout {TIMEOUT_S}
mode {"prove" if proof.induction else "bmc"}
depth {proof.depth}

[engines]
smtbmc z3

[script]
read_verilog {proof.module}.v
read_verilog -formal -sv {proof.name}.sv
prep -flatten -top {proof.name}
{cuts}
[files]
{proof.module}.v
{proof.name}.sv
"""
