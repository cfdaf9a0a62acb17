# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The shifts of rtl/downbeat/calculation/Shifts.scala."""

from __future__ import annotations


def normalized(value: int, bits: int) -> tuple[int, int]:
    """A value of so many bits shifted left until its top bit is set, and how far; zero stays, shifted by all ones."""
    if value == 0:
        return 0, (1 << (bits - 1).bit_length()) - 1
    zeros = bits - value.bit_length()
    return value << zeros, zeros
