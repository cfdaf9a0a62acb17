# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The policies of a build and their arguments, in people's units: `a=0.5, b=0.3`; `n=10, gap=700us`.

All of it is read from downbeat_layout.json, which the RTL generates; the package has the default build's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from downbeat_toe.quantities import BINARY, DECIMAL, NANOSECONDS, NUMBER

OWN = Path(__file__).with_name("downbeat_layout.json")  # of the policies that the driver knows by name
FAMILIES = {"startup": "StartupPolicy", "steady": "SteadyPolicy"}


class ArgumentRefused(ValueError):
    """A policy does not exist or does not take that; the message says what it takes."""


@dataclass(frozen=True)
class Field:
    """One number; `min`, `max` and `default` as the bits have them."""

    name: str
    offset: int
    width: int
    fraction: int
    unit: str
    min: int
    max: int
    default: int

    def value(self, text: str) -> int:
        """What people write, as the bits have it, to the nearest."""
        found = re.fullmatch(rf"{NUMBER}\s*([^\d\s.]*)", text.strip())
        scale = self._scales().get(found[2]) if found else None
        if found is None or scale is None:
            raise ArgumentRefused(f"{self.name}={text}: write {self._example()}; {self}")
        return round(Fraction(Decimal(found[1])) * scale * (1 << self.fraction))

    def text(self, value: int) -> str:
        scale = {"bytes/s": Fraction(8), "tenths": Fraction(1, 10)}.get(self.unit, Fraction(1))
        amount = Fraction(value, 1 << self.fraction) * scale
        return f"{float(amount):.10g}{self._suffix()}"

    def _scales(self) -> Mapping[str, int | Fraction]:
        match self.unit:
            case "ns":
                return NANOSECONDS
            case "bytes":
                return {f"{prefix}{tail}": scale for prefix, scale in (DECIMAL | BINARY).items() for tail in ("", "B")}
            case "bytes/s":  # people count a link's bits
                return {
                    f"{prefix}{tail}": Fraction(scale, 8)
                    for prefix, scale in DECIMAL.items()
                    for tail in ("bps", "b/s")
                }
            case "tenths":
                return {"": 10}
            case _:
                return {"": 1}

    def _suffix(self) -> str:
        return {"ns": " ns", "bytes": " B", "bytes/s": " b/s"}.get(self.unit, "")

    def _example(self) -> str:
        return {"ns": "a time with its unit, as 40ms", "bytes": "a size, as 64KiB", "bytes/s": "a rate, as 20Mb/s"}.get(
            self.unit, "a number"
        )

    def __str__(self) -> str:
        unit = f" {self.unit}" if self.unit == "segments" else ""
        return (
            f"{self.name} from {self.text(self.min)} to {self.text(self.max)}{unit}, default {self.text(self.default)}"
        )


@dataclass(frozen=True)
class Policy:
    family: str  # startup, steady
    name: str
    number: int
    bits: int
    needed: bool
    not_above: tuple[tuple[str, str], ...]
    fields: dict[str, Field]

    def argument(self, text: str) -> int:
        """The argument that the text says; empty: none, which is all zeros. A whole number alone is the argument's
        bits."""
        text = text.strip()
        if re.fullmatch(r"0x[0-9a-fA-F]+|\d+", text):
            argument = int(text, 0)
        else:
            given = self._given(text)
            argument = 0
            for name, field in self.fields.items() if text else ():
                value = field.value(given[name]) if name in given else field.default
                if not field.min <= value <= field.max:
                    raise ArgumentRefused(
                        f"{self.name}: {name}={given.get(name, field.text(value))} is out of range, {self}"
                    )
                argument |= value << field.offset
        if problem := self.problem(argument):
            raise ArgumentRefused(problem)
        return argument

    def problem(self, argument: int) -> str:
        """Why the core would refuse this argument; empty: it would not."""
        if argument == 0:
            return f"{self.name} needs an argument: {self}" if self.needed else ""
        if argument >> self.bits:
            return f"{self.name}: {argument:#x} is not an argument, {self}"
        values = {name: argument >> field.offset & (1 << field.width) - 1 for name, field in self.fields.items()}
        for name, field in self.fields.items():
            if not field.min <= values[name] <= field.max:
                return f"{self.name}: {name}={field.text(values[name])} is out of range, {self}"
        for lesser, greater in self.not_above:
            if values[lesser] > values[greater]:
                return f"{self.name}: {lesser} is above {greater}, {self}"
        return ""

    def text(self, argument: int) -> str:
        """An argument as people write it."""
        if not argument:
            return ""
        return ", ".join(
            f"{name}={field.text(argument >> field.offset & (1 << field.width) - 1)}"
            for name, field in self.fields.items()
        )

    def _given(self, text: str) -> dict[str, str]:
        given = {}
        for part in filter(None, map(str.strip, text.split(","))):
            name, equals, value = (piece.strip() for piece in part.partition("="))
            if name not in self.fields or not equals:
                raise ArgumentRefused(f"{self.name}: '{part}' is not an argument, {self}")
            given[name] = value
        return given

    def __str__(self) -> str:
        if not self.fields:
            return f"{self.name} takes none"
        pairs = (f"{lesser} not above {greater}" for lesser, greater in self.not_above)
        return f"{self.name} takes {'; '.join([*map(str, self.fields.values()), *pairs])}"


def read(layout: Path) -> dict[str, dict[str, Policy]]:
    """The build's policies by family (startup, steady) and name, in order of their numbers."""
    data = json.loads(layout.read_text())
    return {
        family: {
            name: Policy(
                family,
                name,
                number,
                takes["bits"],
                takes["needed"],
                tuple((lesser, greater) for lesser, greater in takes["notAbove"]),
                {field: Field(field, **figures) for field, figures in takes["fields"].items()},
            )
            for name, number in sorted(data["policies"][key].items(), key=lambda item: int(item[1]))
            for takes in [data["arguments"][key][name]]
        }
        for family, key in FAMILIES.items()
    }


def find(policies: dict[str, Policy], name: str) -> Policy:
    """The policy of that name; empty: the build's first."""
    if not name:
        return next(iter(policies.values()))
    if name not in policies:
        raise ArgumentRefused(f"no congestion policy '{name}' in this build, use {', '.join(policies)}")
    return policies[name]
