# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A policy's private word as named fields, lowest first: what a Scala Bundle's bits are."""

from __future__ import annotations

from typing import ClassVar, Self


class Word:
    """To be inherited by a frozen dataclass of integers that says its FIELDS: each name with its width in bits, lowest first."""

    FIELDS: ClassVar[tuple[tuple[str, int], ...]]

    @classmethod
    def bits(cls) -> int:
        return sum(bits for _, bits in cls.FIELDS)

    @classmethod
    def unpacked(cls, word: int) -> Self:
        fields = {}
        for name, bits in cls.FIELDS:
            fields[name] = word & (1 << bits) - 1
            word >>= bits
        return cls(**fields)

    def packed(self) -> int:
        """Negative values as two's complement."""
        word = place = 0
        for name, bits in self.FIELDS:
            word |= (int(getattr(self, name)) & (1 << bits) - 1) << place
            place += bits
        return word
