# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`pip install` of this tree gives the `downbeat` command and its tools, without the tree and without a network."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from scripts.lint.tools import ROOT
from scripts.wheel import backend

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PACKAGE = PROJECT["scripts"]["downbeat"].partition(".")[0]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh directory with the package alone; its requirements are this interpreter's."""
    place = tmp_path_factory.mktemp("installed")
    command: list[str] = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-index",
        "--no-deps",
        "--target",
        str(place),
        str(ROOT),
    ]
    subprocess.run(command, cwd=place, check=True, capture_output=True, text=True)
    return place


def called(installed: Path, *words: object) -> str:
    """Outside the tree, with nothing of it in the environment."""
    environment = {"PATH": os.defpath, "PYTHONPATH": str(installed)}
    command = [sys.executable, "-P", str(installed / "bin" / "downbeat"), *map(str, words)]
    done = subprocess.run(command, cwd=installed, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_command_lists_its_tools(installed: Path) -> None:
    said = called(installed, "--help")
    assert all(tool in said for tool in ("gap", "replay", "schedule", "trace"))
    assert "selftest" in called(installed, "gap", "--help")


def test_a_tool_runs(installed: Path) -> None:
    rows = called(installed, "schedule", "paced", "--rate", "20Mbit", "--frames", "3").splitlines()
    assert rows[0] == "launch_ns,length,flow" and len(rows) == 4


def test_it_knows_what_policies_take(installed: Path) -> None:
    program = "from downbeat_toe import policies; print(policies.find(policies.read(policies.OWN)['startup'], 'paced'))"
    environment = {"PYTHONPATH": str(installed)}
    command = [sys.executable, "-P", "-c", program]
    done = subprocess.run(command, cwd="/", env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("paced takes n from 1 "), done.stderr


def test_it_is_the_installed_package_without_its_tests(installed: Path) -> None:
    program = f"import {PACKAGE}; print({PACKAGE}.__file__)"
    environment = {"PYTHONPATH": str(installed)}
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], cwd="/", env=environment, capture_output=True, text=True
    )
    assert Path(done.stdout.strip()).is_relative_to(installed), done.stderr
    assert (installed / PACKAGE / "gap").is_dir() and not list(installed.rglob("test_*.py"))


def test_built_twice_it_has_the_same_bytes(tmp_path: Path) -> None:
    digests = []
    for folder in ("first", "second"):
        (tmp_path / folder).mkdir()
        name = backend.build_wheel(str(tmp_path / folder))
        digests.append(hashlib.sha256((tmp_path / folder / name).read_bytes()).hexdigest())
    assert digests[0] == digests[1]


DEVICE = ROOT / "build" / "sim" / "lib" / "current" / "libdownbeat_sim.so"
# The core sends a SYN for an open, at a time that virtual time decides.
OPENS = """
from downbeat_toe.device import Device, nanoseconds
from downbeat_toe.library import load
with Device(load(), bytes.fromhex("020000000001"), 0x0A000001, netmask=0xFFFFFF00) as device:
    device.add_neighbour(0x0A000002, bytes.fromhex("020000000002"))
    device.connect(0x0A000002, 80)
    device.advance(nanoseconds(100_000))
    ((frame, departure),) = device.frames()
    print(frame[47] & 0x3F, 0 < departure < nanoseconds(100_000))
"""


@pytest.mark.soak
def test_a_wheel_with_the_device_runs_it_without_the_tree_and_without_a_compiler(tmp_path: Path) -> None:
    if not DEVICE.exists():
        pytest.skip("the device is not built: make wheel")
    name = backend.build_wheel(str(tmp_path), {"device": str(DEVICE)})
    assert "none-any" not in name
    place = tmp_path / "installed"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", str(place)]
    environment = {"PYTHONPATH": str(place), "PATH": str(tmp_path)}
    subprocess.run([*pip, str(tmp_path / name)], check=True, capture_output=True, text=True, env=environment)
    command = [sys.executable, "-P", "-c", OPENS]
    done = subprocess.run(command, cwd="/", env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["2", "True"], done.stderr


def test_its_version_is_the_releases_and_its_requirements_are_locked() -> None:
    pom = re.search(r"<artifactId>downbeat</artifactId>\s*<version>([\d.]+)</version>", (ROOT / "pom.xml").read_text())
    assert pom and pom[1] == PROJECT["version"]
    locked = (ROOT / "requirements.in").read_text()
    assert all(re.search(rf"^{re.escape(name)}\b", locked, re.MULTILINE) for name in PROJECT["dependencies"])


def test_what_it_imports_is_required() -> None:
    """Packages of others; Python's own and this one need no line."""
    imported = {
        name
        for path, content in backend._package()
        for name in re.findall(r"^(?:from|import) (\w+)", content.decode(), re.MULTILINE)
        if path.endswith(".py")
    }
    others = imported - sys.stdlib_module_names - {PACKAGE}
    assert others == {name.replace("-", "_") for name in PROJECT["dependencies"]}
