# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The lines of a flow's connections: when each begins, what it sends, and how."""

from __future__ import annotations

import itertools
import random

from downbeat_toe.policies import find

from sim.experiments.engine.plan.network import held
from sim.experiments.engine.plan.writer import Writer
from sim.experiments.engine.schema.draws import Draw, Exponential, Pareto, SizeDraw, Uniform, UniformSize
from sim.experiments.engine.schema.flow import Change, Flow

MIN_AHEAD = 128 * 1024  # minimum of the bytes that an endless flow keeps ready to send


def arrivals(writer: Writer, flow: Flow) -> list[int]:
    """Start of each connection, ns."""
    draws = writer.draws(flow.label, "start")
    if flow.every is None:
        return [_time(draws, flow.start) for _ in range(1 if flow.count is None else flow.count)]
    starts: list[int] = []
    now = _time(draws, flow.start)
    while now < writer.experiment.run.duration and len(starts) != flow.count:
        starts.append(now)
        now += max(_time(draws, flow.every), 1)
    return starts


def _time(draws: random.Random, law: Draw) -> int:
    match law:
        case Uniform():
            return round(draws.uniform(*law.uniform))
        case Exponential():
            return round(draws.expovariate(1) * law.exponential)
        case Pareto():
            return round(draws.paretovariate(law.pareto.shape) * law.pareto.mean * (1 - 1 / law.pareto.shape))
        case _:
            return law


def _size(draws: random.Random, law: SizeDraw) -> int:
    """Bytes of the transfer."""
    return draws.randint(*law.uniform) if isinstance(law, UniformSize) else law


def lines(writer: Writer, flow: Flow, starts: list[int], behind: int) -> list[str]:
    """The lines of a flow's connections; its hosts and cores are written at once."""
    topology = writer.experiment.topology
    star = topology.kind == "star"
    places = writer.draws(flow.label, "place")
    shared = writer.receivers(flow, places)
    draws = writer.draws(flow.label, "host"), writer.draws(flow.label, "life"), writer.draws(flow.label, "size")
    core = writer.core(flow, places) if flow.sender == "core" and flow.cores == "one" else -1
    body: list[str] = []
    rounds = flow.rounds.count if flow.rounds and flow.rounds.fresh else 1
    for number, start in enumerate(starts):
        target = behind + number if star else writer.at(flow.target, places)
        host = draws[0].choice(shared) if shared else writer.host(target, topology.access)
        source = core if core >= 0 else writer.source(flow, places)
        stop = -1 if flow.lifetime is None else start + _time(draws[1], flow.lifetime)
        jitter, gaps = writer.draws(flow.label, "round", number), writer.draws(flow.label, "gap", number)
        begins = _begins(flow, start, gaps)
        for fresh in range(rounds):
            writes = _writes(flow, begins, fresh, jitter, draws[2])
            begin = writes[0][0] if flow.rounds and writes else start
            body.append(_flow_line(writer, flow, source, host, begin, stop))
            body += [f"write at={at} bytes={size}" for at, size in writes]
            body += [_argument_line(writer, flow, change) for change in flow.changes]
    return body


def _begins(flow: Flow, start: int, gaps: random.Random) -> list[int]:
    """Starts of a connection's rounds without their jitter, ns."""
    if flow.rounds is None:
        return [start]
    between = (_time(gaps, flow.rounds.gap) for _ in range(flow.rounds.count - 1))
    return list(itertools.accumulate(between, initial=start))


def _writes(
    flow: Flow, begins: list[int], fresh: int, jitter: random.Random, sizes: random.Random
) -> list[tuple[int, int]]:
    if flow.transfer is None:
        return []
    if flow.rounds is None:
        return [(begins[0], _size(sizes, flow.transfer))]
    numbers = [fresh] if flow.rounds.fresh else list(range(flow.rounds.count))
    return [
        (begins[number] + round(jitter.uniform(0, flow.rounds.jitter)), _size(sizes, flow.transfer))
        for number in numbers
    ]


def _flow_line(writer: Writer, flow: Flow, source: int, host: int, start: int, stop: int) -> str:
    words: dict[str, object] = {"label": flow.label, "core": int(flow.sender == "core"), "source": source, "host": host}
    words |= {"start": start, "stop": min(stop, writer.experiment.run.duration), "initial-window": flow.initial_window}
    words |= {"ssthresh": flow.ssthresh or 0, "ack-every": 2 if flow.receiver.delayed_ack else 1}
    words |= {"ack-timeout": flow.receiver.ack_timeout, "rwnd": flow.receiver.rwnd}
    words |= {"trace": 1} if flow.trace else {}
    words["finish"] = int(flow.transfer is not None and (flow.rounds is None or flow.rounds.fresh))
    if flow.sender == "ns-3":
        words["tcp"] = flow.tcp
    else:
        startup, steady = find(writer.policies["startup"], flow.startup), find(writer.policies["steady"], flow.steady)
        words |= {"startup": startup.name, "steady": steady.name, "nssr": int(flow.nssr)}
        words |= {f"{flow.recovery}-recovery": 1} if flow.recovery != "newreno" else {}
        words |= _argument("startup", startup.argument(flow.startup_argument))
        words |= _argument("steady", steady.argument(flow.steady_argument))
        words |= {"estimate": flow.estimate, "observed": 1} if flow.estimate else {"observed": int(flow.observed)}
        words["ahead"] = max(2 * held(writer, flow), MIN_AHEAD)
    return " ".join(["flow", *(f"{name}={value}" for name, value in words.items())])


def _argument(family: str, argument: int) -> dict[str, object]:
    low, high = argument & (1 << 64) - 1, argument >> 64
    return {f"{family}-low": low, f"{family}-high": high} if argument else {}


def _argument_line(writer: Writer, flow: Flow, change: Change) -> str:
    argument = find(writer.policies["steady"], flow.steady).argument(change.steady_argument)
    return f"argument at={change.at} low={argument & (1 << 64) - 1} high={argument >> 64}"
