# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make formal`: proves each property for all inputs and states, and shows that each proof refuses its mutants.

For people on the terminal, for programs in build/reports/formal.json. Exit status 0 if all is proved and each mutant
refused.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from cocotb_tests.formal.proofs import PROOFS, Mutant, Proof
from cocotb_tests.formal.sby import ROOT, Outcome, ProofError, properties, run

REPORT = ROOT / "build" / "reports" / "formal.json"


def main() -> int:
    report: dict[str, Any] = {}
    failed = 0
    for proof in PROOFS:
        print(f"{proof.module} (cocotb_tests/formal/{proof.name}.sv)")
        try:
            found = run(proof)
            caught = {mutant: run(proof, mutant) for mutant in proof.mutants}
        except ProofError as error:
            print(error, file=sys.stderr)
            return 1
        failed += _show(proof, found) + sum(_show_mutant(mutant, outcome) for mutant, outcome in caught.items())
        report[proof.name] = {
            "proved": found.proved,
            "properties": properties(proof),
            "mutants": {mutant.name: list(outcome.broken) for mutant, outcome in caught.items()},
        }
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(json.dumps(report, indent=1) + "\n")
    return int(failed > 0)


def _show(proof: Proof, outcome: Outcome) -> int:
    for label, sentence in properties(proof).items():
        mark = "proved" if outcome.proved else "BROKEN" if label in outcome.broken else "open"
        print(f"  {mark:7} {label}: {sentence}")
    print(f"  {'':7} {outcome.seconds:.0f} s")
    return int(not outcome.proved)


def _show_mutant(mutant: Mutant, outcome: Outcome) -> int:
    right = not outcome.proved and mutant.breaks in outcome.broken
    broken = ", ".join(outcome.broken) or "nothing"
    print(f"  {'refused' if right else 'MISSED'} mutant: {mutant.name}; breaks {broken}")
    return int(not right)


if __name__ == "__main__":
    sys.exit(main())
