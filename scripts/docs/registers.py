# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The register map in the documentation site, made of the SystemRDL that `make rtl` writes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).resolve().parents[2] / "build" / "rtl" / "downbeat_registers.rdl"
MARK = "<!-- registers -->"
# As RegisterRdl.scala writes them: one property list, then fields, each with its own.
REGISTER = re.compile(r"^  reg \{\n(.*?)^  \} \\?(\w+) @ (0x[0-9a-f]+);", re.MULTILINE | re.DOTALL)
FIELD = re.compile(
    r"^    field \{\n(.*?)^    \} \\?(\w+)\[(\d+):(\d+)\](?: = (0x[0-9a-f]+))?;", re.MULTILINE | re.DOTALL
)
DESCRIPTION = re.compile(r'^( +)desc = "((?:\\.|[^"\\])*)";', re.MULTILINE)
ACCESS = {"sw = r; hw = w;": "RO", "sw = r; hw = na;": "RO", "sw = rw; hw = r;": "RW", "sw = w; hw = r;": "WO"}
ACCESS["sw = w; hw = r; singlepulse;"] = "W1P"


@dataclass(frozen=True)
class Field:
    name: str
    high: int
    low: int
    access: str  # RO, RW, WO, W1P
    reset: int
    constant: bool  # `reset` is its value in this build
    text: str


@dataclass(frozen=True)
class Register:
    name: str
    offset: int  # bytes
    text: str
    fields: tuple[Field, ...]


def read(rdl: str) -> list[Register]:
    """The registers of a file that the RTL's elaboration wrote; ValueError for another file."""
    found = [
        Register(name, int(offset, 16), _text(body, 4), tuple(_fields(body)))
        for body, name, offset in REGISTER.findall(rdl)
    ]
    if (rdl.count("\n  } "), rdl.count("\n    } ")) != (len(found), sum(len(each.fields) for each in found)):
        raise ValueError("SystemRDL of another form than RegisterRdl.scala's")
    return found


def shown(page: str) -> str:
    """The page with a table in the place of its mark."""
    return page.replace(MARK, "\n".join(_table(read(FILE.read_text())))) if MARK in page else page


def _fields(body: str) -> Iterator[Field]:
    for inside, name, high, low, reset in FIELD.findall(body):
        access = inside.splitlines()[0].strip()
        yield Field(
            name, int(high), int(low), ACCESS[access], int(reset or "0", 16), "hw = na" in access, _text(inside, 6)
        )


def _text(body: str, indent: int) -> str:
    found = (match[2] for match in DESCRIPTION.finditer(body) if len(match[1]) == indent)
    return re.sub(r"\\(.)", r"\1", next(found, ""))


def _table(registers: list[Register]) -> Iterator[str]:
    yield from ("| offset | register | bits | access | |", "|---|---|---|---|---|")
    for register in registers:
        for number, field in enumerate(register.fields):
            whole = field.name == "value" and len(register.fields) == 1
            name = register.name if whole else f"{register.name}.{field.name}"
            bits = f"{field.high}..{field.low}" if field.high > field.low else f"{field.low}"
            verb = "Here" if field.constant else "Resets to"
            reset = f"{verb} {field.reset:#x}." if field.reset else ""
            text = " ".join(part for part in (register.text if not number else "", field.text, reset) if part)
            yield f"| {register.offset:#05x} | `{name}` | {bits} | {field.access} | {text} |"
