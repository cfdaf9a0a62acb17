# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Two cells against the Linux kernel, with everything that its wire can do to frames. Needs root."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SEED = os.environ.get("SEED", "1")
SIZE = 100_000
LIMIT_SECONDS = 600  # a first build of the core is in it

pytestmark = pytest.mark.heavy


@pytest.mark.parametrize("role", ["sender", "receiver"])
def test_a_transfer_over_a_bad_wire_is_byte_exact(tmp_path: Path, role: str) -> None:
    words = f"--peer=linux --role={role} --loss=1% --reorder=10% --dup=5% --corrupt=1% --cells=1 --size={SIZE} --seed={SEED}"
    command = [sys.executable, "-m", "sim.adversarial.matrix", *words.split(), f"--reports={tmp_path}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False)
    if done.stdout.startswith("skipped:"):
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stdout + done.stderr
    (cell,) = json.loads((tmp_path / "matrix-linux.json").read_text())
    assert cell["sha256_equal"] and cell["bytes"] == SIZE and not cell["failures"]
    for done_to in ("reordered", "duplicated"):
        assert sum(cell["frames"][done_to].values()) > 0
