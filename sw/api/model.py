# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The kinds of entries in the list of what C and Python share. Types, and names of members, are spelled as in C."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Member:
    """One or several members of a structure: Member("uint16_t", "remote_port, local_port", "of TCP")."""

    type: str
    names: str
    comment: str = ""

    def each(self) -> Iterator[tuple[str, str | None]]:
        """Name and length of each; the length of what is no array is None."""
        for declared in self.names.split(", "):
            found = re.fullmatch(r"(\w+)(?:\[(\w+)\])?", declared)
            if not found:
                raise ValueError(f"{declared!r} is no name of a member: write name or name[length]")
            yield found[1], found[2]


@dataclass(frozen=True)
class Structure:
    """`python` is the name of its ctypes class. `members` is empty where the RTL's generator writes both (`fields`)."""

    name: str
    python: str
    comment: str
    members: tuple[Member, ...] = ()
    fields: str = ""


@dataclass(frozen=True)
class Value:
    """A value of an enumeration: its name behind the prefix, its number, its meaning."""

    name: str
    number: int
    comment: str = ""


@dataclass(frozen=True)
class Enumeration:
    """`count`: the macro that has the number of values. `flags`: the values are bits of a set."""

    name: str
    python: str
    comment: str
    prefix: str
    values: tuple[Value, ...]
    count: str = ""
    flags: bool = False


@dataclass(frozen=True)
class Constant:
    """A macro in C, `python` in Python."""

    name: str
    python: str
    number: int
    comment: str = ""


@dataclass(frozen=True)
class Handle:
    """A structure that only the library sees into."""

    name: str
    comment: str = ""


@dataclass(frozen=True)
class Alias:
    """Another name of a scalar type."""

    name: str
    type: str
    comment: str


@dataclass(frozen=True)
class Callback:
    """A function of the caller without a result."""

    name: str
    python: str
    parameters: str
    comment: str


Entry = Structure | Enumeration | Constant | Handle | Alias | Callback


@dataclass(frozen=True)
class Interface:
    """The entries of one generated header and one generated module. `functions`: headers whose functions it types.

    `above`: the interfaces whose entries it uses; their headers are included, as are `includes`.
    """

    comment: str
    header: str
    module: str
    entries: tuple[Entry, ...]
    functions: tuple[str, ...] = ()
    above: tuple[Interface, ...] = ()
    includes: tuple[str, ...] = ()

    def python_module(self) -> str:
        return self.module.removeprefix("sw/python/").removesuffix(".py").replace("/", ".")

    def names(self) -> dict[str, tuple[Entry, Interface]]:
        """All entries that it may use, by their names in C."""
        found: dict[str, tuple[Entry, Interface]] = {}
        for interface in self.above:
            found |= interface.names()
        return found | {entry.name: (entry, self) for entry in self.entries}


def structure(name: str, python: str, comment: str, *members: Member) -> Structure:
    return Structure(name, python, comment, members)


def enumeration(
    name: str, python: str, comment: str, prefix: str, *values: Value, count: str = "", flags: bool = False
) -> Enumeration:
    return Enumeration(name, python, comment, prefix, values, count, flags)


def generated(comment: str) -> str:
    return f"{comment} Generated from sw/api by `make generate`; do not edit."
