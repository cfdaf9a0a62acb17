# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Named fields packed into bits, lowest first, as a Scala Bundle's are: policy states, requests and responses of
units."""

from __future__ import annotations

from typing import ClassVar, Self


class PackedFields:
    """A frozen dataclass inherits this. FIELDS has its fields, lowest first: each name with its width in bits or a
    PackedFields.

    A field with a width is an integer, not negative when it is unpacked. Names are those of the RTL in snake_case.
    """

    FIELDS: ClassVar[tuple[tuple[str, int | type[PackedFields]], ...]] = ()
    # Name, PackedFields or None, lowest bit and mask of each field: states are taken apart for each event.
    _layout: ClassVar[list[tuple[str, type[PackedFields] | None, int, int]]] = []

    def __init_subclass__(cls) -> None:
        cls._layout, place = [], 0
        for name, kind in cls.FIELDS:
            inner, bits = (None, kind) if isinstance(kind, int) else (kind, kind.bits())
            cls._layout.append((name, inner, place, (1 << bits) - 1))
            place += bits

    @classmethod
    def bits(cls) -> int:
        return sum(mask.bit_length() for *_, mask in cls._layout)

    @classmethod
    def widths(cls) -> list[tuple[str, int]]:
        """Each field and its bits; fields of a field as `outer_inner`."""
        return [
            (f"{name}_{part}" if part else name, bits)
            for name, kind in cls.FIELDS
            for part, bits in ([("", kind)] if isinstance(kind, int) else kind.widths())
        ]

    @classmethod
    def unpacked(cls, packed: int) -> Self:
        fields: dict[str, int | PackedFields] = {}
        for name, inner, place, mask in cls._layout:
            value = packed >> place & mask
            fields[name] = inner.unpacked(value) if inner else value
        return cls(**fields)

    def packed(self) -> int:
        """Negative values as two's complement."""
        packed = 0
        for name, inner, place, mask in self._layout:
            value = getattr(self, name)
            packed |= (value.packed() if inner else int(value) & mask) << place
        return packed
