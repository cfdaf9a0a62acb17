# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Mutants of C++: where they may be, that a seed draws them again, and which tests judge them."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path

import pytest

from scripts.mutants.host import parts
from scripts.mutants.host.campaign import Campaign, drawn
from scripts.mutants.host.cpp import Mistake, function, listed
from scripts.mutants.host.parts import PARTS, Tree, sessions, units
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


def test_a_tree_is_a_copy_that_takes_what_has_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "root"
    monkeypatch.setattr(parts, "TREES", root)
    tree = Tree("0")
    assert tree.update() and not tree.update()
    file = "sw/gateway/wire/clock.h"
    text = (ROOT / file).read_text()
    tree.write(file, "other")
    assert tree.update() and (tree.place / file).read_text() == text
