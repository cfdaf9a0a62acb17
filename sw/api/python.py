# SPDX-License-Identifier: BSD-2-Clause-Patent
"""An interface's entries as a Python module: IntEnums, ctypes structures, and the types of its functions."""

from __future__ import annotations

import subprocess
import textwrap

from sw.api.model import (
    ROOT,
    Alias,
    Callback,
    Constant,
    Entry,
    Enumeration,
    Handle,
    Interface,
    Structure,
    generated,
)
from sw.api.prototypes import prototypes

SCALARS = {
    "char": "c_char",
    "int": "c_int",
    "unsigned": "c_uint",
    "size_t": "c_size_t",
    **{f"{sign}int{bits}_t": f"c_{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}


class Module:
    """The module's text; it imports what its entries use."""

    def __init__(self, interface: Interface) -> None:
        self._interface = interface
        self._names = interface.names()
        self._ctypes: set[str] = set()
        self._enums: set[str] = set()
        self._others: dict[str, set[str]] = {}

    def text(self) -> str:
        parts = [self._entry(entry) for entry in self._interface.entries]
        if self._interface.functions:
            parts.append(self._functions())
        body = "\n\n".join(part for part in parts if part)
        imports = [f"from ctypes import {', '.join(sorted(self._ctypes))}"] if self._ctypes else []
        imports += [f"from enum import {', '.join(sorted(self._enums))}"] if self._enums else []
        imports += ["from typing import Any"] if self._interface.functions else []
        imports += [f"from {module} import {', '.join(sorted(names))}" for module, names in self._others.items()]
        text = [
            "# SPDX-License-Identifier: BSD-2-Clause-Patent",
            _docstring(generated(self._interface.comment), 0),
            "",
            "from __future__ import annotations",
            "",
            *imports,
            "",
            body,
            "",
        ]
        return formatted("\n".join(text))

    def _entry(self, entry: Entry) -> str:
        if isinstance(entry, Enumeration):
            kind = "IntFlag" if entry.flags else "IntEnum"
            self._enums.add(kind)
            values = [f"    {each.name} = {each.number}" for each in entry.values]
            return "\n".join([f"class {entry.python}({kind}):", _about(entry), "", *values])
        if isinstance(entry, Structure):
            fields = f"    _fields_ = {entry.fields}" if entry.fields else self._fields(entry)
            if entry.fields:
                self._others.setdefault("downbeat_toe.event_fields", set()).add(entry.fields)
            return "\n".join([f"class {self._use(entry.python, 'Structure')}(Structure):", _about(entry), "", fields])
        if isinstance(entry, Constant):
            return f"{entry.python} = {entry.number}"
        if isinstance(entry, Callback):
            self._ctypes.add("CFUNCTYPE")
            types = [self._type(each.rsplit(" ", 1)[0] + (" *" if "*" in each else "")) for each in _split(entry)]
            return f"{entry.python} = CFUNCTYPE(None, {', '.join(types)})"
        return ""

    def _use(self, name: str, of_ctypes: str) -> str:
        self._ctypes.add(of_ctypes)
        return name

    def _fields(self, entry: Structure) -> str:
        fields = []
        for member in entry.members:
            of = self._type(member.type, bytes_are_text=False)
            for name, length in member.each():
                fields.append(f'("{name}", {of}{f" * {self._length(length)}" if length else ""})')
        return f"    _fields_ = ({', '.join(fields)},)"

    def _length(self, length: str) -> str:
        return self._python(length) if length in self._names else length

    def _functions(self) -> str:
        lines = []
        for header in self._interface.functions:
            for each in prototypes((ROOT / header).read_text()):
                result = "None" if each.result == "void" else self._type(each.result)
                lines.append(f'"{each.name}": ({result}, [{", ".join(map(self._type, each.parameters))}]),')
        about = "# The result and the parameters of each function."
        return "\n".join([about, "FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {", *lines, "}"])

    def _type(self, spelled: str, bytes_are_text: bool = True) -> str:
        """A C type as ctypes has it; a pointer to bytes is c_char_p where a caller passes bytes."""
        base = spelled.replace("const ", "").replace("struct ", "").replace("enum ", "")
        stars, base = base.count("*"), base.replace("*", "").strip()
        entry = self._names[base][0] if base in self._names else None
        if isinstance(entry, Alias):
            return self._type(entry.type + "*" * stars)
        if base == "void" or isinstance(entry, Handle):
            found, stars = "c_void_p", stars - 1
        elif stars and (base == "char" or base == "uint8_t" and bytes_are_text):
            found, stars = "c_char_p", stars - 1
        elif isinstance(entry, Enumeration):
            found = "c_int"
        elif entry:
            found = self._python(base)
        elif base in SCALARS:
            found = SCALARS[base]
        else:
            raise ValueError(f"{spelled!r}: the list has no type {base}")
        if found.startswith("c_"):
            self._ctypes.add(found)
        if stars:
            self._ctypes.add("POINTER")
        return "POINTER(" * stars + found + ")" * stars

    def _python(self, name: str) -> str:
        entry, home = self._names[name]
        assert isinstance(entry, Structure | Constant | Callback)
        if home is not self._interface:
            self._others.setdefault(home.python_module(), set()).add(entry.python)
        return entry.python


def _split(callback: Callback) -> list[str]:
    return callback.parameters.split(", ")


def _about(entry: Structure | Enumeration) -> str:
    kind = "enum" if isinstance(entry, Enumeration) else "struct"
    return _docstring(f"{entry.comment} In C: {kind} {entry.name}.", 4)


def _docstring(text: str, indent: int) -> str:
    lines = textwrap.wrap(text, 114 - indent)
    return textwrap.indent('"""' + "\n".join(lines) + '"""', " " * indent)


def formatted(text: str) -> str:
    for command in (["check", "--quiet", "--fix", "--select", "I"], ["format", "--quiet"]):
        ruff = ["ruff", *command, "--stdin-filename", "sw/python/generated.py", "-"]
        text = subprocess.run(ruff, input=text, text=True, capture_output=True, check=True, cwd=ROOT).stdout
    return text
