# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A release of the build in build/rtl: the same bytes twice, whole without the tree, read by Verilator and FuseSoC."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from scripts.lint.tools import VERILOG
from scripts.release import contents, cores
from scripts.release.archive import packed

NAME = f"downbeat-{contents.version()}"
BUILD = {"default": VERILOG}


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    return contents.files(BUILD)


@pytest.fixture(scope="module")
def unpacked(files: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("release")
    (place / "release.tar.gz").write_bytes(packed(files, NAME))
    subprocess.run(["tar", "--extract", "--file=release.tar.gz"], cwd=place, check=True)
    return place / NAME


def run(place: Path, *command: str | Path) -> str:
    """In the release, with nothing of the tree in the environment but its tools."""
    environment = {name: os.environ[name] for name in ("PATH", "HOME", "VERILATOR_ROOT") if name in os.environ}
    done = subprocess.run(command, cwd=place, env=environment, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_built_twice_it_has_the_same_bytes(files: dict[str, bytes]) -> None:
    again = contents.files(BUILD)
    turned = dict(reversed(again.items()))
    assert packed(files, NAME) == packed(turned, NAME)


def test_nothing_in_it_names_a_day_a_machine_or_the_tree(unpacked: Path) -> None:
    found = [
        f"{path.relative_to(unpacked)}: {word[0].decode()}"
        for path in sorted(unpacked.rglob("*"))
        if path.is_file() and path.name != "CHANGELOG.md"
        for word in re.finditer(rb"build/rtl/Downbeat\w*\.v|/(?:home|root|work)/\w+", path.read_bytes())
        if path.suffix not in (".tcl", ".py") and path.relative_to(unpacked).parts[0] not in ("docs", "examples")
    ]
    assert not found


def test_check_sums_and_bill_of_materials_name_every_file(unpacked: Path) -> None:
    sums = dict(line.split("  ")[::-1] for line in (unpacked / "SHA256SUMS").read_text().splitlines())
    there = {path.relative_to(unpacked).as_posix(): path for path in unpacked.rglob("*") if path.is_file()}
    digests = {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in there.items()}
    assert sums == {name: digest for name, digest in digests.items() if name != "SHA256SUMS"}
    bill = json.loads((unpacked / "sbom.cdx.json").read_text())
    listed = {part["name"]: part["hashes"][0]["content"] for part in bill["components"] if part["type"] == "file"}
    assert listed == {name: digest for name, digest in sums.items() if name != "sbom.cdx.json"}
    assert {part["licenses"][0]["license"]["id"] for part in bill["components"] if part["type"] == "library"} == {"MIT"}


def test_verilator_lints_the_example_without_the_tree(unpacked: Path) -> None:
    run(unpacked, "verilator", "--lint-only", "-Wall", "-f", "downbeat.f", "--top-module", "nic", "examples/nic.v")


def test_the_pages_that_it_names_are_in_it(unpacked: Path) -> None:
    texts = {path: path.read_text() for path in (unpacked / "README.md", *(unpacked / "examples").iterdir())}
    named = {page for text in texts.values() for page in re.findall(r"docs/[\w/-]+\.md", text)}
    assert len(named) > 2 and not [page for page in named if not (unpacked / page).is_file()]


@pytest.mark.soak
def test_the_bench_opens_a_connection_as_the_first_page_says(unpacked: Path) -> None:
    page, example = ((unpacked / name).read_text() for name in ("README.md", "examples/open_connection.cpp"))
    command = re.search(r"verilator --cc .*obj_dir/open_connection", page, re.DOTALL)
    assert (
        command
        and command[0].split() == example.replace("//", "").partition("release:")[2].split()[: len(command[0].split())]
    )
    quick = 'PCH_I=-include OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0 CXX=g++"'
    said = run(unpacked, "bash", "-c", command[0].replace("PCH_I=-include", quick).replace("CFG_CXX", '"CFG_CXX'))
    assert re.search(
        r"ARP request\n.*SYN from port \d+\n.*state 3\n(.*ACK of 1001\n)?.*established\n$", said, re.DOTALL
    )


@pytest.mark.parametrize("target", ["default", "lint"])
def test_fusesoc_sets_each_target_up(target: str, unpacked: Path, tmp_path: Path) -> None:
    options = ["--build-root", str(tmp_path), f"--target={target}", *(["--tool=verilator"] if target != "lint" else [])]
    run(unpacked, "fusesoc", "--cores-root", ".", "run", "--setup", *options, cores.name("default"))
    assert list(tmp_path.rglob("*.eda.yml"))


def test_a_core_of_another_build_has_a_name_of_its_own() -> None:
    text = cores.core("lean", "1.2.3", contents.TOPS)
    assert "name: downbeat:network:downbeat-lean:1.2.3\n" in text and "files: [lean/DownbeatGmii.v]" in text


def test_the_verilog_names_version_and_build(unpacked: Path) -> None:
    head = (unpacked / "default" / "DownbeatAxi.v").read_text()[:300]
    assert re.search(rf"^// Downbeat {re.escape(contents.version())}: DownbeatAxi, preset \S+$", head, re.MULTILINE)
