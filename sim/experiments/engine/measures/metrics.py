# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Numbers of one run by name, in the papers' units: packets are full segments, a throughput counts a packet as the
paper's links do."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from statistics import fmean, median
from typing import Any

from sim.experiments.engine.measures import traces
from sim.experiments.engine.plan.network import base_rtt
from sim.experiments.engine.schema.experiment import Experiment
from sim.experiments.engine.schema.measures import Measure
from sim.experiments.engine.schema.units import MSS, seconds

Flow = dict[str, Any]
FIRST_INTERVALS = 80  # length of four steady decisions of Carson
EARLY = 10  # round trips
FULL, STRETCH = 0.99, 1.0  # share of the available rate, and seconds for which it lasts


def measure(experiment: Experiment, run: dict[str, Any], what: Measure) -> float:
    """NaN where the run has no value."""
    if what.metric in ("drops", "goodput", "queue", "max_queue", "utilisation"):
        return _of_link(experiment, run, what)
    if what.metric == "arrival_gap":  # ms
        return 1e3 * _together(traces.arrival_gaps(run, what.label, what.gap / 1e9), what.statistic)
    flows = [(number, flow) for number, flow in enumerate(run["flows"]) if what.label in ("", flow["label"])]
    values = [value for number, flow in flows for value in _values(experiment, run, what, number, flow)]
    if what.metric == "jain":
        squares = sum(value * value for value in values)
        return sum(values) ** 2 / (len(values) * squares) if squares else 0.0
    return _together(values, what.statistic)


def _together(values: Sequence[float], statistic: str) -> float:
    if not values:
        return 0.0 if statistic == "sum" else float("nan")
    together: dict[str, Callable[[Sequence[float]], float]] = {
        "mean": fmean,
        "median": median,
        "sum": sum,
        "min": min,
        "max": max,
        "p90": lambda all_: sorted(all_)[round(0.9 * (len(all_) - 1))],
    }
    return float(together[statistic](values))


def _of_link(experiment: Experiment, run: dict[str, Any], what: Measure) -> float:
    link = run["links"][what.link]
    names = {"drops": "dropped", "queue": "mean_packets", "max_queue": "max_packets"}
    if what.metric in names:
        return float(link[names[what.metric]])
    if what.metric == "goodput":  # share of the packets at the queue that leaves it
        return 1 - link["dropped"] / link["arrived"] if link["arrived"] else float("nan")
    label = what.label
    sent = [_rate(experiment, run, what, n, f) for n, f in enumerate(run["flows"]) if label in ("", f["label"])]
    return sum(sent) / (experiment.topology.link.rate / 1e6)


def _values(experiment: Experiment, run: dict[str, Any], what: Measure, number: int, flow: Flow) -> list[float]:
    size = flow["segment_size"]
    if flow["established"] < 0:
        return [0.0] if what.metric == "jain" and flow["opened"] >= 0 else []
    match what.metric:
        case "packets_at":
            return [flow["at_marks"][experiment.run.marks.index(what.mark)] / size]
        case "seconds_to":
            return [float(at) for at in flow["at_sizes"][experiment.run.sizes.index(what.size) :][:1]]
        case "packets":
            return [flow["acknowledged"] / size]
        case "throughput" | "jain":
            return [_rate(experiment, run, what, number, flow)]
        case "loss_interval":
            return [fmean(flow["intervals"])] if flow["intervals"] else []
        case "first_intervals":
            return [fmean(flow["intervals"][:FIRST_INTERVALS])] if flow["intervals"] else []
        case "completion":
            return _completions(flow)
        case "transfer_rate":
            bits = 8e-6 * experiment.run.packet / size * flow["total"]
            return [bits / seconds for seconds in _completions(flow)] if len(flow["begun"]) == 1 else []
        case "exit_window":
            return [flow["exit_before"]] if flow["exit"] else []
        case "exit_share":
            path = experiment.topology.link.rate * base_rtt(experiment, 0, 1) / (8e9 * experiment.run.packet)
            return [flow["exit_before"] / path] if flow["exit"] else []
        case "estimate":
            return _estimate(experiment, what, flow)
        case "capacity" | "available":
            return _measured(experiment, what, flow)
        case "seconds_to_full":
            return _seconds_to_full(experiment, run, number, flow)
        case "seconds_to_window":
            return _seconds_to_window(run, what, number, flow)
        case "inverted_share":
            return [traces.inverted_share(flow["trace"])]
        case "max_per_ack":
            return [float(traces.max_per_ack(flow["trace"]))]
        case "established":
            return [flow["established"] - flow["opened"]]
        case _:
            return [float(flow[what.metric])]


def _estimate(experiment: Experiment, what: Measure, flow: Flow) -> list[float]:
    """Estimate in packets. A policy without one leaves slow start at its first ssthresh or by a loss."""
    flow_file = next(each for each in experiment.flow if each.label == flow["label"])
    if flow_file.estimated_by == "ssthresh":
        return [flow["estimate"] or flow["exit_after"]] if flow["estimate"] or flow["exit"] else []
    assert flow_file.ssthresh is not None
    lost = flow["exit_time"] if flow["exit"] in ("loss", "timeout") else math.inf
    rates = traces.rates(flow["trace"], flow_file.estimated_by)
    reached = next((at for at, _, window in rates if window >= flow_file.ssthresh / MSS), math.inf)
    rounds = flow_file.estimated_after if what.rounds is None else what.rounds
    read = min(reached, lost) + rounds * flow["smallest_rtt"]
    return [rate for at, rate, _ in rates if at <= read][-1:] if read < math.inf else []


def _completions(flow: Flow) -> list[float]:
    begun = [max(at, flow["established"]) for at in flow["begun"]]
    return [done - at for at, done in zip(begun, flow["done"], strict=False)]


def _measured(experiment: Experiment, what: Measure, flow: Flow) -> list[float]:
    """Result of inline measurement ten round trips after establishment, Mb/s of the paper's packets."""
    known = bisect_right(flow["measured_at"], EARLY * flow["smallest_rtt"])
    rates = flow["capacities" if what.metric == "capacity" else "availables"][:known]
    return [rates[-1] * 8e-6 * experiment.run.packet / flow["segment_size"]] if rates else [0.0]


def _rate(experiment: Experiment, run: dict[str, Any], what: Measure, number: int, flow: Flow) -> float:
    """Throughput in Mb/s of the paper's packets, over the measured time, or from `begin` to `end` of the series."""
    bits = 8 * experiment.run.packet / flow["segment_size"]
    if not what.begin and not what.end:
        return float(flow["acknowledged"] * bits / flow["seconds"] / 1e6) if flow["seconds"] else 0.0
    times = run["samples"]["seconds"]
    end = seconds(what.end) if what.end else times[-1]
    first = max(bisect_right(times, seconds(what.begin)) - 1, 0)
    last = max(bisect_right(times, end) - 1, 0)
    took = times[last] - times[first]
    sent = run["samples"]["progress"][last][number] - run["samples"]["progress"][first][number]
    return float(sent * bits / took / 1e6) if took > 0 else 0.0


def _seconds_to_window(run: dict[str, Any], what: Measure, number: int, flow: Flow) -> list[float]:
    """Seconds from establishment to the first sample with such a window."""
    samples = zip(run["samples"]["seconds"], run["samples"]["windows"], strict=True)
    since = ((at - flow["established"], windows[number]) for at, windows in samples)
    return [at for at, window in since if at >= 0 and window >= what.reached][:1]


def _seconds_to_full(experiment: Experiment, run: dict[str, Any], number: int, flow: Flow) -> list[float]:
    """Seconds from establishment to the first whole second in which 99 % of the link's free rate arrives."""
    link = experiment.topology.link.rate
    taken = sum((traffic.rate or 0) * traffic.count for traffic in experiment.traffic)
    wanted = FULL * (link - taken) / (8 * experiment.run.packet) * flow["segment_size"] * STRETCH
    times, progress = run["samples"]["seconds"], run["samples"]["progress"]
    for first, at in enumerate(times):
        last = bisect_right(times, at + STRETCH) - 1
        if times[last] < at + 0.999 * STRETCH:
            return []
        if progress[last][number] - progress[first][number] >= wanted:
            return [at - flow["established"]]
    return []
