# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Plans that share their warm-up may differ in some parts."""

from __future__ import annotations

from sim.experiments.engine.runs.warm_up import shared


def test_a_flow_before_the_end_of_the_warm_up_keeps_runs_apart() -> None:
    head = "run seed=1 duration=10 warm-up=5\n"
    one, other = (f"{head}flow label=a start=1 startup={startup}\n" for startup in ("standard", "hoe"))
    early, late = (f"{head}flow label=a start={start}\n" for start in (4, 5))
    assert shared(one) != shared(other) and shared(early) != shared(late)
    assert shared(one.replace(" warm-up=5", "")) == one.replace(" warm-up=5", "")
