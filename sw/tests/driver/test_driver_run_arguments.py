# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Arguments of `downbeat run`."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from downbeat_toe.driver.library import program

from sw.tests.driver.process import Nic
from sw.tests.driver.programs import CORE, LIMIT, over_core, script, serving
from sw.tests.driver.test_driver_run import SERVER


@pytest.mark.parametrize("option", ["--startup-argument", "--steady-argument"])
@pytest.mark.parametrize(("argument", "refused"), [("0x0", False), ("0x1", True), ("0x10000000000000000", True)])
def test_policies_are_given_their_arguments(nic: Nic, option: str, argument: str, refused: bool) -> None:
    """Standard slow start and Reno take none, in either of the two words."""
    text = f"import errno, socket; print(socket.socket().connect_ex(('{CORE}', 5005)) == errno.EIO)"
    wrap = over_core(nic)
    command = [*wrap[:-1], option, argument, "--", *script(text)]
    with serving([*wrap, *script(SERVER, CORE)]):
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.stdout == f"{refused}\n", done.stderr


@pytest.mark.parametrize("argument", ["1", "0x", "0xg", f"0x{1 << 128:x}"])
def test_an_argument_that_is_not_two_words_is_refused(nic: Nic, argument: str) -> None:
    command = [*over_core(nic)[:-1], "--startup-argument", argument, "--", "true"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.returncode == 126 and f"'{argument}' is not an argument" in done.stderr


def test_refusals_in_one_line(nic: Nic, tmp_path: Path) -> None:
    missing = [str(program("downbeat-run")), "--device", f"simd:{tmp_path}/none", "--", "true"]
    done = subprocess.run(missing, capture_output=True, text=True, check=False)
    assert done.returncode == 126 and done.stderr.count("\n") == 1
    assert "no NIC listens there" in done.stderr
