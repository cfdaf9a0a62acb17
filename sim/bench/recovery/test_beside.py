# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make bench NAME=recovery` beside Linux in small: the wire treats both senders alike. Needs root."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SEED = os.environ.get("SEED", "1")
LIMIT_SECONDS = 600  # a first build of the core is in it
# In a process of its own: it moves into other network namespaces.
SCRIPT = """
import json, sys
from pathlib import Path
from sim.bench.recovery import beside
from sim.lib import build
from sim.linux import namespace
from sim.linux.transfer import BESIDE_CORE, FROM_CORE, Impairment
try:
    namespace.require()
except namespace.Missing as missing:
    print(missing, file=sys.stderr)
    raise SystemExit(77)
beside.PATHS = {"clean": (Impairment(), "reno"), "BBR": (Impairment(), "bbr")}
program = build.linux() / "downbeat_tap"
senders = [(who, path) for path in beside.PATHS for who in (FROM_CORE, BESIDE_CORE)]
print(json.dumps([beside.one(program, Path(sys.argv[1]), who, path, int(sys.argv[2])) for who, path in senders]))
"""

pytestmark = pytest.mark.heavy


def test_without_faults_both_take_the_round_trips_of_slow_start(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SCRIPT, str(tmp_path), SEED]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False)
    if done.returncode == 77:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stdout + done.stderr
    times = json.loads(done.stdout.splitlines()[-1])
    # 46 segments from a window of ten: two more round trips and the way of the last, or three
    assert all(0.2 < seconds < 0.4 + lag for seconds, lag in times), times
