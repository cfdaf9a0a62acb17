# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The smallest program of the system over the core, against Linux behind a TAP; the others are in make bench
NAME=host."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sim.linux.conftest import REQUIRE

LIMIT_SECONDS = 300
# In a process of its own: it moves into another network namespace.
RUN = """
import json, sys
from pathlib import Path
from sim.host import programs
results, _ = programs.run_all(Path(sys.argv[1]), Path(sys.argv[2]), "host", ["curl"])
print(json.dumps(programs.as_rows(results)))
"""


def test_curl_and_a_web_server_each_over_the_core(model: str, tmp_path: Path) -> None:
    missing = subprocess.run([sys.executable, "-c", REQUIRE], capture_output=True, text=True, check=True).stdout
    if missing:
        pytest.skip(missing.strip())
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(tmp_path), str(Path(model).parent)],
        env=os.environ | {"SIZE": "50000"}, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert [(row["program"], row["role"]) for row in rows] == [("curl", "client"), ("http.server", "server")]
    assert all(row["equal"] for row in rows), rows
