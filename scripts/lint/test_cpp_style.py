# SPDX-License-Identifier: BSD-2-Clause-Patent
"""C++ of sw and sim is of one dialect: names as .clang-tidy says, and `///` above what a header declares.

clang-tidy reads one unit for `sw` and one for `sim`, if something in it has changed: the headers that all files share
take most of its time. What a build generates, and large libraries, are empty headers to it: it calls what it cannot
resolve an error and goes on, so its errors are ignored and its names count.
"""

from __future__ import annotations

import os
import re
import subprocess
import sysconfig
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from pathlib import Path

from scripts.lint.test_dependencies import INCLUDES
from scripts.lint.tools import ROOT, project_files
from sim.lib.cache import cached, content

CONFIGURATION = ROOT / ".clang-tidy"
NS3 = Path(sysconfig.get_paths()["purelib"]) / "ns3" / "include"
LARGE = ("nlohmann/", "toml++/")  # libraries whose headers take long to read
# A C interface has C's names, and Google's packetdrill chooses those of its own.
FOREIGN = re.compile(r"downbeat\w*\.h:|shared_object/interface\.|'V\w+___\w+'|'__\w+'")


def cpp_files() -> list[Path]:
    return sorted(path for path in project_files() if path.suffix in {".h", ".cpp"} and path.parts[0] in {"sw", "sim"})


def misnamed(name: str, files: Iterable[Path], place: Path) -> list[str]:
    """A line for each name that .clang-tidy refuses. `files` are absolute, `place` is for the unit."""
    files = sorted(files, key=lambda file: file.suffix)
    for header in {
        one
        for file in [*files, *(ROOT / path for path in cpp_files())]
        for one in re.findall(r'#\s*include\s+["<]([^">]+)', file.read_text())
    }:
        empty = place / name / ("large" if header.startswith(LARGE) else "absent") / header
        empty.parent.mkdir(parents=True, exist_ok=True)
        empty.touch()
    unit = place / name / "unit.cpp"
    unit.write_text("".join(f'#include "{file}"\n' for file in files))
    folders = [unit.parent / "large", *(ROOT / folder for folder in INCLUDES)]
    command = ["clang-tidy", "--quiet", f"--config-file={CONFIGURATION}", str(unit), "--", "-std=c++20"]
    command += ["-ferror-limit=0", *(f"-I{folder}" for folder in folders), f"-isystem{NS3}"]
    done = subprocess.run(
        [*command, f"-idirafter{unit.parent / 'absent'}"], text=True, capture_output=True, check=False
    )
    assert "file not found" not in done.stdout, done.stdout
    found = re.findall(r"^(/\S+): warning: (invalid case style.*) \[", done.stdout, re.MULTILINE)
    return sorted({f"{where}: {words}" for where, words in found if not FOREIGN.search(f"{where}: {words}")})


def known_misnamed(name: str, files: list[Path], key: str) -> list[str]:
    """The same of a folder of the tree, kept in build/ until one of its files or a header changes."""
    place = cached(f"names-{name}", key, lambda place: _write(place, misnamed("unit", files, place)))
    return (place / "found").read_text().replace(f"{ROOT}/", "").splitlines()


def _write(place: Path, lines: list[str]) -> None:
    (place / "found").write_text("\n".join(lines))


def undocumented(text: str) -> list[int]:
    """The lines of a header's plain comments above declarations: not of its head, rulers and bodies of functions."""
    lines = text.splitlines()
    head = next((number for number, line in enumerate(lines) if not line.startswith("//")), len(lines))
    found: list[int] = []
    in_body: list[bool] = []  # for each open brace
    for number, line in enumerate(lines, 1):
        if re.match(r"\s*// (?!---)", line) and number > head and not any(in_body):
            found.append(number)
        code = re.sub(r'//.*|"(?:\\.|[^"\\])*"', "", line)
        for brace in re.finditer("[{}]", code):
            if brace[0] == "{":
                in_body.append(not re.search(r"\b(class|struct|namespace|enum|extern|union)\b", code[: brace.start()]))
            elif in_body:
                in_body.pop()
    return found


def test_names() -> None:
    files = cpp_files()
    headers = [(ROOT / path).read_text() for path in files if path.suffix == ".h"]
    version = subprocess.run(["clang-tidy", "--version"], text=True, capture_output=True, check=True).stdout
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = []
        for name, paths in groupby(files, lambda path: path.parts[0]):
            own = [ROOT / path for path in paths]
            key = content(version, CONFIGURATION.read_text(), *headers, *(file.read_text() for file in own))
            runs.append(pool.submit(known_misnamed, name, own, key))
        found = [line for run in runs for line in run.result()]
    assert not found, "\n".join(found)


def test_a_header_documents_with_three_slashes() -> None:
    headers = [path for path in cpp_files() if path.suffix == ".h" and not path.name.startswith("downbeat")]
    found = [f"{path}:{line}" for path in headers for line in undocumented((ROOT / path).read_text())]
    assert not found, "\n".join(found)


def test_a_wrong_name_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text('#include "made_by_a_build.h"\nclass A {\n  Unknown known_;\n  int count;\n};\n')
    (tmp_path / "b.cpp").write_text("int a_b(int CamelCase);\nenum class lower { Upper };\n")
    found = misnamed("a", [tmp_path / "a.h", tmp_path / "b.cpp"], tmp_path)
    assert {name for line in found for name in re.findall(r"'(\w+)'", line)} == {
        "count",
        "a_b",
        "CamelCase",
        "lower",
        "Upper",
    }


def test_a_plain_comment_is_found() -> None:
    assert undocumented(
        "// head\n// more\n#pragma once\n// ---- part\n/// good\n// bad\nint f() {\n  // body\n}\nint a; // good\n"
    ) == [6]
