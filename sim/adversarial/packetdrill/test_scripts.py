# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Each script is a case, named after its file."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

import pytest
from downbeat_toe.library import load

from sim.adversarial.packetdrill.__main__ import SCRIPTS
from sim.adversarial.packetdrill.parser import read
from sim.adversarial.packetdrill.runner import ScriptFailedError, run
from sim.lib import verilated

SEED = int(os.environ.get("SEED") or 1)


@pytest.fixture(scope="module")
def library() -> ctypes.CDLL:
    return load(verilated.library() / "libdownbeat_sim.so")


@pytest.mark.parametrize("path", sorted(SCRIPTS.glob("*.pkt")), ids=lambda path: path.stem)
def test_script(path: Path, library: ctypes.CDLL) -> None:
    __tracebackhide__ = True
    script = read(path)
    reason = script.options.get("expected_failure")
    try:
        run(script, library, SEED)
    except ScriptFailedError as error:
        if reason is None:
            pytest.fail(f"{error}\nagain: make packetdrill SCRIPT={path.stem} SEED={SEED}", pytrace=False)
        pytest.xfail(reason)
    if reason is not None:
        pytest.fail(f"{path.stem} passes now: take out --expected_failure", pytrace=False)


def test_each_script_names_its_rule_and_its_source() -> None:
    bare = [
        path.name
        for path in sorted(SCRIPTS.glob("*.pkt"))
        if not all(line.startswith("// ") for line in path.read_text().splitlines()[:2])
        or "RFC " not in path.read_text().splitlines()[1]
    ]
    assert not bare, f"the first two lines say rule and section: {', '.join(bare)}"
