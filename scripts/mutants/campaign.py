# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Runs drawn mutants against the tests: the nearest first, then the folder's others, then the core's own."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from scripts.mutants.draw import Mutant
from scripts.mutants.files import CORES, Files
from scripts.mutants.mutate import Mistake, found_again, planted
from scripts.mutants.place import PLANTED, RTL
from scripts.mutants.run import Outcome, build, run
from scripts.mutants.sessions import Session
from scripts.mutants.verilog import Module

BESIDE_BYTES = 1 << 20  # a top with more Verilog is not built for the folder's other tests


class Described(Protocol):
    """A mutant's number, place and change, in the Verilog or in C++; `folder`: the part that it is of."""

    @property
    def number(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def changed(self) -> str: ...
    @property
    def folder(self) -> str: ...
    @property
    def file(self) -> str: ...
    @property
    def within(self) -> str: ...  # the module or function
    @property
    def line(self) -> int: ...
    @property
    def signal(self) -> str: ...
    @property
    def statement(self) -> str: ...
    @property
    def original(self) -> str: ...


@dataclass
class Verdict:
    """A mutant's end; `killed_by` is empty while it lives."""

    mutant: Described
    killed_by: str = ""
    end: str = ""  # failed, crashed or timed out
    case: str = ""
    seconds: float = 0.0  # simulated
    passed: list[str] = field(default_factory=list)  # the sessions that saw nothing
    same: list[str] = field(default_factory=list)  # the sessions in which it never changed anything, or never ran


class Campaign:
    """`say` prints a line. `broken`: the sessions that fail without a mutant, and how."""

    def __init__(
        self, files: Files, mutants: Sequence[Mutant], jobs: int, say: Callable[[str], None], place: Path = PLANTED
    ) -> None:
        self.files, self.mutants, self.say, self.place = files, mutants, say, place
        self.verdicts = {mutant.number: Verdict(mutant) for mutant in mutants}
        self.broken: dict[str, str] = {}
        self.build_seconds = self.alone_seconds = 0.0
        self.jobs = jobs
        self._alone: dict[Session, Outcome] = {}
        self._places: dict[str, dict[Module, dict[int, Mistake]]] = {}

    def run(self, core: bool = True) -> list[Verdict]:
        """The verdicts in the order of the mutants; without `core` the broad set is left out."""
        # A process of its own for each job: cocotb's runner works through the environment.
        with ProcessPoolExecutor(self.jobs, multiprocessing.get_context("spawn")) as self.pool:
            self._stage("the nearest tests", self._nearest)
            self._stage("the folder's other tests", self._beside)
            if core:
                self._stage("the core's tests", self._core)
        return list(self.verdicts.values())

    def _nearest(self, mutant: Mutant) -> list[Session]:
        near = [each for each in self.files.near(mutant.unit.name) if each.top == mutant.unit.home]
        return [each for each in near if _plain(each)]

    def _beside(self, mutant: Mutant) -> list[Session]:
        home = mutant.unit.home
        others = [each for each in self.files.near(mutant.unit.name) if each.top != home or not _plain(each)]
        return [each for each in others if each.top == home or self.files.size(each.top) < BESIDE_BYTES]

    def _core(self, mutant: Mutant) -> list[Session]:
        top = next((top for top in CORES if top in self.files.tops and self._has(top, mutant)), "")
        return self.files.broad(top)

    def _stage(self, name: str, choose: Callable[[Mutant], list[Session]]) -> None:
        living = [mutant for mutant in self.mutants if not self.verdicts[mutant.number].killed_by]
        wanted = {mutant.number: self._able(mutant, choose(mutant)) for mutant in living}
        sessions = list(dict.fromkeys(session for each in wanted.values() for session in each))
        if not sessions:
            return
        self.say(f"{name}: {sum(map(bool, wanted.values()))} mutants, {len(sessions)} sessions")
        verilog = {top: self._planted(top) for top in sorted({session.top for session in sessions})}
        self._build(sessions, verilog)
        self._measure(sessions, verilog)
        tasks: list[Future[list[tuple[int, Session, Outcome]]]] = []
        for mutant in living:
            alone = {session: self._alone[session] for session in wanted[mutant.number] if session in self._alone}
            ready = [session for session, outcome in alone.items() if mutant.number in outcome.differing]
            self.verdicts[mutant.number].same += [session.name for session in alone if session not in ready]
            ready.sort(key=lambda session: (not _named_after(session, mutant), alone[session].seconds))
            if ready:
                runs = [(session, verilog[session.top], alone[session].seconds) for session in ready]
                tasks.append(self.pool.submit(chain, mutant.number, runs, self.files.rtl))
        for task in as_completed(tasks):
            self._note(task.result())

    def _able(self, mutant: Mutant, sessions: Iterable[Session]) -> list[Session]:
        """The sessions on whose top the mutant's place is found."""
        return [session for session in sessions if self._has(session.top, mutant)]

    def _has(self, top: str, mutant: Mutant) -> bool:
        return any(mutant.number in held for held in self._found(top).values())

    def _found(self, top: str) -> dict[Module, dict[int, Mistake]]:
        """The mutants that have a place in the top's file, by its modules."""
        if top in self._places:
            return self._places[top]
        places: dict[Module, dict[int, Mistake]] = {}
        homes: dict[Module, list[Mutant]] = {}
        for mutant in self.mutants:
            if top == mutant.unit.home:
                places.setdefault(mutant.module, {})[mutant.number] = mutant.mistake
            elif mutant.unit.name in self.files.tops[top]:
                homes.setdefault(mutant.module, []).append(mutant)
        for home, left in homes.items():
            for other in self.files.of_class(top, left[0].unit.name):
                found = found_again([each.mistake for each in left], home, other) if left else []
                held = {each.number: mistake for each, mistake in zip(left, found, strict=False) if mistake}
                places[other] = held
                left = [each for each in left if each.number not in held]
        self._places[top] = places
        return places

    def _planted(self, top: str) -> Path:
        """The top's Verilog with every drawn mutant that has a place there: one build for all, the same for one
        seed."""
        text = self.files.text(top)
        for module, mistakes in sorted(self._found(top).items(), key=lambda held: -held[0].start):
            if mistakes:
                text = text[: module.start] + planted(module, mistakes) + text[module.start + len(module.text) :]
        self.place.mkdir(parents=True, exist_ok=True)
        file = self.place / f"{top}.v"
        file.write_text(text)
        return file

    def _build(self, sessions: Sequence[Session], verilog: dict[str, Path]) -> None:
        builds = {(session.top, str(session.options.get("verilator_args"))): session for session in sessions}
        largest_first = sorted(builds.values(), key=lambda session: -self.files.size(session.top))
        tasks = [self.pool.submit(build, session, verilog[session.top]) for session in largest_first]
        self.build_seconds += sum(task.result() for task in tasks)

    def _measure(self, sessions: Sequence[Session], verilog: dict[str, Path]) -> None:
        """Each session without a mutant: how long it takes, and that it passes; one that does not judges no mutant."""
        new = [session for session in sessions if session not in self._alone and session.name not in self.broken]
        tasks = {
            self.pool.submit(run, session, verilog[session.top], 0, None, self.files.rtl): session for session in new
        }
        for task in as_completed(tasks):
            session, outcome = tasks[task], task.result()
            self.alone_seconds += outcome.seconds
            if outcome.end == "passed":
                self._alone[session] = outcome
            else:
                self.broken[session.name] = f"{outcome.end} {outcome.case}".strip()
                self.say(f"BROKEN   {session.name} without a mutant: {self.broken[session.name]}; it judges nothing")

    def _note(self, outcomes: list[tuple[int, Session, Outcome]]) -> None:
        for number, session, outcome in outcomes:
            verdict = self.verdicts[number]
            verdict.seconds += outcome.seconds
            if outcome.end == "passed":
                verdict.passed.append(session.name)
            else:
                verdict.killed_by, verdict.end, verdict.case = session.name, outcome.end, outcome.case
                self.say(f"killed   {described(verdict.mutant)}\n         by {killer(verdict)}")


def chain(
    mutant: int, runs: Sequence[tuple[Session, Path, float]], rtl: Path = RTL
) -> list[tuple[int, Session, Outcome]]:
    """One mutant's sessions, until one of them does not pass."""
    found = []
    for session, verilog, alone in runs:
        outcome = run(session, verilog, mutant, alone, rtl)
        found.append((mutant, session, outcome))
        if outcome.end != "passed":
            break
    return found


def described(mutant: Described) -> str:
    """In one line."""
    place = f"{mutant.file}:{mutant.line} {mutant.within}"
    return f"{mutant.number} {mutant.kind} in {place}, {mutant.signal}: {mutant.original}, {mutant.changed}"


def killer(verdict: Verdict) -> str:
    """The test, its first failing case, and how it ended if not by a failing case."""
    end = "" if verdict.end == "failed" else f", {verdict.end}"
    return f"{verdict.killed_by}{': ' if verdict.case else ''}{verdict.case}{end} ({verdict.seconds:.1f} s)"


def _plain(session: Session) -> bool:
    return not session.options.get("verilator_args") and not session.options.get("parameters")


def _named_after(session: Session, mutant: Mutant) -> bool:
    """test_option_walker is nearest to OptionWalker."""
    own = session.test_module.rpartition(".test_")[2].replace("_", "")
    return own in (mutant.unit.name.lower(), mutant.unit.name.lower().removeprefix("policy"))
