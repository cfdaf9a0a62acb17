# SPDX-License-Identifier: BSD-2-Clause-Patent
"""How a stream's name becomes the ports of a module."""

from __future__ import annotations

import functools
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# The variable in which the runner passes the ports that the module's top has, with their widths in bits: if a test has
# made inner signals visible too, an inner `sink_payload_x` must not be taken for a field of `sink`.
PORTS_VARIABLE = "DOWNBEAT_PORTS"


@dataclass(frozen=True)
class Naming:
    """Suffixes after the stream's name; `payload` is followed by the field."""

    valid: str
    ready: str
    payload: str


SPINAL = Naming(valid="_valid", ready="_ready", payload="_payload")
AXI_STREAM = Naming(valid="_tvalid", ready="_tready", payload="_t")


# A port as it stands between two commas: a name alone is of the direction and the range before it.
PORT = re.compile(r"(?:(?P<direction>input|output|inout)\s+(?:wire|reg)?\s*(?:\[(?P<high>\d+):0\]\s*)?)?(?P<name>\w+)")


def top_ports(verilog: str, top: str) -> dict[str, int]:
    """Name and width in bits of each port of `top` in its Verilog. ValueError where it is not there or is not read."""
    header = re.search(rf"^module {top} (?:#\(.*?^\) )?\((.*?)^\);", verilog, re.DOTALL | re.MULTILINE)
    if header is None:
        raise ValueError(f"no module {top} in its Verilog")
    ports, width = {}, 1
    for text in re.sub(r"//.*|\(\*.*?\*\)", "", header.group(1)).split(","):
        port = PORT.fullmatch(text.strip())
        if port is None:
            raise ValueError(f"{top}: port {text.strip()!r} is not read")
        width = int(port["high"] or 0) + 1 if port["direction"] else width
        ports[port["name"]] = width
    return ports


@functools.cache
def _ports() -> dict[str, int]:
    ports: dict[str, int] = json.loads(Path(os.environ[PORTS_VARIABLE]).read_text())
    return ports


class StreamPorts:
    """The handles of one stream. A lone payload is the field `payload`; a Fragment's fields lose `fragment_`."""

    def __init__(self, dut: Any, name: str, naming: Naming = SPINAL) -> None:
        self.name = name
        self.clk = dut.clk
        self.reset = dut.reset
        ports = _ports()
        if name + naming.valid not in ports:
            raise ValueError(f"{dut._name} has no port {name}{naming.valid}; it has {', '.join(ports)}")
        self.valid = getattr(dut, name + naming.valid)
        # A Flow has no ready: its sink takes every beat.
        self.ready = getattr(dut, name + naming.ready) if name + naming.ready in ports else None
        self.fields: dict[str, Any] = {}
        self.widths: dict[str, int] = {}  # bits
        for port, width in ports.items():
            field = _field(port, name, naming)
            if field is not None:
                self.fields[field] = getattr(dut, port)
                self.widths[field] = width

    def read(self) -> dict[str, int]:
        return {field: int(handle.value) for field, handle in self.fields.items()}

    def write(self, beat: Mapping[str, int]) -> None:
        for field, value in beat.items():
            self.fields[field].value = value

    def check(self, beat: Mapping[str, int]) -> None:
        """Refuses a beat that does not name each field once, or does not fit."""
        if beat.keys() != self.fields.keys():
            raise ValueError(f"{self.name}: beat has {sorted(beat)}, the port {sorted(self.fields)}")
        for field, value in beat.items():
            if not 0 <= value < 1 << self.widths[field]:
                raise ValueError(f"{self.name}.{field}: {value:#x} does not fit {self.widths[field]} bits")


def _field(port: str, name: str, naming: Naming) -> str | None:
    prefix = name + naming.payload
    if not port.startswith(prefix):
        return None
    field = port.removeprefix(prefix)
    if naming is AXI_STREAM:
        return field if field not in ("valid", "ready") else None
    if not field:
        return "payload"
    if not field.startswith("_"):
        return None
    return field.removeprefix("_").removeprefix("fragment_")
