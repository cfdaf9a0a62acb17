# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Retired words and fragments in code: `python -m scripts.lint.words sim/experiments` prints those of a folder.

A fragment is a comment or docstring that begins with "What", "Of", "Where", "Who", "Whose" or "Whoever": it names
nothing.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from scripts.docs import retired
from scripts.lint.tools import ROOT, project_files

HASH = {".py", ".sh", ".toml", ".tcl", ".xdc", ".lpf", ".sdc", ".yml", ".mk", ".service"}
SLASH = {".scala", ".c", ".h", ".cpp", ".hpp", ".cc", ".v", ".sv", ".pkt", ".rdl", ".proto"}
DASH = {".lua"}
# These hold the words to look for, and tests with bad examples.
EXEMPT = {"scripts/docs/retired.py", "scripts/lint/words.py", "scripts/lint/test_words.py", "scripts/lint/test_docs.py"}
# Fields of build/reports, which keep their names; they are exempt as strings.
FIELDS = {
    *("answered_at_once", "room", "told", "told_ssthresh", "told_window"),
    *("asked", "asked_sent_measured_ns", "asks_per_second", "fmax_room", "inline_told", "longest_answer_seconds"),
    *("most_frames_ahead", "most_in_flight", "questions", "rooms"),
}
# Names of the core's events, which keep theirs too, and of the method of least squares.
KEPT = {"congestion_probe_answered", "event_probe_answered", "least_squares", "probe_answered"}
FRAGMENT = re.compile(r"(?:What|Of|Where|Who|Whose|Whoever)\b", re.IGNORECASE)
STRING = r'R"(?P<raw>\w*)\(.*?\)(?P=raw)"|"""(?:\\.|.)*?"""|' + r"'''(?:\\.|.)*?'''" + r'|"(?:\\.|[^"\\\n])*"'
QUOTE = r"|'(?:\\.|[^'\\\n])*'"
CHARACTER = r"|'(?:\\.|[^'\\\n])'"
SYNTAX = {
    "#": re.compile(rf"(?P<string>{STRING}{QUOTE})|(?P<comment>(?<!\S)#[^\n]*)", re.DOTALL),
    "//": re.compile(rf"(?P<string>{STRING}{CHARACTER})|(?P<comment>//[^\n]*|/\*.*?\*/)", re.DOTALL),
    "--": re.compile(rf"(?P<string>{STRING}{QUOTE})|(?P<comment>--[^\n]*)", re.DOTALL),
}
MARKS = re.compile(r"^[\s/*#;!\-<]*(?:[rf]*\"\"\")?\s*")


class Text(NamedTuple):
    line: int
    text: str
    is_comment: bool  # else a string


def syntax(path: Path) -> str | None:
    """How the file writes a comment; None for a file that is no code."""
    if path.name == "Makefile" or path.suffix in HASH:
        return "#"
    return "//" if path.suffix in SLASH else "--" if path.suffix in DASH else None


def split(source: str, mark: str) -> tuple[str, list[Text]]:
    """The code without comments and strings, and these. A string of one name (`"most"`) stays in the code."""
    texts: list[Text] = []

    def take(found: re.Match[str]) -> str:
        is_docstring = found[0].startswith('"""') and not source[: found.start()].rpartition("\n")[2].strip()
        if not found["comment"] and (name := re.fullmatch(r"\W*([\w.-]+)\W*", found[0])):
            return "" if name[1] in FIELDS else found[0]
        texts.append(Text(source.count("\n", 0, found.start()) + 1, found[0], bool(found["comment"]) or is_docstring))
        return "\n" * found[0].count("\n")

    return SYNTAX[mark].sub(take, source), texts


def comments(source: str, texts: list[Text]) -> list[Text]:
    """Comments and docstrings; line comments that stand alone on lines that follow each other are one comment."""
    lines = source.splitlines()
    alone = {t.line for t in texts if t.is_comment and lines[t.line - 1].strip() == t.text.strip()}
    return [t for t in texts if t.is_comment and not (t.line in alone and t.line - 1 in alone)]


def complaints(path: Path, source: str) -> Iterator[str]:
    """`path:line: reason`, one for each word and each fragment."""
    mark = syntax(path)
    if mark is None:
        return
    code, texts = split(source, mark)
    found = [(number, word) for number, line in enumerate(code.splitlines(), 1) for word in retired.in_code(line)]
    for text in texts:
        for offset, line in enumerate(text.text.splitlines()):
            found += [(text.line + offset, word) for word in retired.in_prose(line)]
            found += [(text.line + offset, word) for word in retired.in_names(line)]
    for number, word in sorted(found):
        if word not in KEPT:
            yield f"{path}:{number}: '{word}' is not a word of the field: {retired.better(word)}"
    for comment in comments(source, texts):
        begin = MARKS.sub("", comment.text, count=1)
        if FRAGMENT.match(begin):
            yield f"{path}:{comment.line}: a comment without a subject: {begin.splitlines()[0][:60]}"


def of_project(folder: Path = Path()) -> dict[Path, list[str]]:
    """Complaints by file, for the files in a folder."""
    paths = [path for path in project_files() if path.is_relative_to(folder) and str(path) not in EXEMPT]
    return {path: list(complaints(path, (ROOT / path).read_text(errors="replace"))) for path in paths}


def main() -> int:
    found = [line for name in sys.argv[1:] or ["."] for lines in of_project(Path(name)).values() for line in lines]
    print("\n".join([*found, f"{len(found)} found"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
