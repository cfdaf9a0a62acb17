# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Code has the field's words, and its comments have a subject. `python -m scripts.lint.words FOLDER` prints a folder's
complaints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from scripts.docs import retired
from scripts.lint import words

# Complaints of a folder that are allowed; files of a folder within it are counted there only. A number may only shrink.
ALLOWED: Mapping[str, int] = {
    "cocotb_tests/congestion": 2,
    "cocotb_tests/core": 1,
    "cocotb_tests/examples": 1,
    "rtl/downbeat": 7,
    "rtl/downbeat/congestion": 6,
    "scripts/figures": 2,
    "sim/host": 40,
    "sw/driver": 43,
    "sw/gateway": 34,
    "sw/include": 1,
    "sw/python": 135,
    "sw/tests": 147,
}


def mismatches(found: Mapping[Path, Iterable[str]], allowed: Mapping[str, int]) -> list[str]:
    """Folders with more complaints, or fewer, than they are allowed, a line each."""
    counted = Counter(dict.fromkeys(allowed, 0))
    for path, lines in found.items():
        folders = [str(folder) for folder in path.parents if str(folder) in allowed] + [""]
        counted[folders[0]] += len(list(lines))
    return [
        f"{name or 'all other files'}: {count} complaints, {allowed.get(name, 0)} allowed: "
        f"{f'python -m scripts.lint.words {name}' if count > allowed.get(name, 0) else 'lower the allowance'}"
        for name, count in sorted(counted.items())
        if count != allowed.get(name, 0)
    ]


def of_source(name: str, source: str) -> list[str]:
    return [line.partition(": ")[2] for line in words.complaints(Path(name), source)]


def test_code_has_the_words_of_the_field() -> None:
    found = mismatches(words.of_project(), ALLOWED)
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("toldWindow = 1", "toldWindow"),
        ("inline_told = 1", "inline_told"),
        ("MOST_WORDS = 1", "MOST_WORDS"),
        ("leastGap = 1", "leastGap"),
        ("TCPAnswer(1)", "TCPAnswer"),
        ('fields["most"]', "most"),
    ],
)
def test_a_retired_part_of_a_name_is_found(code: str, name: str) -> None:
    (found,) = of_source("a.py", code)
    assert found.startswith(f"'{name}' is not a word of the field: ")


@pytest.mark.parametrize(
    "code", ["at_most = 1", "atLeast16()", "almost = 1", "task = mask", "newest = groom", "astray"]
)
def test_other_names_pass(code: str) -> None:
    assert of_source("a.py", code) == []


def test_prose_may_say_at_most() -> None:
    assert of_source("a.scala", "// At most 16 answers are asked for.\n") == []


@pytest.mark.parametrize(
    ("name", "source", "word"),
    [
        ("a.py", '"""The peer is told."""', "told"),
        ("a.py", 'print("no news of it")', "news"),
        ("a.cpp", "int a; /* the window of\n * toldBytes */", "toldBytes"),
        ("a.sh", "run # it is nobody's", "nobody's"),
        ("a.toml", "# see `most_told`", "most_told"),
        ("Makefile", "make fmax ROOM=x # ROOM=", "ROOM="),
    ],
)
def test_a_retired_word_of_a_comment_or_a_string_is_found(name: str, source: str, word: str) -> None:
    assert any(f"'{word}'" in line for line in of_source(name, source))


@pytest.mark.parametrize(
    ("name", "comment"),
    [
        ("a.py", 'def f() -> None:\n    """What it does."""'),
        ("a.py", "a = 1  # of the flow"),
        ("a.scala", "/** Where it lies. */"),
        ("a.scala", "/**\n * Whose turn it is.\n */"),
        ("a.h", "/// Who sends.\nint a;"),
        ("a.sh", "# Whoever waits\n# is served."),
    ],
)
def test_a_fragment_is_found(name: str, comment: str) -> None:
    assert any("a comment without a subject" in line for line in of_source(name, comment))


@pytest.mark.parametrize(
    ("name", "comment"),
    [
        ("a.py", "# The bytes\n# of the flow."),
        ("a.py", 'text = """Of no docstring"""'),
        ("a.scala", 'val s = "// Of no comment"'),
        ("a.sh", "echo ${a#Of}"),
        ("a.txt", "told"),
    ],
)
def test_a_sentence_is_no_fragment(name: str, comment: str) -> None:
    assert of_source(name, comment) == []


def test_a_folder_has_as_many_as_it_is_allowed() -> None:
    found = {Path("sim/ns3/a.py"): ["1", "2"], Path("sim/b.py"): ["3"], Path("c.py"): ["4"]}
    assert mismatches(found, {"sim": 1, "sim/ns3": 2, "": 1}) == []
    assert mismatches(found, {"sim": 2, "": 1}) == ["sim: 3 complaints, 2 allowed: python -m scripts.lint.words sim"]
    assert [line[:15] for line in mismatches(found, {"sim": 3})] == ["all other files"]


def test_an_allowance_that_is_not_needed_is_refused() -> None:
    assert mismatches({Path("sim/a.py"): ["1"]}, {"sim": 2, "sw": 1}) == [
        "sim: 1 complaints, 2 allowed: lower the allowance",
        "sw: 0 complaints, 1 allowed: lower the allowance",
    ]


def test_a_field_of_a_report_keeps_its_name() -> None:
    assert of_source("a.py", 'figures["most_in_flight"] = most_in_flight') == [
        "'most_in_flight' is not a word of the field: max"
    ]


def test_every_retired_word_has_a_better_one() -> None:
    for name in ("told", "News", "toldWindow", "answered", "ROOM=", "holds it against"):
        assert retired.better(name)
