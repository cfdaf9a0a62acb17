# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The links of a plan, with the delay and the capacity of a path through them."""

from __future__ import annotations

from collections.abc import Sequence

from downbeat_toe import quantities
from downbeat_toe.refused import Refused

from sim.experiments.engine.plan import transit_stub
from sim.experiments.engine.plan.writer import Writer
from sim.experiments.engine.schema.experiment import Experiment
from sim.experiments.engine.schema.flow import Flow
from sim.experiments.engine.schema.topology import Access, LinkChange
from sim.experiments.engine.schema.units import PPP

STUB_HOPS = 8  # hops of a mean path through a transit-stub
MAX_PATHS = 128  # paths of a star: each has its own network prefix


def base_rtt(experiment: Experiment, origin: int, target: int, access: Access | None = None) -> int:
    """Round-trip time in ns, without serialisation."""
    topology = experiment.topology
    hops = STUB_HOPS if topology.stubs else abs(origin - target)
    return 2 * (hops * topology.link.delay + (access or topology.access).delay + topology.access.delay)


def held(writer: Writer, flow: Flow) -> int:
    """Bytes that a flow has on its way when one queue is full."""
    link = writer.experiment.topology.link
    rtt = base_rtt(writer.experiment, flow.origin, flow.target, flow.access)
    product = writer.link_rate(link.rate) * rtt // (8 * 10**9)
    queue = quantities.buffer(link.queue.size, product)
    return product + queue.bytes + queue.packets * PPP


def links(writer: Writer, connections: int) -> None:
    """Writes the links between routers, with their changes; it numbers the routers."""
    topology, link = writer.experiment.topology, writer.experiment.topology.link
    pairs: Sequence[tuple[int, int]] = [(hop, hop + 1) for hop in range(topology.hops)]
    if topology.stubs:
        writer.graph = transit_stub.draw(writer.draws("network"), topology.stubs)
        pairs = writer.graph.pairs
    if topology.kind == "star":
        if connections > MAX_PATHS:
            raise Refused(f"{writer.experiment.name}: a star of {connections} paths, at most {MAX_PATHS}")
        pairs = [(0, 1 + path) for path in range(connections)]
    writer.routers = 1 + max(b for _, b in pairs)
    rate, queue = writer.link_rate(link.rate), _queue(writer)
    red = {"red_low": link.queue.low, "red_high": link.queue.high} if link.queue.discipline == "red" else {}
    draws = writer.draws("delays")
    for a, b in pairs:
        delay = round(link.delay * draws.uniform(0.5, 1.5)) if topology.stubs else link.delay
        writer.line("link", a=a, b=b, rate=rate, delay=delay, loss=link.loss, queue=queue, **red)
        for change in link.changes:
            writer.line("change", at=change.at, **_changed(writer, change))


def _queue(writer: Writer) -> str:
    """The size of a link's queue, which holds as many packets as the paper's."""
    topology, link = writer.experiment.topology, writer.experiment.topology.link
    way = base_rtt(writer.experiment, 0, 1 if topology.kind == "star" else topology.hops)
    size = quantities.buffer(link.queue.size, writer.link_rate(link.rate) * way // (8 * 10**9))
    if size.packets:
        return f"{size.packets}p"
    if "bdp" in link.queue.size.lower():
        return f"{max(size.bytes, PPP)}B"
    return f"{size.bytes * PPP // writer.experiment.run.packet}B"


def _changed(writer: Writer, change: LinkChange) -> dict[str, object]:
    words = {"rate": change.rate and writer.link_rate(change.rate), "delay": change.delay, "loss": change.loss}
    return {name: value for name, value in words.items() if value is not None}
