# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Yosys' command `mutate` on one module: lists mistakes in it, and plants those that a simulation may switch on.

A planted module has every mutant; `+mutant=K` of the simulation switches one on. At its end the simulation prints which
mutants would have changed a signal: the effect of the others on a test is known without a simulation.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from scripts.mutants.place import PLANTED
from scripts.mutants.verilog import Module, common

SWITCH = "mutant_"
DIFFERS = re.compile(r"^mutant_differs (\d+)$", re.MULTILINE)
SOURCE = "module.v"
# Mistakes in a clock or in a reset are found by any test.
UNWANTED_PORTS = {"CLK", "ARST", "SRST"}
ALL = 1_000_000  # candidates of one pin
EFFECT = {"inv": "inverted", "const0": "always 0", "const1": "always 1"}
PORT = re.compile(r"^  (input|output) (\[\d+:0\] )?(\w+);\n  (wire|reg) (?:\[\d+:0\] )?\w+( = [^;]+)?;\n", re.MULTILINE)


@dataclass(frozen=True)
class Mistake:
    """One line of `mutate -list`: a bit of a cell's port is inverted or constant, or inverted while another is 0 or 1."""

    line: str

    @cached_property
    def options(self) -> dict[str, str]:
        """The last of each; -src is the place in the module's text."""
        return dict(re.findall(r"-(\w+) (\S+)", self.line))

    @property
    def kind(self) -> str:
        return self.options["mode"]

    @property
    def wire(self) -> str:
        """The net that carries the bit; empty where it has no name."""
        return self.options.get("wire", "")

    @property
    def changed(self) -> str:
        options = self.options
        other = f"inverted while bit {options.get('ctrlbit')} is {self.kind[-1]}"
        return f"{options['port']}[{options['portbit']}] {EFFECT.get(self.kind, other)}"

    @cached_property
    def place(self) -> tuple[int, int, int]:
        """Line in the module from 0; first and last column in it, the whole line where the source has several."""
        first, column, last, end = map(int, re.findall(r"\d+", self.options["src"].rpartition(":")[2]))
        return (first - 1, column - 1, end - 1) if first == last else (first - 1, 0, 10_000)

    def command(self, number: int) -> str:
        return self.line.replace("mutate", f"mutate -ctrl {SWITCH} 32 {number}", 1)

    def at(self, place: Mistake) -> Mistake:
        """This mistake in the place of another one."""
        words = {name: self.options[name] for name in ("mode", "ctrlbit") if name in self.options}
        line = re.sub(r" -(?:mode|ctrlbit) \S+", "", place.line)
        return Mistake(line + "".join(f" -{name} {word}" for name, word in words.items()))

    def key(self, module: Module) -> tuple[object, ...]:
        """The same for the same place in another file's version of the module."""
        cell = self.options["cell"].split("$")[1]
        options = tuple(self.options.get(name) for name in ("port", "portbit", "wirebit"))
        return (*options, cell, common(self.wire), module.keys[self.place[0]])


def listed(module: Module, count: int, seed: int) -> list[Mistake]:
    """`count` mistakes that Yosys draws in the module, fewer where it has fewer."""
    return _lists(module, (f"-list {count} -seed {seed}",))[0]


def found_again(mistakes: Sequence[Mistake], home: Module, other: Module) -> list[Mistake | None]:
    """Each mistake in another file's version of its module, where the place is there as often as at home."""
    options = tuple(
        f"-list {ALL} -mode inv " + " ".join(f"-{name} {each.options[name]}" for name in ("port", "portbit"))
        for each in mistakes
    )
    found: list[Mistake | None] = []
    for mistake, here, there in zip(mistakes, _lists(home, options), _lists(other, options), strict=True):
        alike = [each for each in _in_order(here) if each.key(home) == mistake.key(home)]
        places = [each for each in _in_order(there) if each.key(other) == mistake.key(home)]
        cells = [each.options["cell"] for each in alike]
        known = len(alike) == len(places) and mistake.options["cell"] in cells
        found.append(mistake.at(places[cells.index(mistake.options["cell"])]) if known else None)
    return found


def _in_order(mistakes: Sequence[Mistake]) -> list[Mistake]:
    """By the numbers that Yosys gives cells as it reads the text."""
    return sorted(mistakes, key=lambda each: int(each.options["cell"].rpartition("$")[2]))


def planted(module: Module, mistakes: Mapping[int, Mistake]) -> str:
    """The module with these mistakes, by their numbers; ports stand in its head as SpinalHDL writes them."""
    commands = [each.command(number) for number, each in mistakes.items()]
    text = _yosys(module, [*commands, "write_verilog -noattr out.v"], "out.v")[0]
    body = text[text.index(";\n", text.index(f"module {module.name}(")) + 2 : text.index("endmodule")]
    ports = [found.groups() for found in PORT.finditer(body) if found[3] != SWITCH]
    head = ",\n".join(f"  {way} {kind} {width or ''}{name}{value or ''}" for way, width, name, kind, value in ports)
    return f"module {module.name} (\n{head}\n);\n{_watched(PORT.sub('', body), list(mistakes))}endmodule"


def _watched(body: str, numbers: Sequence[int]) -> str:
    """The body with the switch, and a flag for each mutant: set once its bit differs at an edge of the one clock, and
    always where that is unknown."""
    clocks = set(re.findall(r"always @\((posedge \w+)", body))
    when = clocks.pop() if len(clocks) == 1 else "*"
    selected = {f"32'd{number}": number for number in numbers}
    selects = {
        wire: selected[value]
        for wire, value in re.findall(rf"^  assign (\S+) = {SWITCH} == (32'd\d+);$", body, re.MULTILINE)
    }
    choices = re.findall(r"^  assign .* = (\S+) \? (.*) : (.*);$", body, re.MULTILINE)
    watched = {selects[select]: (changed, kept) for select, changed, kept in choices if select in selects}
    lines = [f"integer {SWITCH};", *(f"reg differs_{number}_;" for number in numbers), "initial begin"]
    lines.append(f'  if (!$value$plusargs("mutant=%d", {SWITCH})) {SWITCH} = 0;')
    lines += [f"  differs_{number}_ = 1'b{int(number not in watched)};" for number in numbers]
    lines += ["end", "final begin"]
    lines += [f'  if (differs_{number}_) $display("mutant_differs {number}");' for number in numbers]
    lines.append("end")
    lines += [
        f"always @({when}) if (({new}) !== ({old})) differs_{number}_ = 1'b1;" for number, (new, old) in watched.items()
    ]
    return "".join(f"  {line}\n" for line in lines) + body


def differing(log: str) -> frozenset[int]:
    """The mutants that a simulation's log names."""
    return frozenset(int(number) for number in DIFFERS.findall(log))


@cache  # a large module takes Yosys a minute
def _lists(module: Module, options: tuple[str, ...]) -> list[list[Mistake]]:
    # Instances are no cells of Yosys, which does not know their ports' directions.
    names = [f"{number}.list" for number in range(len(options))]
    commands = [f"select -module {module.name} t:$*"]
    commands += [f"mutate -o {name} {each}" for name, each in zip(names, options, strict=True)]
    found = [map(Mistake, text.splitlines()) for text in _yosys(module, commands, *names)]
    return [
        [each for each in mistakes if each.options["port"] not in UNWANTED_PORTS and "src" in each.options]
        for mistakes in found
    ]


def _yosys(module: Module, commands: Sequence[str], *files: str) -> list[str]:
    """The texts of the files that the commands write."""
    PLANTED.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=PLANTED) as place:  # a tool of WebAssembly has a /tmp of its own
        (Path(place) / SOURCE).write_text(module.text + "\n")
        (Path(place) / "commands.ys").write_text("\n".join([f"read_verilog {SOURCE}", "proc", *commands, ""]))
        done = subprocess.run(["yosys", "-q", "commands.ys"], cwd=place, capture_output=True, text=True, check=False)
        if done.returncode:  # Yosys reads what SpinalHDL writes
            raise RuntimeError(f"{module.name}: yosys: {done.stderr[-500:]}")
        return [(Path(place) / name).read_text() for name in files]
