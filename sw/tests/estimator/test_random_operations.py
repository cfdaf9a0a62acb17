# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Library and golden model answer the same to random operations; the sanitizers find nothing in them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from ctypes import CDLL
from pathlib import Path

import pytest
from downbeat_toe.estimator.structures import Cause, Method

from sw.tests.estimator.random_operations import run

SEED = int(os.environ.get("SEED") or 1)
PLAYS, OPERATIONS = (100, 100_000) if os.environ.get("SOAK") else (6, 6_000)
# Every cause, but for those that a caller's own error makes.
EXPECTED = set(Cause) - {Cause.NONE, Cause.ARGUMENT}


def test_library_and_model_answer_the_same(library: CDLL) -> None:
    refused, answers = Counter[Cause](), Counter[tuple[Method, bool]]()
    retreats, restarts = 0, Counter[bool]()
    for seed in range(SEED, SEED + PLAYS):
        print(f"seed {seed}")
        play = run(seed, OPERATIONS)
        refused.update(play.refused)
        restarts += play.restarts
        answers += play.answers
        retreats += play.retreats
    assert {cause for cause, count in refused.items() if count} >= EXPECTED
    assert all(answers[method, known] > 20 for method in Method for known in (False, True)), answers
    assert retreats > 100 and restarts[True] > 10


def test_sanitizers_find_nothing(sanitized: Path) -> None:
    preload = subprocess.run(["gcc", "-print-file-name=libasan.so"], text=True, capture_output=True, check=True)
    environment = os.environ | {"LD_PRELOAD": preload.stdout.strip(), "DOWNBEAT_ESTIMATOR": str(sanitized)}
    environment |= {"ASAN_OPTIONS": "detect_leaks=0"}  # Python's own
    command = [sys.executable, "-m", "sw.tests.estimator.random_operations", str(SEED + 1000), str(OPERATIONS)]
    done = subprocess.run(command, text=True, capture_output=True, env=environment, check=False)
    if "cannot be preloaded" in done.stderr:
        pytest.skip("the compiler's AddressSanitizer cannot be preloaded here")
    assert done.returncode == 0, done.stderr[-3000:]
    assert "operations equal" in done.stdout
