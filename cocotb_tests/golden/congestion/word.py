# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Named fields packed into bits, lowest first, as a Scala Bundle's are: private words, questions and answers of units."""

from __future__ import annotations

from typing import ClassVar, Self


class Word:
    """To be inherited by a frozen dataclass that says its FIELDS, lowest first: each name with its width in bits or a Word.

    What has a width is an integer, not negative when it is unpacked.
    """

    FIELDS: ClassVar[tuple[tuple[str, int | type[Word]], ...]]

    @classmethod
    def bits(cls) -> int:
        return sum(_width(kind) for _, kind in cls.FIELDS)

    @classmethod
    def unpacked(cls, word: int) -> Self:
        fields: dict[str, int | Word] = {}
        for name, kind in cls.FIELDS:
            value = word & (1 << _width(kind)) - 1
            fields[name] = value if isinstance(kind, int) else kind.unpacked(value)
            word >>= _width(kind)
        return cls(**fields)

    def packed(self) -> int:
        """Negative values as two's complement."""
        word = place = 0
        for name, kind in self.FIELDS:
            value = getattr(self, name)
            word |= (int(value) & (1 << kind) - 1 if isinstance(kind, int) else value.packed()) << place
            place += _width(kind)
        return word


def _width(kind: int | type[Word]) -> int:
    return kind if isinstance(kind, int) else kind.bits()
