# SPDX-License-Identifier: BSD-2-Clause-Patent
"""downbeat.core: its files are there, its tops are in them, its version is the core's; FuseSoC takes it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from scripts.lint.tools import ROOT

CORE = ROOT / "downbeat.core"
FILESET = re.compile(r"^  (\w+):\n    files: \[(\S+)\]\n", re.MULTILINE)
TARGET = re.compile(r"^  (\w+):\n    filesets: \[(.+)\]\n    toplevel: (\w+)\n", re.MULTILINE)


def wrong(text: str) -> list[str]:
    """Mistakes of the file, a sentence each."""
    files = dict(FILESET.findall(text))
    complaints = [] if text.startswith("CAPI=2:\n") else ["it does not begin with CAPI=2:"]
    complaints += [f"there is no {path}" for path in files.values() if not (ROOT / path).is_file()]
    version = re.search(r"val version: Seq\[Int\] = Seq\((\d+), (\d+), (\d+)\)", _text("RegisterMap.scala"))
    assert version
    if f"name: downbeat:network:downbeat:{'.'.join(version.groups())}\n" not in text:
        complaints.append(f"the core's version is {'.'.join(version.groups())}")
    for target, used, top in TARGET.findall(text):
        sets = used.split(", ")
        complaints += [f"{target}: no fileset {one}" for one in sets if one not in files]
        if not any(files.get(one) == f"build/rtl/{top}.v" for one in sets):
            complaints.append(f"{target}: {top} is in none of its files")
    return complaints


def _text(name: str) -> str:
    return (ROOT / "rtl" / "downbeat" / "registers" / name).read_text()


def test_its_files_tops_and_version_are_right() -> None:
    text = CORE.read_text()
    assert len(FILESET.findall(text)) == text.count("files: [") and len(TARGET.findall(text)) == text.count("toplevel:")
    assert not wrong(text)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("CAPI=2:\n", "", "it does not begin with CAPI=2:"),
        ("DownbeatAxi.v", "DownbeatGone.v", "there is no build/rtl/DownbeatGone.v"),
        ("toplevel: DownbeatGmii", "toplevel: Downbeat", "gmii: Downbeat is in none of its files"),
        (r"filesets: \[core\]", "filesets: [kernel]", "core: no fileset kernel"),
        (r"downbeat:\d+\.\d+\.\d+", "downbeat:9.9.9", "the core's version is"),
    ],
)
def test_a_wrong_file_is_found(old: str, new: str, reason: str) -> None:
    changed, count = re.subn(old, new, CORE.read_text(), count=1)
    assert count and any(complaint.startswith(reason) for complaint in wrong(changed))


@pytest.mark.parametrize("target", ["default", "core", "gmii", "xgmii", "lint"])
def test_fusesoc_sets_each_target_up(target: str, tmp_path: Path) -> None:
    options = ["--build-root", str(tmp_path), f"--target={target}", *(["--tool=verilator"] if target != "lint" else [])]
    command = ["fusesoc", "--cores-root", ".", "run", "--setup", *options, "downbeat:network:downbeat"]
    done = subprocess.run(command, cwd=ROOT, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert list(tmp_path.rglob("*.eda.yml"))
