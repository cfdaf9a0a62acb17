# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make bench NAME=upsets`: flips each bit of each memory of flows' state in turn, under random traffic;
build/reports/upsets.json."""

from __future__ import annotations

import os
import sys

from cocotb_tests import test_downbeat_upsets
from cocotb_tests.bench.results import CasesFailed
from cocotb_tests.bench.runner import BUILD

REPORT = BUILD / "reports" / "upsets.json"
LIMIT = 4 * 3600  # s


def main() -> int:
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.unlink(missing_ok=True)
    os.environ["SIM_CMD_PREFIX"] = f"timeout {LIMIT}"
    os.environ["COCOTB_TEST_FILTER"] = "one_flip"
    try:
        test_downbeat_upsets.run(everything=str(REPORT))
    except CasesFailed as failure:
        print(failure, file=sys.stderr)
        return 1
    print(REPORT.read_text(), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
