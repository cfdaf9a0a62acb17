# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Ports at the core's edge: several that listen at once, each with its own parameters, and ephemeral ones (RFC
6056)."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Any

import cocotb
from scapy.layers.inet import TCP

from cocotb_tests.bench import generator
from cocotb_tests.bench.layout import layout, number, policy
from cocotb_tests.bench.widths import end_widths_in_soak, run_width
from cocotb_tests.core.core import Core
from cocotb_tests.core.peer import Peer

MSS = 1460
OPTIONS: list[tuple[str, object]] = [("MSS", MSS), ("NOP", None), ("WScale", 7)]
SOON = 1_000_000  # ns: paced segments follow each other faster, timers expire later
ECT = 2


@end_widths_in_soak
def test_downbeat_ports(width: int) -> None:
    run_width("Downbeat", __name__, width)


@dataclass(frozen=True)
class Listener:
    port: int
    initial_window: int  # segments
    spacing: int  # ns per byte
    no_delay: bool
    ecn: bool

    def listen(self, core: Core) -> None:
        core.command(
            "listen",
            localPort=self.port,
            parameters_ssthresh=65536,
            parameters_initialWindow=self.initial_window,
            parameters_spacing=self.spacing << 32,
            parameters_noDelay=int(self.no_delay),
            parameters_ecn=int(self.ecn),
        )


LISTENERS = (
    Listener(80, 2, 0, no_delay=False, ecn=True),
    Listener(443, 10, 0, no_delay=True, ecn=False),
    Listener(8080, 4, 30, no_delay=True, ecn=True),
    Listener(65535, 7, 12, no_delay=False, ecn=False),
)


class Client(Peer):
    """A peer that asks for ECN, and its connection."""

    flow = -1
    granted = False  # ECN
    _ports = itertools.count(10_000)

    @classmethod
    async def knocks(cls, core: Core, port: int) -> tuple[Client, TCP]:
        """Asks for a connection; what the core answers."""
        client = cls(core, port=next(cls._ports), core_port=port)
        client.send("SEC", options=OPTIONS)
        reply = await client.receive()
        client.expected = (reply.seq + 1) % 2**32
        client.granted = "E" in reply.flags
        return client, reply

    async def enters(self) -> None:
        """The third segment of the handshake."""
        self.send("A")
        ports = None
        while ports != (self.port, self.core_port):  # skips notifications of other connections
            notification = await self.core.notified_of("established")
            ports = (notification["addresses_remotePort"], notification["addresses_localPort"])
        self.flow = notification["status_reference_flow"]

    @classmethod
    async def connected(cls, core: Core, port: int) -> Client:
        client, reply = await cls.knocks(core, port)
        assert set(str(reply.flags)) - {"E"} == {"S", "A"}
        assert dict(reply.options)["WScale"] == number("receiveWindowScale")
        await client.enters()
        return client

    async def flight(self) -> list[TCP]:
        """All that the core sends without another word."""
        found: list[TCP] = []
        await self.core.wire_in.drained()
        await self.core.writes.drained()
        while True:
            await self.core.idle()
            if not self.core.wire_out.stream.beats.empty():
                found.append(await self.receive())
                assert found[-1].dport == self.port
            elif int(self.core.dut.nextDeadline.value) - self.core.now < SOON:
                await self.core.jump()
            else:
                return found

    def acknowledge(self, segments: list[TCP]) -> None:
        for segment in segments:
            self.accept(segment)
        self.send("A")

    async def finds(self, listener: Listener) -> None:
        """The connection behaves as this listener's parameters say."""
        assert self.granted == listener.ecn
        self.launches.clear()
        self.core.write(self.flow, bytes(12 * MSS))
        first = await self.flight()
        assert [len(segment.data) for segment in first] == [MSS] * listener.initial_window
        assert all((segment.underlayer.tos == ECT) == listener.ecn for segment in first), "RFC 3168 5"
        if listener.spacing:
            gaps = [round(b - a) for a, b in itertools.pairwise(self.launches)]
            assert gaps == [listener.spacing * MSS] * (listener.initial_window - 1)
        segments = first
        while segments:
            self.acknowledge(segments)
            segments = await self.flight()
        assert len(self.received) % (12 * MSS) == 0
        self.core.write(self.flow, b"a")
        one = await self.flight()
        self.core.write(self.flow, b"b")
        other = await self.flight()
        assert (len(one), len(other)) == (1, int(listener.no_delay)), "RFC 9293 3.7.4"
        self.acknowledge(one + other)
        self.acknowledge(await self.flight())
        assert self.received[-2:] == b"ab"
        self.received.clear()


async def listening(dut: Any) -> Core:
    assert len(LISTENERS) == number("listeners")
    core = await Core.create(dut)
    for listener in LISTENERS:
        listener.listen(core)
    await core.commands.drained()
    await core.idle()
    return core


@cocotb.test()
async def an_accepted_connection_has_its_listeners_parameters(dut: Any) -> None:
    """Initial window, spacing, Nagle's algorithm and ECN of two connections to each of four ports, opened in any
    order."""
    core = await listening(dut)
    requested = [*LISTENERS, *LISTENERS]
    generator().shuffle(requested)
    clients = [(await Client.connected(core, listener.port), listener) for listener in requested]
    assert len({client.flow for client, _ in clients}) == len(requested)
    generator().shuffle(clients)
    for client, listener in clients:
        await client.finds(listener)


@cocotb.test()
async def a_port_that_listens_no_more_leaves_its_connections_and_the_other_ports(dut: Any) -> None:
    """One connection is established and one in its handshake when it ends; then it listens again, with other
    parameters."""
    core = await listening(dut)
    gone, other, *_ = LISTENERS
    established = await Client.connected(core, gone.port)
    begun, _ = await Client.knocks(core, gone.port)
    core.command("unlisten", localPort=gone.port)
    await core.commands.drained()
    await core.idle()

    _, reply = await Client.knocks(core, gone.port)
    assert reply.flags == "RA", "RFC 9293 3.10.7.1"
    await begun.enters()
    for client in (established, begun):
        await client.finds(gone)
    await (await Client.connected(core, other.port)).finds(other)

    again = replace(gone, initial_window=5, no_delay=True, ecn=False)
    again.listen(core)
    await core.commands.drained()
    await core.idle()
    await (await Client.connected(core, gone.port)).finds(again)
    core.write(established.flow, b"c")
    (segment,) = await established.flight()
    assert segment.underlayer.tos == ECT, "an older connection keeps its parameters"


@cocotb.test()
async def ephemeral_ports_are_dynamic_ones_that_nobody_uses(dut: Any) -> None:
    """RFC 6056 3.3.3: to one remote end one after the other, to others from elsewhere; and two may have the same
    one."""
    core = await listening(dut)
    ports: dict[int, list[int]] = {}
    for remote in (7, 7, 7, 8, 9, 10, 7):
        peer = Peer(core, port=remote)
        core.connect(port=remote)
        syn = await peer.accept_connection(OPTIONS)
        ports.setdefault(remote, []).append(syn.sport)
    assert all(port >= 32768 for each in ports.values() for port in each)
    steps = [b - a for a, b in itertools.pairwise(ports[7])]
    # Each search begins as many ports further as were tried for all remote ends.
    assert [step % 32768 for step in steps] == [1, 1, 4]
    firsts = [each[0] for each in ports.values()]
    assert len({(b - a) % 32768 for a, b in itertools.pairwise(firsts)}) == len(firsts) - 1


@cocotb.test()
async def policies_that_are_no_choice_are_refused_with_a_reason(dut: Any) -> None:
    """And the next command is done."""
    core = await Core.create(dut)
    aimd = policy("SteadyPolicy", "aimd")
    wrong = [
        ("open", {"parameters_steady": aimd, "parameters_steadyArgument": 1 << 24}, "policyArgument"),  # a = 0
        ("listen", {"parameters_steadyArgument": 1}, "policyArgument"),  # reno takes none
        ("setPolicies", {"parameters_startupArgument": 1 << 60}, "policyArgument"),
    ]
    number_of = max(layout()["policies"]["StartupPolicy"].values()) + 1
    if number_of < 1 << layout()["bundles"]["Command"]["fields"]["parameters_startup"]["width"]:
        wrong.append(("open", {"parameters_startup": number_of}, "unknownPolicy"))
    for request, (kind, fields, reason) in enumerate(wrong, 5):
        core.command(kind, request=request, localPort=80, remotePort=80, **fields)
        notification = await core.notified()
        assert (notification["refused"], notification["addresses_request"], notification["reason"]) == (
            1,
            request,
            reason,
        )
    peer = Peer(core, port=80)
    core.connect(port=80, steady="aimd", steady_argument=1 << 16)
    assert (await peer.receive()).flags == "S"
