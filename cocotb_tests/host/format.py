# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The host interface's format (downbeat_host.json): offsets, entries and enumerations by name."""

from __future__ import annotations

import functools
import json
from typing import Any

from cocotb_tests.bench.layout import FILE, layout


@functools.cache
def host_format() -> dict[str, Any]:
    read: dict[str, Any] = json.loads(FILE.with_name("downbeat_host.json").read_text())
    return read


def number(name: str) -> int:
    """A size of the format, such as `commandBytes`."""
    return int(host_format()["numbers"][name])


def offset(table: str, name: str) -> int:
    return int(host_format()["tables"][table][name]["offset"])


def element(enumeration: str, name: str) -> int:
    return int(host_format()["enums"][enumeration][name])


def name_of(enumeration: str, value: int) -> str:
    """The number of an element of an enumeration of the host's format or of the core's layout."""
    names: dict[str, int] = host_format()["enums"].get(enumeration) or layout()["enums"][enumeration]
    return next(name for name, found in names.items() if found == value)


def pack_command(opcode: str | int, **fields: int) -> bytes:
    """An entry; a field that is not given is 0."""
    values = {"opcode": element("HostOpcode", opcode) if isinstance(opcode, str) else opcode, **fields}
    word = 0
    for name, value in values.items():
        field = host_format()["tables"]["command"][name]
        assert 0 <= value < 1 << field["bits"], f"{name}: {value} does not fit"
        word |= value << 8 * field["offset"]
    return word.to_bytes(number("commandBytes"), "little")


def unpack_notification(entry: bytes) -> dict[str, Any]:
    """All fields; kind, and what depends on it, by name."""
    values = _fields("notification", entry)
    values["kind"] = name_of("HostNotificationKind", values["kind"])
    if values["kind"] in ("pathReport", "stamp"):
        common = ("kind", "flow", "generation", "phase") + (("commandHead",) if values["kind"] == "stamp" else ())
        return {name: values[name] for name in common} | _fields(values["kind"], entry)
    is_error = values["kind"] == "error"
    values["reason"] = name_of("HostError" if is_error else "CloseReason", values["reason"])
    values["state"] = name_of("HostSource" if is_error else "TcpState", values["state"])
    return values


def _fields(table: str, entry: bytes) -> dict[str, Any]:
    word = int.from_bytes(entry, "little")
    return {
        name: word >> 8 * field["offset"] & (1 << field["bits"]) - 1
        for name, field in host_format()["tables"][table].items()
    }
