# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A cell and a seed to the plan of one run, as plan.h reads it: every draw is made here, from the seed and the flow's
label, so that cells of one seed have the same arrivals and sizes.

A link's rate counts a full packet as `run.packet` bytes, as the papers do; ours has 1,502 bytes on ns-3's links and
1,538 on the core's wire, and both are made as much faster, so that a packet takes the paper's time. Sizes of other
packets and of queues in bytes are scaled alike.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from downbeat_toe import quantities
from downbeat_toe.policies import find
from downbeat_toe.refused import Refused

from sim.experiments.engine import schema, transit_stub
from sim.experiments.engine.load import Policies
from sim.experiments.engine.schema import Draw, Experiment, Flow, SizeDraw, Traffic
from sim.experiments.engine.transit_stub import Graph
from sim.experiments.engine.units import MSS, PPP, WIRE

UDP = 28  # bytes of IPv4 and UDP headers
STUB_HOPS = 8  # of a way through a transit-stub, about
MOST_PATHS = 128  # of a star: each has a network prefix of its own
SHORT = 1000  # ns
ENDLESS = "100000p"  # a queue
LEAST_AHEAD = 128 * 1024  # bytes that an endless flow keeps at hand, at least
NS3 = {
    "ns3::TcpL4Protocol::RecoveryType": "ns3::TcpClassicRecovery",
    "ns3::TcpSocket::SegmentSize": str(MSS),
    "ns3::TcpSocket::SndBufSize": str(8 << 20),
    "ns3::TcpSocket::ConnTimeout": "1s",
    "ns3::TcpSocket::ConnCount": "15",
    "ns3::TcpSocket::DataRetries": "15",
    "ns3::TcpSocketBase::WindowScaling": "true",
    "ns3::TcpSocketBase::Timestamp": "false",
    "ns3::TcpSocketBase::MinRto": "1s",
    "ns3::TcpSocketBase::ClockGranularity": "1ms",
    "ns3::TcpSocketBase::LimitedTransmit": "false",
    "ns3::TcpSocketBase::UseEcn": "Off",
    # Kelly's and RFC 3649's growth; ns-3's own default is twice Kelly's.
    "ns3::TcpScalable::AIFactor": "100",
    # An ARP request leaves at once instead of up to 10 ms later.
    "ns3::ArpL3Protocol::RequestJitter": "ns3::ConstantRandomVariable[Constant=0]",
}


@dataclass
class _Writer:
    experiment: Experiment
    policies: Policies
    seed: int
    lines: list[str] = field(default_factory=list)
    graph: Graph | None = None  # of a transit-stub
    named: dict[str, int] = field(default_factory=dict)  # hosts
    routers: int = 0
    hosts: int = 0
    cores: int = 0

    def line(self, kind: str, **words: object) -> None:
        pairs = (
            f"{name.replace('_', '-')}={int(value) if isinstance(value, bool) else value}"
            for name, value in words.items()
        )
        self.lines.append(" ".join([kind, *pairs]))

    def draws(self, *about: object) -> random.Random:
        return random.Random(":".join(map(str, (self.experiment.name, self.seed, *about))))

    def wire_rate(self, rate: int) -> int:
        return round(rate * WIRE / self.experiment.run.packet)

    def link_rate(self, rate: int) -> int:
        return round(rate * PPP / self.experiment.run.packet)

    def at(self, place: int, draws: random.Random) -> int:
        """The router of an end: of a transit-stub, 1 is any of a stub domain."""
        return draws.choice(self.graph.stubs) if self.graph and place else place

    def host(self, router: int, access: schema.Access) -> int:
        self.line("host", at=router, rate=self.link_rate(access.rate), delay=access.delay)
        self.hosts += 1
        return self.hosts - 1

    def receivers(self, flow: Flow, draws: random.Random) -> list[int]:
        """The hosts that a flow's connections share; none: each has its own."""
        access = self.experiment.topology.access
        if not flow.host:
            return [self.host(self.at(flow.target, draws), access) for _ in range(flow.hosts)]
        if flow.host not in self.named:
            self.named[flow.host] = self.host(self.at(flow.target, draws), access)
        return [self.named[flow.host]]

    def source(self, flow: Flow, draws: random.Random) -> int:
        """A host or a core of its own that sends."""
        access = flow.access or self.experiment.topology.access
        return self.host(self.at(flow.origin, draws), access) if flow.sender == "ns-3" else self.core(flow, draws)

    def core(self, flow: Flow, draws: random.Random) -> int:
        access, router = flow.access or self.experiment.topology.access, self.at(flow.origin, draws)
        rate = min(flow.line or self.wire_rate(access.rate), schema.FASTEST_LINE)
        if flow.line:
            router = self.behind(router, access)
        self.line("core", at=router, rate=rate, delay=access.delay)
        self.cores += 1
        return self.cores - 1

    def behind(self, router: int, access: schema.Access) -> int:
        """A router whose link to that one has the access link's rate, and no delay to speak of."""
        self.line("link", a=self.routers, b=router, rate=self.link_rate(access.rate), delay=SHORT, queue=ENDLESS)
        self.routers += 1
        return self.routers - 1


def plan(experiment: Experiment, policies: Policies, seed: int) -> str:
    """The plan's text."""
    writer = _Writer(experiment, policies, seed)
    connections = [(flow, _arrivals(writer, flow)) for flow in experiment.flow]
    _topology(writer, sum(len(starts) for _, starts in connections))
    behind = 1  # of a star: the router of the next path
    bodies = []
    for flow, starts in connections:
        bodies.append(_flows(writer, flow, starts, behind))
        behind += len(starts) if experiment.topology.kind == "star" else 0
    traffic = [line for one in experiment.traffic for line in _traffic(writer, one)]
    run = experiment.run
    head = {"seed": seed, "duration": run.duration, "measure": run.measure, "sample": run.sample}
    head |= {"complete": int(run.complete), "routers": writer.routers}
    if run.warm_up:
        head["warm-up"] = run.warm_up
    if run.miss_weight != 2:
        head["miss-weight"] = run.miss_weight
    if run.marks:
        head["marks"] = ",".join(map(str, run.marks))  # type: ignore[assignment]
    if run.sizes:
        head["sizes"] = ",".join(map(str, run.sizes))  # type: ignore[assignment]
    first = " ".join(["run", *(f"{name}={value}" for name, value in head.items())])
    defaults = NS3 | {"ns3::TcpSocketBase::Sack": "true" if run.sack else "false"}
    told = [f"default {name} {value}" for name, value in sorted(defaults.items())]
    return "\n".join([first, *told, *writer.lines, *(line for body in bodies for line in body), *traffic, ""])


def base_rtt(experiment: Experiment, origin: int, target: int, access: schema.Access | None = None) -> int:
    """ns, without serialisation."""
    topology = experiment.topology
    hops = STUB_HOPS if topology.stubs else abs(origin - target)
    return 2 * (hops * topology.link.delay + (access or topology.access).delay + topology.access.delay)


def _topology(writer: _Writer, connections: int) -> None:
    topology = writer.experiment.topology
    pairs: Sequence[tuple[int, int]] = [(hop, hop + 1) for hop in range(topology.hops)]
    if topology.stubs:
        writer.graph = transit_stub.draw(writer.draws("network"), topology.stubs)
        pairs = writer.graph.pairs
    if topology.kind == "star":
        if connections > MOST_PATHS:
            raise Refused(f"{writer.experiment.name}: a star of {connections} paths, at most {MOST_PATHS}")
        pairs = [(0, 1 + path) for path in range(connections)]
    writer.routers = 1 + max(b for _, b in pairs)
    rate = writer.link_rate(topology.link.rate)
    queue = topology.link.queue
    product = rate * base_rtt(writer.experiment, 0, 1 if topology.kind == "star" else topology.hops) // (8 * 10**9)
    size = quantities.buffer(queue.size, product)
    if size.packets:
        text = f"{size.packets}p"
    elif "bdp" in queue.size.lower():
        text = f"{max(size.bytes, PPP)}B"
    else:
        text = f"{size.bytes * PPP // writer.experiment.run.packet}B"
    red = {"red_low": queue.low, "red_high": queue.high} if queue.discipline == "red" else {}
    draws = writer.draws("delays")
    for a, b in pairs:
        delay = topology.link.delay
        if topology.stubs:
            delay = round(delay * draws.uniform(0.5, 1.5))
        writer.line("link", a=a, b=b, rate=rate, delay=delay, loss=topology.link.loss, queue=text, **red)
        for change in topology.link.changes:
            writer.line("change", at=change.at, **_changed(writer, change))


def _changed(writer: _Writer, change: schema.LinkChange) -> dict[str, object]:
    words = {"rate": change.rate and writer.link_rate(change.rate), "delay": change.delay, "loss": change.loss}
    return {name: value for name, value in words.items() if value is not None}


def _arrivals(writer: _Writer, flow: Flow) -> list[int]:
    """When each connection begins, ns."""
    draws = writer.draws(flow.label, "start")
    if flow.every is None:
        return [_time(draws, flow.start) for _ in range(flow.count)]
    starts, now = [], _time(draws, flow.start)
    while now < writer.experiment.run.duration:
        starts.append(now)
        now += max(_time(draws, flow.every), 1)
    return starts


def _time(draws: random.Random, law: Draw) -> int:
    match law:
        case schema.Uniform():
            return round(draws.uniform(*law.uniform))
        case schema.Exponential():
            return round(draws.expovariate(1) * law.exponential)
        case schema.Pareto():
            return round(draws.paretovariate(law.pareto.shape) * law.pareto.mean * (1 - 1 / law.pareto.shape))
        case _:
            return law


def _size(draws: random.Random, law: SizeDraw) -> int:
    """Bytes, of the transfer."""
    return draws.randint(*law.uniform) if isinstance(law, schema.UniformSize) else law


def _flows(writer: _Writer, flow: Flow, starts: list[int], behind: int) -> list[str]:
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
            body += [_tell_line(writer, flow, change) for change in flow.changes]
    return body


def _begins(flow: Flow, start: int, gaps: random.Random) -> list[int]:
    """When the rounds of a connection begin, without their jitter, ns."""
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


def _flow_line(writer: _Writer, flow: Flow, source: int, host: int, start: int, stop: int) -> str:
    run, topology = writer.experiment.run, writer.experiment.topology
    words: dict[str, object] = {"label": flow.label, "core": int(flow.sender == "core"), "source": source, "host": host}
    words |= {"start": start, "stop": min(stop, run.duration), "initial-window": flow.initial_window}
    words |= {"ssthresh": flow.ssthresh or 0, "ack-every": 2 if flow.receiver.delayed_ack else 1}
    words |= {"ack-timeout": flow.receiver.ack_timeout, "rwnd": flow.receiver.rwnd}
    words["finish"] = int(flow.transfer is not None and (flow.rounds is None or flow.rounds.fresh))
    if flow.sender == "ns-3":
        words["tcp"] = flow.tcp
    else:
        startup, steady = find(writer.policies["startup"], flow.startup), find(writer.policies["steady"], flow.steady)
        words |= {"startup": startup.name, "steady": steady.name, "nssr": int(flow.nssr)}
        words |= {"reno-recovery": 1} if flow.recovery == "reno" else {}
        words |= _argument("startup", startup.argument(flow.startup_argument))
        words |= _argument("steady", steady.argument(flow.steady_argument))
        words |= {"estimate": flow.estimate, "observed": 1} if flow.estimate else {"observed": int(flow.observed)}
        rtt = base_rtt(writer.experiment, flow.origin, flow.target, flow.access)
        rate = writer.link_rate(topology.link.rate)
        queue = quantities.buffer(topology.link.queue.size, rate * rtt // (8 * 10**9))
        held = rate * rtt // (8 * 10**9) + queue.bytes + queue.packets * PPP
        words["ahead"] = max(2 * held, LEAST_AHEAD)
    return " ".join(["flow", *(f"{name}={value}" for name, value in words.items())])


def _argument(family: str, argument: int) -> dict[str, object]:
    low, high = argument & (1 << 64) - 1, argument >> 64
    return {f"{family}-low": low, f"{family}-high": high} if argument else {}


def _tell_line(writer: _Writer, flow: Flow, change: schema.Change) -> str:
    argument = find(writer.policies["steady"], flow.steady).argument(change.steady_argument)
    return f"tell at={change.at} low={argument & (1 << 64) - 1} high={argument >> 64}"


def _traffic(writer: _Writer, traffic: Traffic) -> list[str]:
    topology, packet = writer.experiment.topology, writer.experiment.run.packet
    sizes = ",".join(
        f"{max(round(quantities.size(size) * PPP / packet) - 2, UDP)}:{weight}"
        for size, weight in traffic.packets.items()
    )
    rates = traffic.rates or ((0, traffic.rate or 0),)
    steps = [(at, writer.link_rate(rate)) for at, rate in rates]
    mean = sum(quantities.size(size) * weight for size, weight in traffic.packets.items()) / sum(
        traffic.packets.values()
    )
    draws = writer.draws("traffic", traffic.kind, traffic.origin, traffic.target)
    body = []
    for _ in range(traffic.count):
        ends = {"from": f"r{traffic.origin}", "to": f"r{traffic.target}"}
        if traffic.at == "host":
            ends["from"] = f"h{writer.host(writer.at(traffic.origin, draws), topology.access)}"
            ends["to"] = f"h{writer.host(writer.at(traffic.target, draws), topology.access)}"
        # Each source begins at a time of its own within its interval.
        phase = round(draws.random() * 8e9 * mean / max(max(rate for _, rate in rates), 1))
        words: dict[str, object] = {"kind": traffic.kind, **ends, "sizes": sizes, "start": traffic.start + phase}
        words["rates"] = ",".join(f"{at}:{rate}" for at, rate in steps)
        if traffic.stop is not None:
            words["stop"] = traffic.stop
        if traffic.kind == "pareto":
            words |= {"on": traffic.on, "off": traffic.off, "shape": traffic.shape}
        body.append(" ".join(["traffic", *(f"{name}={value}" for name, value in words.items())]))
    return body
