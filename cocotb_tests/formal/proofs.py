# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Proofs of each module, and the mutants that each proof must refuse."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """A mistake in the Verilog: `pattern`, which fits once, becomes `replacement`, and the property `breaks` no longer
    holds."""

    name: str
    pattern: str
    replacement: str
    breaks: str


@dataclass(frozen=True)
class Proof:
    """cocotb_tests/formal/NAME.sv around build/rtl/MODULE.v.

    With `induction` of `depth` steps it holds for ever; otherwise in the first `depth` clocks from any state: the file
    says why that is enough.
    """

    name: str
    module: str
    induction: bool
    depth: int
    mutants: tuple[Mutant, ...]
    free: tuple[str, ...] = ()  # signals of the module that may have any value
    quick: bool = True  # seconds: `make test` has it; otherwise `make formal` alone


PROOFS = (
    Proof(
        "time_base",
        "TimeBase",
        induction=True,
        depth=6,
        mutants=(
            Mutant(
                "the carry from the fraction to the nanoseconds is dropped",
                r"<= \((time_\w+) \+ addend\);",
                r"<= {\1[79:32] + addend[79:32], \1[31:0] + addend[31:0]};",
                breaks="sum",
            ),
            Mutant(
                "the last bit of the fraction is dropped",
                r"<= \((\w+) \+ offset\);",
                r"<= (\1 + offset) & ~80'd1;",
                "sum",
            ),
            Mutant("a stamp is rounded, not cut", r"= (time_\w+)\[79 : 16\];", r"= \1[79:16] + \1[15];", "floor"),
            Mutant(
                "a correction loses its sign",
                r"\{\{48\{correction\[31\]\}\}, correction\}",
                "{48'd0, correction}",
                "sum",
            ),
            Mutant("`step` knows no correction", r"<= (_zz__zz_step)\[39:0\];", r"<= increment_1;", "steps"),
        ),
    ),
    Proof(
        "slew",
        "Slew",
        induction=True,
        depth=3,
        mutants=(
            Mutant(
                "one clock too many",
                r"left <= \(\$signed\((_zz_left)\) - \$signed\(33'h\w+\)\);",
                r"left <= \1;",
                "count",
            ),
            Mutant("the correction goes on after the end", r"\(active \? (perClock) : 32'h0\)", r"\1", "amount"),
        ),
    ),
    Proof(
        "pacer_products",
        "PacerSchedule",
        induction=False,
        depth=5,
        mutants=(
            Mutant(
                "a limb is taken a bit off",
                r"booking_payload_interval\[53 : 36\]",
                "booking_payload_interval[52:35]",
                "limbs",
            ),
        ),
    ),
    Proof(
        "pacer_schedule",
        "PacerSchedule",
        induction=False,
        depth=12,
        free=tuple(f"sum_booked_products_{limb}" for limb in range(4)),
        quick=False,
        mutants=(
            Mutant(
                "the carry between the halves of the sum is dropped",
                r"= countHigh_nextLow_grant\[48\];",
                "= 1'b0;",
                "exact",
            ),
            Mutant(
                "the product's upper limbs are added a bit too low",
                r"total_product_low\[49 : 36\]",
                "total_product_low[48:35]",
                "exact",
            ),
            Mutant(
                "the product's fraction is cut",
                r"total_product_low\[35 : 0\]\}",
                "total_product_low[35:4], 4'b0}",
                "exact",
            ),
        ),
    ),
)
