# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Single error correction, double error detection by Hsiao's code, as rtl/downbeat/lib/ecc/Secded.scala has it: in
integers, bit 0 lowest, a codeword with its check bits above the word."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Decoded:
    word: int
    corrected: bool
    uncorrectable: bool


@dataclass(frozen=True)
class Secded:
    width: int  # bits of a word

    @cached_property
    def check_bits(self) -> int:
        return next(bits for bits in range(4, 64) if 2 ** (bits - 1) - bits >= self.width)

    @cached_property
    def columns(self) -> list[int]:
        """A column for each bit of a codeword."""
        odd = [column for column in range(2**self.check_bits) if column.bit_count() % 2 and column.bit_count() > 1]
        word = sorted(odd, key=lambda column: (column.bit_count(), column))[: self.width]
        return word + [1 << row for row in range(self.check_bits)]

    def syndrome(self, codeword: int) -> int:
        total = 0
        while codeword:
            lowest = codeword & -codeword
            total ^= self.columns[lowest.bit_length() - 1]
            codeword ^= lowest
        return total

    def encode(self, word: int) -> int:
        """The codeword of a word."""
        return word | self.syndrome(word) << self.width

    def decode(self, codeword: int) -> Decoded:
        syndrome = self.syndrome(codeword)
        odd = bool(syndrome.bit_count() % 2)
        if odd and syndrome in self.columns:
            codeword ^= 1 << self.columns.index(syndrome)
        return Decoded(codeword & (1 << self.width) - 1, odd, syndrome != 0 and not odd)
