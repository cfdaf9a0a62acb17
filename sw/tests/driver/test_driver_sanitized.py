# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The driver's suite, over the loopback model and over the Verilated core, with builds that watch memory and
threads."""

from __future__ import annotations

import os
import re
import subprocess

import pytest

from sw.tests.driver.conftest import ROOT

FEWEST = 100  # tests that ran


@pytest.mark.soak
@pytest.mark.parametrize("sanitizer", ["address", "thread"])
def test_the_suite_passes_with_sanitizers(sanitizer: str) -> None:
    """AddressSanitizer and UndefinedBehaviorSanitizer, or ThreadSanitizer, in driver, NIC and supervisor."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS", "PYTEST"))
    }
    for name in ("SOAK", "DOWNBEAT_DRIVER", "DOWNBEAT_MODELS", "DOWNBEAT_CASE"):
        environment.pop(name, None)
    command = [str(ROOT / "sw" / "driver" / "sanitize.sh"), sanitizer]
    done = subprocess.run(command, text=True, capture_output=True, env=environment, check=False)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-3000:]
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed and int(passed[1]) >= FEWEST, done.stdout[-500:]
