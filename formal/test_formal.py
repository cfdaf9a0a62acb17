# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Every proof holds, and refuses each of its mutants by the property that the mutant breaks."""

from __future__ import annotations

import pytest

from formal.proofs import PROOFS, Mutant, Proof
from formal.sby import properties, run

# One at a time: the tools are WebAssembly, and the first call on a machine compiles them.
pytestmark = pytest.mark.xdist_group("yosys")


@pytest.mark.parametrize("proof", PROOFS, ids=lambda proof: proof.name)
def test_proof(proof: Proof) -> None:
    outcome = run(proof)
    assert outcome.proved, f"counterexample or no end: {outcome.broken}; build/formal/{proof.name}/proof/sby.log"


@pytest.mark.parametrize(
    ("proof", "mutant"), [pytest.param(proof, mutant, id=mutant.name) for proof in PROOFS for mutant in proof.mutants]
)
def test_mutant(proof: Proof, mutant: Mutant) -> None:
    assert mutant.breaks in properties(proof)
    outcome = run(proof, mutant)
    assert not outcome.proved and mutant.breaks in outcome.broken
