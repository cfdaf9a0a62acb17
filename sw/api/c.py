# SPDX-License-Identifier: BSD-2-Clause-Patent
"""An interface's entries as a C header."""

from __future__ import annotations

import textwrap
from pathlib import Path

from sw.api.model import Alias, Callback, Constant, Entry, Enumeration, Handle, Interface, Structure, generated

WIDTH = 120


def header(interface: Interface) -> str:
    guard = Path(interface.header).name.upper().replace(".", "_")
    includes = sorted([*interface.includes, *(Path(above.header).name for above in interface.above)])
    lines = ["/* SPDX-License-Identifier: BSD-2-Clause-Patent */", *_about(generated(interface.comment))]
    lines += [f"#ifndef {guard}", f"#define {guard}", "", "#include <stddef.h>", "#include <stdint.h>", ""]
    lines += [*(f'#include "{name}"' for name in includes), ""] if includes else []
    for entry in interface.entries:
        if not (isinstance(entry, Structure) and entry.fields):
            lines += [*_entry(entry), ""]
    return "\n".join([*lines, "#endif", ""])


def _entry(entry: Entry) -> list[str]:
    if isinstance(entry, Structure):
        declared = [(f"  {_declared(each.type, each.names)};", each.comment) for each in entry.members]
        return [*_about(entry.comment), f"typedef struct {entry.name} {{", *_noted(declared), f"}} {entry.name};"]
    if isinstance(entry, Enumeration):
        listed = [(f"  {entry.prefix}{each.name} = {each.number},", each.comment) for each in entry.values]
        count = [f"#define {entry.count} {len(entry.values)}"] if entry.count else []
        return [*_about(entry.comment), f"typedef enum {entry.name} {{", *_noted(listed), f"}} {entry.name};", *count]
    if isinstance(entry, Constant):
        return [*_about(entry.comment), f"#define {entry.name} {_number(entry.number)}"]
    if isinstance(entry, Handle):
        return [*_about(entry.comment), f"typedef struct {entry.name} {entry.name};"]
    if isinstance(entry, Alias):
        return [*_about(entry.comment), f"typedef {entry.type} {entry.name};"]
    assert isinstance(entry, Callback)
    return [*_about(entry.comment), f"typedef void (*{entry.name})({entry.parameters});"]


def _declared(of: str, names: str) -> str:
    return f"{of}{names.replace(', ', ', *')}" if of.endswith("*") else f"{of} {names}"


def _number(number: int) -> str:
    return f"UINT64_C({number:#x})" if number >= 1 << 31 else str(number)


def _about(comment: str) -> list[str]:
    if not comment:
        return []
    first, *rest = textwrap.wrap(comment, WIDTH - 7)
    lines = [f"/** {first}", *(f" * {line}" for line in rest)]
    return [*lines[:-1], f"{lines[-1]} */"]


def _noted(declarations: list[tuple[str, str]]) -> list[str]:
    """Each with its comment behind it, or above it where both do not fit."""
    lines = []
    for line, comment in declarations:
        whole = f"{line} /* {comment} */" if comment else line
        lines += [whole] if len(whole) <= WIDTH else [*(f"  {part}" for part in _about(comment)), line]
    return lines
