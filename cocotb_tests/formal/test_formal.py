# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Every quick proof holds, and refuses each of its mutants by the property that the mutant breaks; `make formal` has
them all."""

from __future__ import annotations

import pytest
import z3

from cocotb_tests.formal.proofs import PROOFS, Mutant, Proof
from cocotb_tests.formal.sby import ROOT, ProofError, properties, run

QUICK = [proof for proof in PROOFS if proof.quick]


@pytest.mark.parametrize("proof", QUICK, ids=lambda proof: proof.name)
def test_proof(proof: Proof) -> None:
    outcome = run(proof)
    assert outcome.proved, f"counterexample or no end: {outcome.broken}; build/formal/{proof.name}/proof/sby.log"


@pytest.mark.parametrize(
    ("proof", "mutant"), [pytest.param(proof, mutant, id=mutant.name) for proof in QUICK for mutant in proof.mutants]
)
def test_mutant(proof: Proof, mutant: Mutant) -> None:
    assert mutant.breaks in properties(proof)
    outcome = run(proof, mutant)
    assert not outcome.proved and mutant.breaks in outcome.broken


def test_the_sum_of_the_limbs_products_is_the_product() -> None:
    """The lemma that joins pacer_products.sv and pacer_schedule.sv: for all whole numbers, of any width."""
    length, *limbs = z3.Ints("length limb_0 limb_1 limb_2 limb_3")
    spacing = sum(limb * 2 ** (18 * place) for place, limb in enumerate(limbs))
    products = sum((limb * length) * 2 ** (18 * place) for place, limb in enumerate(limbs))
    solver = z3.Solver()
    solver.add(spacing * length != products)
    assert solver.check() == z3.unsat


def test_a_mutant_that_fits_nowhere_is_an_error() -> None:
    with pytest.raises(ProofError, match="mend its pattern"):
        run(PROOFS[0], Mutant("nothing", "no such text", "", breaks="sum"))


def test_every_property_has_a_sentence() -> None:
    """An assertion without one would be proved, but shown nowhere."""
    for proof in PROOFS:
        text = (ROOT / "cocotb_tests" / "formal" / f"{proof.name}.sv").read_text()
        assert len(properties(proof)) == text.count("assert (") > 0
