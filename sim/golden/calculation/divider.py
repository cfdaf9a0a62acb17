# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The quotient of rtl/downbeat/calculation/Divider.scala: rounded down; all ones where it does not fit."""

from __future__ import annotations


def quotient(numerator: int, denominator: int, bits: int) -> int:
    """min(floor(numerator / denominator), 2^bits - 1); a division by zero does not fit."""
    largest = (1 << bits) - 1
    return min(numerator // denominator, largest) if denominator else largest
