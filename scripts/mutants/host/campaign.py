# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Draws mistakes in the host software and runs the tests that reach each; only the changed unit is compiled again."""

from __future__ import annotations

import hashlib
import itertools
import pickle
import queue
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path

from scripts.mutants.campaign import Verdict, described, killer
from scripts.mutants.host import cpp
from scripts.mutants.host.cpp import Mistake
from scripts.mutants.host.parts import PARTS, TREES, Part, Tree, Unit, sessions, tests, units
from scripts.mutants.host.run import Lines, Outcome, covered, run

# These tests compile the sources themselves, so that nothing counts the lines that they run.
OWN_BUILDS = {"sw/core/": "sw/tests/core/test_core.py", "sw/estimator/src/hash.h": "sw/tests/estimator/test_hash.py"}


@dataclass(frozen=True)
class Mutant:
    """`number` from 1, with those that are dropped; the names are those of a mutant of the Verilog."""

    number: int
    unit: Unit
    mistake: Mistake

    @property
    def kind(self) -> str:
        return self.mistake.kind

    @property
    def changed(self) -> str:
        return self.mistake.new or "nothing"

    @property
    def folder(self) -> str:
        return self.unit.part.name

    @property
    def file(self) -> str:
        return self.unit.path

    @property
    def within(self) -> str:
        return cpp.function(self.unit.text, self.mistake.start)

    @property
    def line(self) -> int:
        return self.unit.text.count("\n", 0, self.mistake.start) + 1

    @property
    def signal(self) -> str:
        return self.statement

    @property
    def statement(self) -> str:
        return self.unit.text.split("\n")[self.line - 1].strip()

    @property
    def original(self) -> str:
        return self.unit.text[self.mistake.start : self.mistake.end] or self.statement


def drawn(wanted: Sequence[str], seed: int) -> Iterator[tuple[Unit, Mistake]]:
    """The parts in turn; of each a file, larger ones more often; of it a kind, and of the kind a place. None twice."""
    generator = random.Random(f"host mutants {seed}")
    held = {unit: cpp.listed(unit.text) for unit in units(wanted)}
    parts = [part for part in PARTS.values() for _ in range(part.turns) if any(unit.part == part for unit in held)]
    while parts and any(held.values()):
        generator.shuffle(parts)
        for part in parts:
            files = [unit for unit, left in held.items() if unit.part == part and left]
            if not files:
                continue
            unit = generator.choices(files, [unit.text.count("\n") ** 0.5 for unit in files])[0]
            kind = generator.choice(sorted({each.kind for each in held[unit]}))
            mistake = generator.choice([each for each in held[unit] if each.kind == kind])
            held[unit].remove(mistake)
            yield unit, mistake


class Kept:
    """Verdicts of runs before: of a killed one as long as its file is the same, of a survivor as long as its tests are
    too. None: nothing to judge."""

    def __init__(self, file: Path) -> None:
        self.file, self._lock = file, threading.Lock()
        self._held: dict[str, Verdict | None] = pickle.loads(file.read_bytes()) if file.exists() else {}
        self._tests = {part.name: _digest(tests(part)) for part in PARTS.values()}

    def __contains__(self, mutant: Mutant) -> bool:
        return any(key in self._held for key in self._keys(mutant))

    def verdict(self, mutant: Mutant) -> Verdict | None:
        found = next(self._held[key] for key in self._keys(mutant) if key in self._held)
        return found and replace(found, mutant=mutant)

    def add(self, mutant: Mutant, verdict: Verdict | None) -> None:
        always, with_tests = self._keys(mutant)
        lives = verdict is not None and not verdict.killed_by
        with self._lock:
            self._held[with_tests if lives else always] = verdict
            self.file.write_bytes(pickle.dumps(self._held))

    def _keys(self, mutant: Mutant) -> tuple[str, str]:
        own = f"{mutant.file} {mutant.mistake} {hashlib.sha1(mutant.unit.text.encode()).hexdigest()}"
        return own, f"{own} {self._tests[mutant.folder]}"


def _digest(files: Sequence[Path]) -> str:
    return hashlib.sha1(b"".join(file.read_bytes() for file in files)).hexdigest()


class Campaign:
    """As that of the Verilog. `dropped`: mistakes that the compiler refused, or of which it made the same code."""

    def __init__(self, wanted: Sequence[str], count: int, seed: int, jobs: int, say: Callable[[str], None]) -> None:
        self.count, self.jobs, self.say = count, jobs, say
        self.stream = (Mutant(number, *pair) for number, pair in enumerate(drawn(wanted, seed), 1))
        self.parts = sorted({unit.part for unit in units(wanted)}, key=lambda part: part.name)
        self.broken: dict[str, str] = {}
        self.build_seconds = self.alone_seconds = 0.0
        self.dropped = 0
        self._alone: dict[str, Outcome] = {}
        self._reached: dict[str, Lines] = {}
        self.kept = Kept(TREES / "verdicts.pickle")

    def run(self) -> list[Verdict]:
        """An interrupted run has the verdicts until then."""
        trees: queue.Queue[Tree] = queue.Queue()
        self._measure()
        for job in range(self.jobs):
            trees.put(self._ready(Tree(str(job))))
        verdicts: list[Verdict] = []
        pool = ThreadPoolExecutor(self.jobs)
        try:
            while len(verdicts) < self.count:
                batch = list(itertools.islice(self.stream, self.count - len(verdicts)))
                if not batch:
                    break
                tasks = [pool.submit(self._judge, mutant, trees) for mutant in batch]
                for task in as_completed(tasks):
                    verdicts += filter(None, [task.result()])
        except KeyboardInterrupt:
            self.say("interrupted")
        pool.shutdown(cancel_futures=True)
        self.say(f"{self.dropped} more drawn, but refused by the compiler or the same code")
        return sorted(verdicts, key=lambda verdict: verdict.mutant.number)

    def _ready(self, tree: Tree) -> Tree:
        begun = time.monotonic()
        changed = [name for name in tree.update() if name.startswith("sw/")]
        self._forget(tree, changed)
        folders = list(dict.fromkeys(folder for part in self.parts for folder in part.make))
        if error := tree.build(folders):
            raise RuntimeError(f"without a mutant: {error[-500:]}")
        tree.original = {part: tree.objects(part) for part in self.parts}
        self.build_seconds += time.monotonic() - begun
        return tree

    @staticmethod
    def _measured(tree: Tree) -> Path:
        return tree.place.with_suffix(".pickle")

    def _forget(self, tree: Tree, changed: Sequence[str]) -> None:
        """Test modules that are others are measured again, and all if another file is: they share it."""
        file = self._measured(tree)
        if not changed or not file.exists():
            return
        kept = pickle.loads(file.read_bytes())
        shared = any(not Path(name).name.startswith("test_") for name in changed)
        left = {} if shared else {session: held for session, held in kept.items() if session not in changed}
        file.write_bytes(pickle.dumps(left))

    def _measure(self) -> None:
        """Each test module without a mutant: how long it takes, that it passes, and which lines it reaches. Kept as
        long as its files are the same."""
        tree = self._ready(Tree("covered", covered=True))
        file = self._measured(tree)
        kept: dict[str, tuple[Outcome, Lines]] = pickle.loads(file.read_bytes()) if file.exists() else {}
        for part in self.parts:
            for session in sessions(part):
                if session not in kept:
                    kept[session] = covered(tree, session)
                    self.alone_seconds += kept[session][0].seconds
                    file.write_bytes(pickle.dumps(kept))
                    self.say(f"measured {session} ({kept[session][0].seconds:.0f} s)")
                outcome, lines = kept[session]
                if outcome.end == "passed":
                    self._alone[session], self._reached[session] = outcome, lines
                else:
                    kept.pop(session)
                    self.broken[session] = f"{outcome.end} {outcome.case}".strip()
                    self.say(f"BROKEN   {session} without a mutant: {self.broken[session]}; it judges nothing")
        file.write_bytes(pickle.dumps(kept))
        self.say(f"{len(self._alone)} test modules measured, {self.alone_seconds:.0f} s of them now")

    def _reaching(self, mutant: Mutant) -> list[str]:
        """The modules that run the mutant's line, the shortest first; of one without code those that use the file."""
        able = [session for session in sessions(mutant.unit.part) if session in self._alone]
        known = any(self._reached[session].get(mutant.file) for session in able)  # a file of constants has no code

        def reaches(session: str) -> bool:
            lines = self._reached[session].get(mutant.file, {})
            own = any(mutant.file.startswith(folder) and session == test for folder, test in OWN_BUILDS.items())
            return own or not known or lines.get(mutant.line, any(lines.values()))

        return sorted(filter(reaches, able), key=lambda session: self._alone[session].seconds)

    def _judge(self, mutant: Mutant, trees: queue.Queue[Tree]) -> Verdict | None:
        """None: nothing to judge."""
        tree = trees.get()
        try:
            if mutant not in self.kept:
                self.kept.add(mutant, self._judged(mutant, tree))
            verdict = self.kept.verdict(mutant)
            if verdict is None:
                self.dropped += 1
                return None
            end = f"killed   {described(mutant)}\n         by {killer(verdict)}"
            self.say(end if verdict.killed_by else f"lives    {described(mutant)} ({verdict.seconds:.1f} s)")
            return verdict
        finally:
            trees.put(tree)

    def _judged(self, mutant: Mutant, tree: Tree) -> Verdict | None:
        part: Part = mutant.unit.part
        try:
            begun = time.monotonic()
            tree.write(mutant.file, mutant.mistake.planted(mutant.unit.text))
            refused = tree.build(part.make[-1:])
            self.build_seconds += time.monotonic() - begun
            same = refused or tree.objects(part) == tree.original[part]
            return None if same else self._run(mutant, tree)
        finally:
            tree.write(mutant.file, mutant.unit.text)  # compiled with the next one

    def _run(self, mutant: Mutant, tree: Tree) -> Verdict:
        verdict = Verdict(mutant)
        reaching = self._reaching(mutant)
        verdict.same = [session for session in sessions(mutant.unit.part) if session not in reaching]
        for session in reaching:
            outcome = run(tree, session, self._alone[session].seconds)
            verdict.seconds += outcome.seconds
            if outcome.end != "passed":
                verdict.killed_by, verdict.end, verdict.case = session, outcome.end, outcome.case
                break
            verdict.passed.append(session)
        return verdict
