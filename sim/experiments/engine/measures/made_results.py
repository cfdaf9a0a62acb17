# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Results of runs as downbeat_experiment prints them, made by hand for tests: times in seconds, progress in bytes."""

from __future__ import annotations

from typing import Any

from sim.experiments.engine.measures import judge


def flow(packets: float, **more: Any) -> dict[str, Any]:
    size = 1460
    flow_result: dict[str, Any] = {
        "label": "a",
        "segment_size": size,
        "established": 0.1,
        "opened": 0.0,
        "seconds": 2.0,
    }
    flow_result |= {
        "at_marks": [packets * size],
        "acknowledged": packets * size,
        "intervals": [],
        "begun": [],
        "done": [],
    }
    return flow_result | {"exit": "loss", "exit_before": 6.0, "exit_after": 3.0, "estimate": 0, "window": 5.0} | more


def run(*flows: dict[str, Any], **samples: Any) -> dict[str, Any]:
    link = {"arrived": 10, "dropped": 1, "mean_packets": 2.5, "max_packets": 4}
    return {"failure": "", "links": [link], "flows": list(flows), "samples": samples}


def results(low: float, high: float) -> judge.Results:
    return {(("rate", "2 Mb/s"),): [run(flow(low))], (("rate", "4 Mb/s"),): [run(flow(high))]}
