# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Mutants of C++: where they may be, that a seed draws them again, and which tests judge them."""

from __future__ import annotations

import itertools
import pickle
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from scripts.mutants.campaign import Verdict
from scripts.mutants.host import parts
from scripts.mutants.host.campaign import Campaign, Kept, drawn
from scripts.mutants.host.cpp import Mistake, function, listed
from scripts.mutants.host.parts import PARTS, Tree, Unit, sessions, units
from scripts.mutants.host.run import Outcome
from scripts.mutants.place import ROOT

TEXT = """// a < b
#include <vector>
namespace small {
constexpr int limit = 600 * 2; // s
struct Pair {
  std::vector<int> values = {1, 2};
  bool isWide() const { return values.size() >= 3; }
};
int Counter::take(const Pair &pair, std::vector<Pair> &&rest) {
  if (pair.isWide() && !rest.empty()) return 0;
  text = "a + b";
  ++count_;
  rest.reserve(20);
  const int left = limit - count_;
  return std::min(left, 7);
}
} // namespace small
"""


def changes(text: str = TEXT) -> list[tuple[int, str, str, str]]:
    """Line, kind, what is there, what comes in its place."""
    return [(text.count("\n", 0, m.start) + 1, m.kind, text[m.start : m.end], m.new) for m in listed(text)]


def test_each_kind_is_found_in_functions_and_constants_and_nowhere_else() -> None:
    assert Counter((line, kind) for line, kind, _, _ in changes()) == {
        (4, "number"): 4,
        (4, "arithmetic"): 1,
        (7, "relation"): 2,
        (7, "number"): 2,
        (10, "condition"): 4,
        (10, "logic"): 1,
        (10, "number"): 1,
        (11, "statement"): 1,
        (12, "statement"): 1,
        (12, "arithmetic"): 1,
        (14, "arithmetic"): 1,
        (15, "word"): 1,
        (15, "number"): 2,
    }
    assert (4, "number", "600", "1200") in changes() and (15, "number", "7", "8") in changes()
    assert (7, "relation", ">=", ">") in changes() and (7, "relation", ">=", "<") in changes()
    assert (10, "condition", "pair.isWide() && !rest.empty()", "false") in changes()
    assert (12, "statement", "++count_;", ";") in changes()


def test_a_mistake_changes_its_place_alone() -> None:
    found = next(each for each in listed(TEXT) if each.kind == "word")
    assert found.planted(TEXT) == TEXT.replace("std::min", "std::max")
    assert function(TEXT, found.start) == "take"


@pytest.mark.parametrize("statement", ["Pair made(1);", "const auto made = take();", "using small::Pair;"])
def test_a_declaration_is_not_deleted(statement: str) -> None:
    assert not [each for each in listed(f"void run() {{\n  {statement}\n}}\n") if each.kind == "statement"]


def test_a_seed_draws_the_same_mutants_again() -> None:
    def first(seed: int) -> list[tuple[str, Mistake]]:
        return [(unit.path, mistake) for unit, mistake in itertools.islice(drawn(["host"], seed), 40)]

    assert first(5) == first(5) != first(6)
    assert len(set(first(5))) == 40
    turns = Counter(next(unit.part.name for unit in units(["host"]) if unit.path == path) for path, _ in first(5))
    assert turns == {"gateway": 16, "driver": 16, "estimator": 8}


def test_parts_folders_and_files_are_named() -> None:
    assert {unit.part.name for unit in units(["host"])} == set(PARTS)
    assert units(["sw/gateway/wire"]) and all(
        unit.path.startswith("sw/gateway/wire/") for unit in units(["sw/gateway/wire"])
    )
    assert not units(["FlowEngine"])
    for part in PARTS.values():
        assert len(sessions(part)) >= 5


def test_the_tests_that_run_the_line_judge_the_quickest_first() -> None:
    campaign = Campaign(["sw/gateway/wire/clock.h", "sw/gateway/server/store/row.cpp"], 1, 1, 1, lambda _: None)
    mutant = next(each for each in campaign.stream if each.unit.path.endswith("row.cpp"))
    slow, quick, other, away = sessions(mutant.unit.part)[:4]
    campaign._alone = {name: Outcome("passed", "", t) for name, t in ((slow, 9), (quick, 1), (other, 2), (away, 3))}
    campaign._reached = {
        slow: {mutant.file: {mutant.line: True}},
        quick: {mutant.file: {mutant.line: True}},
        other: {mutant.file: {mutant.line: False, mutant.line + 1: True}},
        away: {},
    }
    assert campaign._reaching(mutant) == [quick, slow]
    campaign._reached = {name: {mutant.file: {}} for name in campaign._reached}  # no code in the file: constants
    assert campaign._reaching(mutant) == [quick, other, away, slow]


def test_a_tree_is_a_copy_that_takes_what_has_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "root"
    monkeypatch.setattr(parts, "TREES", root)
    tree = Tree("0")
    assert tree.update() and not tree.update()
    file = "sw/gateway/wire/clock.h"
    text = (ROOT / file).read_text()
    tree.write(file, "other")
    assert tree.update() == [file] and (tree.place / file).read_text() == text


def test_a_verdict_is_kept_until_its_file_or_the_survivor_s_tests_are_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed, lives, dropped, new = itertools.islice(Campaign(["sw/gateway"], 1, 1, 1, print).stream, 4)
    kept = Kept(tmp_path / "verdicts")
    kept.add(killed, Verdict(killed, killed_by="some"))
    kept.add(lives, Verdict(lives, passed=["some"]))
    kept.add(dropped, None)
    again = Kept(tmp_path / "verdicts")
    assert killed in again and lives in again and dropped in again and new not in again
    assert again.verdict(dropped) is None and again.verdict(killed) == Verdict(killed, killed_by="some")
    own = Unit(killed.unit.part, killed.unit.path)
    own.__dict__["text"] = killed.unit.text + "\n"
    assert replace(killed, unit=own) not in again
    monkeypatch.setattr("scripts.mutants.host.campaign.tests", lambda part: [])
    other = Kept(tmp_path / "verdicts")
    assert killed in other and dropped in other and lives not in other


def test_modules_whose_files_are_the_same_are_not_measured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "TREES", tmp_path)
    campaign, tree = Campaign(["sw/gateway"], 1, 1, 1, print), Tree("covered")
    one, other = sessions(PARTS["gateway"])[:2]

    def left(*changed: str) -> set[str]:
        (tmp_path / "covered.pickle").write_bytes(pickle.dumps({one: 1, other: 2}))
        campaign._forget(tree, changed)
        return set(pickle.loads((tmp_path / "covered.pickle").read_bytes()))

    assert left() == {one, other} and left(one) == {other}
    assert left("sw/tests/gateway/conftest.py") == left("sw/gateway/wire/clock.h") == set()
