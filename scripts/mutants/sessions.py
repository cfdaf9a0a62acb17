# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Which simulations the test modules ask for: `python -m scripts.mutants.sessions FILE` collects them, as JSON.

The test functions are called as pytest calls them, but `run_module` records its arguments instead of
simulating.
"""

from __future__ import annotations

import functools
import inspect
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from cocotb_tests.bench import runner
from scripts.check.plugin import is_wrapper
from scripts.mutants.place import ROOT, RTL

FOLDER = Path("cocotb_tests")
SKIPPED = ("board", "formal", "examples")  # no modules of the core


@dataclass(frozen=True)
class Session:
    """One simulation: the cases of a test module on the top of one Verilog file."""

    top: str
    test_module: str
    label: str = ""
    options: dict[str, Any] = field(default_factory=dict, compare=False)  # the other arguments of run_module

    @property
    def name(self) -> str:
        """As TEST takes it, with the label."""
        short = self.test_module.removeprefix("cocotb_tests.").replace(".", "/")
        return f"{short} ({self.label})" if self.label else short

    @property
    def folder(self) -> str:
        """The folder of cocotb_tests; empty for the core's own tests."""
        return "/".join(self.test_module.split(".")[1:-1])


@functools.cache
def sessions() -> tuple[Session, ...]:
    """Every simulation of the cocotb tests on Verilog of build/rtl."""
    command = [sys.executable, "-m", "scripts.mutants.sessions"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"the tests cannot be collected:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return tuple(Session(**each) for each in json.loads(done.stdout.splitlines()[-1]))


class _Recorder:
    """A plugin of pytest."""

    def __init__(self) -> None:
        self.found: list[dict[str, Any]] = []

    def recording(self, original: Callable[..., None]) -> Callable[..., None]:
        names = inspect.signature(original)

        def record(*arguments: Any, **named: Any) -> None:
            given = names.bind(*arguments, **named).arguments
            options = {key: value for key, value in given.items() if key not in ("module", "test_module", "label")}
            if options.pop("rtl", RTL) != RTL or options.pop("netlist", ()):
                return
            options = {
                key: [str(each) for each in value] if key == "around" else value for key, value in options.items()
            }
            self.found.append(
                {
                    "top": given["module"],
                    "test_module": given["test_module"],
                    "label": given.get("label", ""),
                    "options": options,
                }
            )

        record.__name__ = "run_module"
        return record

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if is_wrapper(item)]


def _collect() -> int:
    recorder = _Recorder()
    runner.run_module = recorder.recording(runner.run_module)
    ignored = [f"--ignore={FOLDER / name}" for name in SKIPPED]
    arguments = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", *ignored, str(FOLDER)]
    status = pytest.main(arguments, plugins=[recorder])
    print()
    print(json.dumps(recorder.found))
    return int(status)


if __name__ == "__main__":
    sys.exit(_collect())
