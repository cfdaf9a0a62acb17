# SPDX-License-Identifier: BSD-2-Clause-Patent
"""CASE chooses tests, also where a function runs cases of another module, or by a helper; which tests share a worker."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("file", "case", "chosen"),
    [
        ("cocotb_tests/bench/test_bench.py", "a_changed_bit_is_seen", ["test_bench"]),
        ("cocotb_tests/bench/test_bench.py", "a_case_that_is_none", []),
        (
            "cocotb_tests/board/test_probe_board.py",
            "probes_leave_at_their_times_and_come_back_with_them",
            ["test_probe_board"],
        ),
        (
            "scripts/ecp5/netlist/system.py",
            "downbeat:a_shut_window_is_probed_with_one_byte",
            ["test_system[test_downbeat]"],
        ),
        (
            "scripts/check/test_select.py",
            "test_a_mistyped_name_gets_a_proposal",
            ["test_a_mistyped_name_gets_a_proposal"],
        ),
    ],
)
def test_a_case_chooses_the_function_that_runs_it(file: str, case: str, chosen: list[str]) -> None:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-pno:cacheprovider", file]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | {"DOWNBEAT_CASE": case}, text=True, capture_output=True, check=False
    )
    collected = [line.partition("::")[2] for line in done.stdout.splitlines() if "::" in line]
    assert collected == chosen, done.stdout


def test_heavy_tests_share_a_worker(tmp_path: Path) -> None:
    """So they never run beside each other, and nothing else groups what a module marks."""
    file = tmp_path / "test_x.py"
    file.write_text(
        "import os, pathlib, pytest\n"
        "@pytest.mark.heavy\n"
        "@pytest.mark.parametrize('number', range(6))\n"
        "def test_y(number):\n"
        "    pathlib.Path(__file__).with_suffix(f'.{number}').write_text(os.environ['PYTEST_XDIST_WORKER'])\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-n2", "--dist=loadgroup", "-pscripts.check.plugin"]
    command += [f"--rootdir={tmp_path}", "-c/dev/null", "-pno:cacheprovider", str(file)]
    done = subprocess.run(command, cwd=ROOT, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout
    assert len({path.read_text() for path in tmp_path.glob("test_x.[0-9]")}) == 1


def test_a_test_draws_by_its_name_and_the_seed(tmp_path: Path) -> None:
    file = tmp_path / "test_x.py"
    file.write_text(
        "import pathlib, random\n"
        "def test_y(): _keep('y')\n"
        "def test_z(): _keep('z')\n"
        "def _keep(name):\n"
        "    with pathlib.Path(__file__).with_suffix('.draws').open('a') as kept:\n"
        "        print(name, random.getrandbits(64), file=kept)\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-pscripts.check.plugin", f"--rootdir={tmp_path}", "-c/dev/null"]
    for seed, cases in ((1, ["test_y", "test_z"]), (1, ["test_z"]), (2, ["test_z"])):
        places = [f"{file}::{case}" for case in cases]
        environment = os.environ | {"SEED": str(seed)}
        subprocess.run([*command, "-pno:cacheprovider", *places], cwd=ROOT, env=environment, check=True)
    y, z, alone, reseeded = (line.split()[1] for line in (tmp_path / "test_x.draws").read_text().splitlines())
    assert z == alone
    assert len({y, z, reseeded}) == 3
