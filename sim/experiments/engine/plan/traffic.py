# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The lines of traffic that no TCP sends."""

from __future__ import annotations

from downbeat_toe import quantities

from sim.experiments.engine.plan.writer import Writer
from sim.experiments.engine.schema.traffic import Traffic
from sim.experiments.engine.schema.units import PPP

UDP = 28  # bytes of IPv4 and UDP headers


def lines(writer: Writer, traffic: Traffic) -> list[str]:
    hops = range(writer.experiment.topology.hops)
    ends = [(hop, hop + 1) for hop in hops] if traffic.each_hop else [(traffic.origin, traffic.target)]
    return [line for origin, target in ends for line in _between(writer, traffic, origin, target)]


def _between(writer: Writer, traffic: Traffic, origin: int, target: int) -> list[str]:
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
    draws = writer.draws("traffic", traffic.kind, origin, target)
    body = []
    for _ in range(traffic.count):
        ends = {"from": f"r{origin}", "to": f"r{target}"}
        if traffic.at == "host":
            ends["from"] = f"h{writer.host(writer.at(origin, draws), topology.access)}"
            ends["to"] = f"h{writer.host(writer.at(target, draws), topology.access)}"
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
