# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make new-policy NAME=foo KIND=steady`: a policy's pieces, as a working copy of the simplest one
(docs/tutorials/first-policy.md).

In the tree: Scala, golden model, test, a section of docs/reference/congestion.md, a line of the registry. With
POLICY_PATH the first three go there, and nothing in the tree changes.
"""

from __future__ import annotations

import os
import re
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WIDTH = 120  # characters in a line of Scala
SIMPLEST = {"startup": "standard", "steady": "reno"}
TAG = "# SPDX-License-Identifier: BSD-2-Clause-Patent\n"


class Refused(Exception):
    """It cannot be; the message says what to write instead."""


def main(arguments: list[str]) -> int:
    name, kind = arguments
    outside = os.environ.get("POLICY_PATH", "")
    try:
        made = make(ROOT, name, kind, Path(outside) if outside else None)
    except Refused as refused:
        print(refused, file=sys.stderr)
        return 2
    print(f"{name}, a copy of {SIMPLEST[kind]}:")
    for path in made:
        print(f"  {path.relative_to(ROOT) if path.is_relative_to(ROOT) else path}")
    where = f" POLICY_PATH={outside}" if outside else ""
    print(f"Its test: make policies POLICY={name}{where}")
    return 0


def make(root: Path, name: str, kind: str, outside: Path | None) -> list[Path]:
    """The files that were written or changed."""
    if kind not in SIMPLEST:
        raise Refused(f"KIND={kind}: use {' or '.join(SIMPLEST)}")
    if not re.fullmatch(r"[a-z][a-z0-9]*", name):
        raise Refused(f"NAME={name}: use lower-case letters and digits, a letter first")
    # Tests and folders find policies by name, whatever their kind.
    taken = [path.stem for other in SIMPLEST for path in (root / _golden(other)).glob("*.py")]
    if name in taken:
        raise Refused(f"NAME={name}: there is a policy of that name")
    model = SIMPLEST[kind]
    places = {
        _rtl(kind) / f"{model.capitalize()}.scala": _rtl(kind) / f"{name.capitalize()}.scala",
        _golden(kind) / f"{model}.py": _golden(kind) / f"{name}.py",
        _tests(kind) / f"test_{model}.py": _tests(kind) / f"test_{name}.py",
    }
    if outside is not None:
        targets = {source: outside / kind / target.name for source, target in places.items()}
    else:
        targets = {source: root / target for source, target in places.items()}
    for target in targets.values():
        if target.exists():
            raise Refused(f"{target} is there")
    for source, target in targets.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_renamed((root / source).read_text(), model, name))
    if outside is not None:
        package = outside / kind / "__init__.py"
        package.write_text(TAG)
        return [*targets.values(), package]
    return [*targets.values(), _register(root, name, kind), _document(root, name, kind)]


def _rtl(kind: str) -> Path:
    return Path("rtl/downbeat/congestion") / kind


def _golden(kind: str) -> Path:
    return Path("sim/golden/congestion") / kind


def _tests(kind: str) -> Path:
    return Path("cocotb_tests/congestion") / kind


def _renamed(text: str, model: str, name: str) -> str:
    """Wherever the word is a name, also in test_NAME, PolicyName, NameState and NAME.scala."""
    for old, new in ((model, name), (model.capitalize(), name.capitalize())):
        text = re.sub(rf"(?<![a-zA-Z])(test_|Policy)?{old}(?=State\b|(?![a-zA-Z]))", rf"\g<1>{new}", text)
    return text


def _register(root: Path, name: str, kind: str) -> Path:
    registry = root / "rtl/downbeat/builds/Policies.scala"
    text, scala = registry.read_text(), name.capitalize()
    text, imported = re.subn(
        rf"(import downbeat\.congestion\.{kind}\.)\{{([^}}]*)\}}",
        lambda found: _import(found[1], [*re.split(r",\s*", found[2].strip()), scala]),
        text,
    )
    text, listed = re.subn(
        rf"(val {kind}: Seq\[\w+\] = Seq\(.*?\w)(\s*\))", rf"\1,\n    {scala}\2", text, flags=re.DOTALL
    )
    if (imported, listed) != (1, 1):
        raise Refused(f"{registry}: no list of {kind} policies in it")
    registry.write_text(text)
    return registry


def _import(package: str, names: list[str]) -> str:
    """As scalafmt writes it: on one line if it fits."""
    listed = ", ".join(sorted(names))
    whole = f"{package}{{{listed}}}"
    if len(whole) <= WIDTH:
        return whole
    return f"{package}{{\n{textwrap.fill(listed, WIDTH, initial_indent='  ', subsequent_indent='  ')}\n}}"


def _document(root: Path, name: str, kind: str) -> Path:
    page = root / "docs/reference/congestion.md"
    family = "start-up" if kind == "startup" else kind
    section = f"### {name}\n\nA {family} policy. Source: none. It does what `{SIMPLEST[kind]}` does until you write otherwise."
    before, heading, after = page.read_text().partition("\n## Tests\n")
    if not heading:
        raise Refused(f"{page}: no section '## Tests' before which policies are described")
    page.write_text(f"{before}\n{section}\n{heading}{after}")
    return page


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
