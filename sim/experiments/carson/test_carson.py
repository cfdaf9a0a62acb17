# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Carson's report, and the network that it is measured on."""

from __future__ import annotations

import json

from sim.experiments.carson.__main__ import CASES, experiment, judge, table


def test_each_case_is_an_experiment_of_the_engine() -> None:
    for case in CASES:
        for policies in case.runs:
            made = experiment(case, policies, argument=1)
            assert [flow.steady for flow in made.flow] == list(policies)
            assert made.run.duration == case.duration * 1e9 and made.topology.link.queue.size == f"{case.queue} packets"


def test_a_report_of_one_seed_is_json() -> None:
    quantities = {"window": {"carson": 28.0, "reno": 25.0}, "speed": {"carson": 1.0, "reno": 1.0}}
    quantities |= {name: {"carson": 600.0, "reno": 450.0} for name in ("interval", "first 80 intervals")}
    rows = judge(CASES[0], [quantities])
    told = json.dumps(rows, allow_nan=False)
    assert json.loads(told)[0]["confidence_95"] == [None, None]
    assert {row["within"] for row in rows} == {False}
    assert table(rows).row_count == len(rows)
