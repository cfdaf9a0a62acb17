# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Random socket calls over the core have the outcomes of the kernel, or those that Linux documents."""

from __future__ import annotations

import os

from sw.tests.driver.fuzz import compare
from sw.tests.driver.process import Nic
from sw.tests.driver.programs import ports_free

SECONDS = 600.0 if os.environ.get("SOAK") else 8.0


def test_random_calls_of_threads_and_children(nic: Nic) -> None:
    found = compare.rounds(nic, int(os.environ.get("SEED") or 1), SECONDS)
    print(f"seed {found.seed}: {found.rounds} rounds, {found.calls} calls compared, {found.unsettled} unsettled")
    assert found.differences == []
    assert found.unsettled <= found.rounds  # a round has three lanes
    assert found.calls > 100 * found.rounds
    ports_free(nic)
