# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The memories with check bits in a module's Verilog, and flips of their bits in simulation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

CHECK = "_check"
QUEUE = "codewords"  # a queue's memory has word and check bits together


@dataclass(frozen=True)
class Memory:
    path: str  # from the top, with dots
    bits: int  # a word has, without those of a second memory for check bits
    words: int


def memories(verilog: str, top: str) -> list[Memory]:
    """All of them, in the order of the Verilog; a memory of check bits counts as one."""
    modules = {match[1]: match[0] for match in re.finditer(r"^module (\w+) .*?^endmodule", verilog, re.M | re.S)}
    return list(_below(modules, top, ""))


def visible(verilog: str) -> str:
    """Verilator's configuration that shows them to a test."""
    lines = ["`verilator_config"]
    for module in re.finditer(r"^module (\w+) .*?^endmodule", verilog, re.M | re.S):
        lines += [f'public_flat_rw -module "{module[1]}" -var "{name}"' for name, _, _ in _own(module[0])]
    return "\n".join([*lines, ""])


def _own(module: str) -> Iterator[tuple[str, int, int]]:
    found = {
        name: (int(high or 0) + 1, int(last) + 1)
        for high, name, last in re.findall(r"\breg +(?:\[(\d+):0\])? *(\w+) *\[0:(\d+)\];", module)
    }
    for name, (bits, words) in found.items():
        if name.endswith((CHECK, QUEUE)) or name + CHECK in found:
            yield name, bits, words


def _below(modules: dict[str, str], name: str, path: str) -> Iterator[Memory]:
    for memory, bits, words in _own(modules[name]):
        yield Memory(path + memory, bits, words)
    for module, instance in re.findall(r"^  (\w+) (?:#\(.*?\) )?(\w+) \($", modules[name], re.M | re.S):
        if module in modules:
            yield from _below(modules, module, f"{path}{instance}.")


def word(dut: Any, memory: Memory, place: int) -> Any:
    """The handle of a word."""
    return reduce(getattr, memory.path.split("."), dut)[place]


def codeword(dut: Any, memory: Memory, place: int) -> list[Any]:
    """The handles of a word and of its check bits, which a queue has in one."""
    own = memory.path.removesuffix(CHECK)
    paths = (own,) if own.endswith(QUEUE) else (own, own + CHECK)
    return [word(dut, replace(memory, path=path), place) for path in paths]


def flip(handle: Any, *bits: int) -> int:
    """Inverts bits of a word; returns what it is then."""
    flipped = int(handle.value) ^ sum(1 << bit for bit in bits)
    handle.value = flipped
    return flipped
