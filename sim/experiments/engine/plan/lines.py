# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A cell and a seed to the plan of one run, as plan.h reads it: every draw is made here, from the seed and the flow's
label, so that cells of one seed have the same arrivals and sizes.

A link's rate counts a full packet as `run.packet` bytes, as the papers do; ours has 1,502 bytes on ns-3's links and
1,538 on the core's wire, and both are made as much faster, so that a packet takes the paper's time. Sizes of other
packets and of queues in bytes are scaled alike.
"""

from __future__ import annotations

from sim.experiments.engine.plan import flows, pairs, traffic
from sim.experiments.engine.plan.network import links
from sim.experiments.engine.plan.writer import Writer
from sim.experiments.engine.schema.checks import Policies
from sim.experiments.engine.schema.experiment import Experiment
from sim.experiments.engine.schema.units import MSS

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


def plan(experiment: Experiment, policies: Policies, seed: int) -> str:
    """The plan's text."""
    writer = Writer(experiment, policies, seed)
    connections = [(flow, flows.arrivals(writer, flow)) for flow in experiment.flow]
    links(writer, sum(len(starts) for _, starts in connections))
    behind = 1  # in a star: the router of the next path
    bodies = []
    for flow, starts in connections:
        bodies.append(flows.lines(writer, flow, starts, behind))
        behind += len(starts) if experiment.topology.kind == "star" else 0
    others = [line for one in experiment.traffic for line in traffic.lines(writer, one)]
    others += [pairs.line(writer, one) for one in experiment.pairs]
    run = experiment.run
    head = {"seed": seed, "duration": run.duration, "measure": run.measure, "sample": run.sample}
    head |= {"complete": int(run.complete), "routers": writer.routers}
    if run.warm_up:
        head["warm-up"] = run.warm_up
    estimates = {flow.estimate for flow in experiment.flow}  # options of unused methods leave the plan as it is
    if run.miss_weight != 2 and "miss" in estimates:
        head["miss-weight"] = run.miss_weight
    if run.spand_lower_bound and "spand" in estimates:
        head["spand-lower-bound"] = 1
    if run.marks:
        head["marks"] = ",".join(map(str, run.marks))  # type: ignore[assignment]
    if run.sizes:
        head["sizes"] = ",".join(map(str, run.sizes))  # type: ignore[assignment]
    first = " ".join(["run", *(f"{name}={value}" for name, value in head.items())])
    defaults = NS3 | {"ns3::TcpSocketBase::Sack": "true" if run.sack else "false"}
    if run.preset == "ns2":
        defaults["ns3::TcpSocketBase::MinRto"] = "200ms"
    default_lines = [f"default {name} {value}" for name, value in sorted(defaults.items())]
    return "\n".join([first, *default_lines, *writer.lines, *(line for body in bodies for line in body), *others, ""])
