# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make test` and `make lint`: runs pytest over what TEST, CASE and the arguments choose (docs/how-to/test.md).

The environment: TEST, CASE, SEED (or cocotb's COCOTB_RANDOM_SEED), WAVES=1, JOBS. Exit status 0 only when at least one
test ran and none failed; the last line is always the count.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from scripts.check.junit import write_junit
from scripts.check.reporter import Reporter
from scripts.check.rows import Row
from scripts.check.select import FOLDERS, select, similar
from scripts.variables.__main__ import refusal

ROOT = Path(__file__).resolve().parents[2]
REPORT = Path("build/reports/junit.xml")
TARGET = "test"
DEFAULT_SEED = 1  # fixed, so that two runs of one commit agree
DEFAULT_JOBS = 2


def main(arguments: list[str], target: str = TARGET) -> int:
    """`target` of make is what runs a failed case again."""
    os.chdir(ROOT)
    if os.environ.get("COCOTB_RANDOM_SEED"):
        os.environ.setdefault("SEED", os.environ["COCOTB_RANDOM_SEED"])
    if refused := refusal([TARGET]):
        sys.exit(refused)
    seed = int(os.environ.get("SEED") or DEFAULT_SEED)
    test = os.environ.get("TEST", "")
    paths = [str(path) for path in select(ROOT, test)] if test else arguments or _folders()
    reporter = Reporter(seed, target)
    if paths:
        _set_environment(seed)
        print(f"seed {seed}", flush=True)
        status = pytest.main(_pytest_arguments(paths), plugins=[reporter])
        if status not in (
            pytest.ExitCode.OK,
            pytest.ExitCode.TESTS_FAILED,
            pytest.ExitCode.NO_TESTS_COLLECTED,
        ):
            reporter.add(Row("the session", "", "failed", 0.0, f"pytest ended with {status!r}: see above"))
        write_junit(ROOT / REPORT, reporter.rows, seed, target)
    if not reporter.rows:
        print(_nothing_ran(test))
    print("\n".join([*reporter.failures(), reporter.summary()]), flush=True)
    return int(reporter.count("failed") > 0 or reporter.count("passed") == 0)


def _folders() -> list[str]:
    return [folder for folder in FOLDERS if (ROOT / folder).is_dir()]


def _set_environment(seed: int) -> None:
    environment = os.environ
    environment["COCOTB_RANDOM_SEED"] = environment["SEED"] = str(seed)
    environment["PYTHONHASHSEED"] = "0"
    environment["DOWNBEAT_UNTRAINED"] = "1"
    environment["DOWNBEAT_CASE"] = environment.pop("CASE", "")
    # Empty means unset to make, but not to every program that reads it.
    for name in ("TEST", "WAVES"):
        if not environment.get(name):
            environment.pop(name, None)


def _pytest_arguments(paths: list[str]) -> list[str]:
    jobs = int(os.environ.get("JOBS") or DEFAULT_JOBS)
    alone = len(paths) == 1 and paths[0].endswith(".py")
    parallel = ["-n0"] if alone or jobs < 2 else [f"-n{jobs}", "--dist=loadgroup"]
    return [
        "-qq",
        "--no-header",
        "--no-summary",
        "--tb=short",
        "-pno:terminaldistreporter",
        *parallel,
        *paths,
    ]


def _nothing_ran(test: str) -> str:
    case = os.environ.get("DOWNBEAT_CASE") or os.environ.get("COCOTB_TEST_FILTER", "")
    wanted = " ".join(filter(None, [test and f"TEST={test}", case and f"CASE={case}"]))
    hint = f"; similar: {', '.join(similar(ROOT, test))}" if test and similar(ROOT, test) else ""
    return f"no test ran: nothing matches {wanted or 'the folders'}{hint}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
