# SPDX-License-Identifier: BSD-2-Clause-Patent
"""docs/how-to/add-a-module.md: its module compiles into a copy of the tree, and the test of docs/how-to/test.md passes
on it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.lint.tools import ROOT, VERILOG

HOW_TO = ROOT / "docs" / "how-to"
MODULES = Path("rtl/downbeat/builds/Modules.scala")
CLASSES = ROOT / "build" / "maven"


def block(page: str, language: str, number: int = 0) -> str:
    found: list[str] = re.findall(rf"^```{language}\n(.*?)^```", (HOW_TO / page).read_text(), re.DOTALL | re.MULTILINE)
    return found[number]


def run(place: Path, *command: object) -> None:
    environment = os.environ | {"PYTHONPATH": f"{place}:{place / 'sw' / 'python'}", "DOWNBEAT_ROOT": str(place)}
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=place, env=environment, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.soak
def test_the_module_of_the_page_is_whole(tmp_path: Path) -> None:
    module, line = block("add-a-module.md", "scala"), block("add-a-module.md", "scala", 1)
    (tmp_path / "UdpFilter.scala").write_text(module)
    listed = (ROOT / MODULES).read_text()
    first = "private val own: Map[String, DownbeatConfig => Component] = Map("
    assert first in listed
    (tmp_path / MODULES.name).write_text(listed.replace(first, first + line))
    libraries = f"{CLASSES / 'classes'}:{(CLASSES / 'classpath').read_text()}"
    plugin, payload = (
        next(jar for jar in libraries.split(":") if name in jar) for name in ("idsl-plugin", "idsl-payload")
    )
    out = tmp_path / "classes"
    out.mkdir()
    scala = ("-deprecation", "-feature", "-unchecked", "-Xfatal-warnings", f"-Xplugin:{plugin}:{payload}", "-d", out)
    sources = (tmp_path / "UdpFilter.scala", tmp_path / MODULES.name)
    run(tmp_path, "java", "-cp", libraries, "scala.tools.nsc.Main", *scala, "-cp", libraries, *sources)

    tree = tmp_path / "tree"
    for folder in ("cocotb_tests", "sim", "sw", "scripts"):
        shutil.copytree(ROOT / folder, tree / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("conftest.py", "pyproject.toml"):
        shutil.copy(ROOT / name, tree / name)
    verilog = tree / VERILOG.relative_to(ROOT)
    verilog.mkdir(parents=True)
    run(tree, "java", "-cp", f"{out}:{libraries}", "downbeat.builds.Generate", "--out", verilog, "UdpFilter")
    (tree / "cocotb_tests" / "rx" / "test_udp_filter.py").write_text(block("test.md", "python"))
    run(tree, sys.executable, "-m", "pytest", "-q", "-n0", "cocotb_tests/rx/test_udp_filter.py")
