# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Draws mutants by a seed: the folders in turn, larger classes more often, in a module the mistakes that Yosys draws."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scripts.mutants import mutate
from scripts.mutants.files import FOLDERS, Files, Unit
from scripts.mutants.mutate import Mistake
from scripts.mutants.verilog import Module

LISTED = 100  # mistakes that Yosys draws in a module, or twice the mutants that are wanted
# No test sees a value that does not matter, nor a pipeline that rests while it is idle.
UNSEEN = re.compile(r"'[bh]x|standsStill")
# The engine's copies of the policies are drawn in the policies' own modules: their tests are there.
POLICIES = re.compile(r"(?:^|_)congestion_(?:startup|steady)_")


@dataclass(frozen=True)
class Mutant:
    """`number` from 1 switches it on in a simulation; 0 switches none on."""

    number: int
    unit: Unit
    module: Module  # in the home file
    mistake: Mistake

    @property
    def kind(self) -> str:
        return self.mistake.kind

    @property
    def changed(self) -> str:
        return self.mistake.changed

    @property
    def folder(self) -> str:
        return self.unit.folder

    @property
    def file(self) -> str:
        return f"{self.unit.home}.v"

    @property
    def within(self) -> str:
        return self.module.name

    @property
    def line(self) -> int:
        """In the home file, from 1."""
        return self.module.line + self.mistake.place[0]

    @property
    def statement(self) -> str:
        return self.module.lines[self.mistake.place[0]].strip()

    @property
    def original(self) -> str:
        """The expression whose cell is changed, within the statement; of a register, whose source is a block, its net."""
        line, first, last = self.mistake.place
        within = self.module.lines[line][first:last].strip()
        return self.mistake.wire if within == self.statement and self.mistake.wire else within

    @property
    def signal(self) -> str:
        """The net of the changed bit as Scala calls it; of an unnamed one the statement's target."""
        target = re.match(r"(?:assign )?(\w+)(?:\[.*?\])* <?= ", self.statement)
        return scala_name(self.mistake.wire or (target[1] if target else self.original))


def scala_name(target: str) -> str:
    """Without SpinalHDL's numbers and the pipeline's nodes."""
    name = re.sub(r"^(?:_zz_)+", "", re.sub(r"^\(!? ?|\)$", "", target))
    return re.sub(r"^pipeline_node_\d+_|_\d+$", "", name)


def draw(files: Files, count: int, seed: int, wanted: Sequence[str] = ()) -> list[Mutant]:
    """`count` different mutants; with `wanted` of those classes, Verilog modules or files alone."""
    generator = random.Random(f"mutants {seed}")
    units = _units(files, wanted)
    candidates: dict[Unit, Iterator[tuple[Module, Mistake]]] = {}
    drawn: list[Mutant] = []
    turns = _turns(generator, units)
    for unit in (next(turns) for _ in range(20 * count if units else 0)):
        if unit not in candidates:
            candidates[unit] = iter(_candidates(generator, files, unit, wanted, max(LISTED, 2 * count)))
        found = next(candidates[unit], None)
        if found:
            drawn.append(Mutant(len(drawn) + 1, unit, *found))
        if len(drawn) == count:
            break
    return drawn


def _units(files: Files, wanted: Sequence[str]) -> list[Unit]:
    if not wanted:
        return [unit for unit in files.units if unit.folder in FOLDERS]
    return [
        unit
        for unit in files.units
        if unit.name in wanted
        or unit.home in wanted
        or any(module.name in wanted for module in files.of_class(unit.home, unit.name))
    ]


def _turns(generator: random.Random, units: list[Unit]) -> Iterator[Unit]:
    """The folders in a shuffled order again and again; of each a class, larger ones more often."""
    folders = [folder for folder in {unit.folder: None for unit in units} for _ in range(FOLDERS.get(folder, 1))]
    while True:
        generator.shuffle(folders)
        for folder in folders:
            held = [unit for unit in units if unit.folder == folder]
            yield generator.choices(held, [unit.lines**0.5 for unit in held])[0]


def _candidates(
    generator: random.Random, files: Files, unit: Unit, wanted: Sequence[str], count: int
) -> list[tuple[Module, Mistake]]:
    variants = files.of_class(unit.home, unit.name)
    module = generator.choice([module for module in variants if module.name in wanted] or variants)
    found = mutate.listed(module, count, generator.randrange(1, 1 << 30))
    return [(module, mistake) for mistake in found if drawable(module, mistake)]


def drawable(module: Module, mistake: Mistake) -> bool:
    """Tests of its module can see what the mistake does."""
    line = module.lines[mistake.place[0]]
    return not UNSEEN.search(line) and not any(map(POLICIES.search, re.findall(r"\w+", f"{line} {mistake.wire}")))
