# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Draws mutants by a seed, and finds the same place again in another file that has the module."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scripts.mutants.files import FOLDERS, Files, Unit
from scripts.mutants.kinds import KINDS, Change, changes
from scripts.mutants.verilog import Module, Statement

TRIES = 400  # statements that are looked at for a place of one kind
# What cannot be told from outside: a value that does not matter, and a pipeline that rests while it is idle.
UNSEEN = re.compile(r"'[bh]x|standsStill")
# The engine's copies of the policies, which are drawn in their own modules: their tests are there.
POLICIES = re.compile(r"(?:^|_)congestion_(?:startup|steady)_")
STAGES = re.compile(r"(?:^|_)(protocol|recovery|measure|congestion|transmit)_")


@dataclass(frozen=True)
class Mutant:
    """`number` from 1 is what the simulation is told; 0 means none."""

    number: int
    unit: Unit
    module: str  # the Verilog module's name in the home file
    statement: Statement
    change: Change

    @property
    def kind(self) -> str:
        return self.change.kind

    @property
    def signal(self) -> str:
        """The target as Scala calls it: without SpinalHDL's numbers and the pipeline's nodes."""
        return scala_name(self.statement.target)

    @property
    def original(self) -> str:
        """The text that is changed, within the statement's."""
        first = self.change.start
        return self.statement.text[first : self.change.end]


def scala_name(target: str) -> str:
    name = re.sub(r"^(?:_zz_)+", "", re.sub(r"^\(!? ?|\)$", "", target))
    return re.sub(r"^pipeline_node_\d+_|_\d+$", "", name)


def draw(files: Files, count: int, seed: int, wanted: Sequence[str] = ()) -> list[Mutant]:
    """`count` different mutants, the folders in turn; with `wanted` of those classes, Verilog modules or files
    alone."""
    generator = random.Random(f"mutants {seed}")
    units = _units(files, wanted)
    if not units:
        return []
    turns = _turns(generator, units)
    drawn: list[Mutant] = []
    seen = set()
    for _ in range(20 * count):
        if len(drawn) == count:
            break
        unit = next(turns)
        found = _place(generator, files, unit, wanted)
        if found is None:
            continue
        module, statement, change = found
        place = (unit.home, module.name, statement.line, change.start, change.end, change.text)
        if place not in seen:
            seen.add(place)
            drawn.append(Mutant(len(drawn) + 1, unit, module.name, statement, change))
    return drawn


def found_again(files: Files, mutant: Mutant, top: str) -> tuple[Module, Statement, Change] | None:
    """The mutant's place in another top's file: a line that differs only in SpinalHDL's numbers, as often there as at
    home."""
    home = next(each for each in files.modules(mutant.unit.home) if each.name == mutant.module)
    if top == mutant.unit.home:
        return home, mutant.statement, mutant.change
    line = mutant.statement.key[0]
    for module in files.of_class(top, mutant.unit.name):
        statement = module.by_key.get(mutant.statement.key)
        if statement is None or module.repeated[line] != home.repeated[line]:
            continue
        for change in changes(module, statement, (mutant.kind,)):
            if (change.kind, change.node, change.choice) == (mutant.kind, mutant.change.node, mutant.change.choice):
                return module, statement, change
    return None


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


def _place(
    generator: random.Random, files: Files, unit: Unit, wanted: Sequence[str]
) -> tuple[Module, Statement, Change] | None:
    variants = [module for module in files.of_class(unit.home, unit.name) if any(map(drawable, module.statements))]
    variants = [module for module in variants if module.name in wanted] or variants
    if not variants:
        return None
    module = generator.choice(variants)
    statements = _stage(generator, module)
    kind = generator.choice(KINDS)
    for _ in range(TRIES):
        statement = generator.choice(statements)
        possible = list(changes(module, statement, (kind,)))
        if possible:
            node = generator.choice(sorted({change.node for change in possible}))
            return module, statement, generator.choice([change for change in possible if change.node == node])
    return None


def drawable(statement: Statement) -> bool:
    """Tests of its module can tell what a change of it does."""
    return not UNSEEN.search(statement.text) and not POLICIES.search(statement.target)


def _stage(generator: random.Random, module: Module) -> list[Statement]:
    """The engine's pipeline is one Verilog module: the statements of one of its stages, or of what is between them."""
    stages: dict[str, list[Statement]] = {}
    for statement in filter(drawable, module.statements):
        found = STAGES.search(statement.target) if statement.target.startswith(("pipeline_", "_zz_")) else None
        stages.setdefault(found[1] if found else "", []).append(statement)
    return stages[generator.choice(sorted(stages))]
