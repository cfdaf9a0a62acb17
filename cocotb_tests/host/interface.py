# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Surroundings of `HostInterface` alone, drawn clock by clock: programs, memory of the rings, directory and engine. The
golden model (sim/golden/host/ports.py) judges each doorbell and command, and says which beats and entries follow."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass
from typing import Any

from cocotb.triggers import RisingEdge

from cocotb_tests.bench import generator
from cocotb_tests.bench.layout import element as core_element
from cocotb_tests.bench.layout import number as size_of
from cocotb_tests.bench.layout import policy
from cocotb_tests.bench.ports import StreamPorts
from cocotb_tests.host.format import host_format, name_of
from cocotb_tests.host.interrupts import Interrupts
from cocotb_tests.host.notices import Notices, Seen
from cocotb_tests.host.rings import Rings, base
from sim.golden.host.ports import ENDS, MASK, SILENT, Command, HostPorts, Verdict

PORTS = 2
INDEXES = ("commandTail", "notificationHead", "notificationHeadArm")


def decoded(entry: bytes) -> Command:
    """A command's entry: unknown opcodes before reserved bits before fields that this build has not."""
    fields = host_format()["tables"]["command"]
    word = int.from_bytes(entry, "little")
    values = {name: word >> 8 * each["offset"] & (1 << each["bits"]) - 1 for name, each in fields.items()}
    meant = sum((1 << each["used"]) - 1 << 8 * each["offset"] for each in fields.values())
    opcodes = {value: name for name, value in host_format()["enums"]["HostOpcode"].items()}
    opcode = opcodes.get(values["opcode"], "none")
    fault = ""
    if opcode == "none":
        fault = "opcode"
    elif word & ~meant:
        fault = "reserved"
    elif values["initialWindow"] > 255 or values["pace"] > 2:
        fault = "field"
    known = (
        policy("StartupPolicy", "resume") >= values["startup"]
        and policy("SteadyPolicy", "westwood") >= values["steady"]
    )
    return Command(
        opcode,
        values["request"],
        values["flow"],
        values["generation"],
        fault,
        "" if known else "unknownPolicy",
        values["userTimeout"] << 16 | values["keepAlive"],
    )


def _fires(ports: Any) -> bool:
    return bool(ports.valid.value == 1 and ports.ready.value == 1)


@dataclass
class Index:
    """The doorbell of a ring's index that is being judged."""

    fired: int  # clock
    port: int
    kind: str
    value: int
    error: str = ""


@dataclass
class Doing:
    """A command that the port is doing. `acted`: directory or engine have heard of it; `reply`: their CloseReason."""

    port: int
    command: Command
    verdict: Verdict
    acted: bool = False
    reply: str = ""


class Interface:
    """The module with its surroundings. `stall`: share of clocks in which a ready or a response is held back."""

    def __init__(self, dut: Any, *, stall: float = 0.0) -> None:
        self.dut, self.stall, self.draw = dut, stall, generator()
        self.clock, self.now = 0, 1000
        self.flows = size_of("flows")
        self.model = HostPorts(PORTS, self.flows, size_of("sendBufferBytes"))
        self.counts: Counter[str] = Counter()
        self.notices = Notices(self.model, self.counts)
        self.rings = Rings(dut, self.notices, self.draw)
        self.interrupts = Interrupts(self.model.ports, self.counts)
        names = ("doorbells", "opened", "sends", "receives", "status", "reports", "started", "refusals")
        self.into = {name: StreamPorts(dut, name) for name in names}
        self.out = {name: StreamPorts(dut, name) for name in ("opens", "listens", "policies", "events")}
        for ports in self.into.values():
            ports.valid.value = 0
        self.todo: dict[str, deque[dict[str, int]]] = {name: deque() for name in names}
        self.offered: set[str] = set()  # streams whose beat was seen and is not taken
        self.paused: set[str] = set()  # channels of the rings' bus, and streams to the engine, that the test holds back
        self.addresses = [dict.fromkeys(("request", "remoteIp", "remotePort", "localPort", "passive"), 0)] * self.flows
        self.doing: Doing | None = None
        self.index: Index | None = None
        self.data: tuple[int, dict[str, int]] | None = None  # clock and beat of the doorbell of a position
        self.fields: dict[str, int] = {}  # the newest doorbell
        self.touched: dict[int, int] = {}  # flow: clock of its newest doorbell
        self.alive = [False] * PORTS
        self.starts = [0] * PORTS
        self.sizes = [(1, 1)] * PORTS
        self.running_ends: dict[int, int] = {}  # port: first clock in which it runs no more

    def put(self, name: str, **values: int) -> None:
        """A beat for a port; fields that are not given are 0."""
        fields = self.into[name].fields
        beat = {each: values.pop(each, 0) for each in fields}
        assert not values, f"{name} has no {values}"
        self.todo[name].append(beat)

    def set_up(self, port: int, enable: bool, *, commands: int = 1, notifications: int = 1, hold_off: int = 0) -> None:
        for name, value in (
            ("commandBase", base(port, "command")),
            ("notificationBase", base(port, "notification")),
            ("commandSize", commands),
            ("notificationSize", notifications),
            ("holdOff", hold_off),
            ("enable", int(enable)),
        ):
            getattr(self.dut, f"setUp_{port}_{name}").value = value
        self.interrupts.hold_off[port] = hold_off
        if enable:
            self.sizes[port] = (commands, notifications)
        elif self.model.ports[port].running:
            self.running_ends.setdefault(port, self.clock + 2)

    # ---- a clock

    async def step(self) -> None:
        """One clock: reads what was, then drives what will be."""
        await RisingEdge(self.dut.clk)
        self.clock += 1
        self._ports()
        self._index_verdict()
        self._inputs()
        self._data_verdict()
        self._positions()
        self._outputs()
        self._bus()
        before = self.notices.history[-2].now if self.clock > 1 else self.now
        self.interrupts.step(self.clock, self.now, before, self.value("interrupt"))
        self._doorbell()
        self._drive()

    def bit(self, name: str) -> bool:
        return bool(getattr(self.dut, name).value == 1)

    def value(self, name: str) -> int:
        return int(getattr(self.dut, name).value)

    def _ports(self) -> None:
        for index, port in enumerate(self.model.ports):
            alive = self.bit(f"shown_{index}_running")
            if alive and not self.alive[index]:
                self.model.start(index, *self.sizes[index])
                port = self.model.ports[index]
                self.starts[index] += 1
                self.running_ends.pop(index, None)
                self.interrupts.disarm(index)
                self.notices.port_starts(index)
            self.alive[index] = alive
            if self.clock >= self.running_ends.get(index, self.clock + 1):
                port.running = False
                self.interrupts.disarm(index)
            head = self.value(f"shown_{index}_commandHead")
            if head != port.command_head:
                assert head == (port.command_head + 1) & MASK, f"port {index}: {head} commands are done"
                self._done(index)
                port.command_head = head
            assert self.value(f"shown_{index}_notificationTail") == port.written
            self.notices.unreported_are(index, self.value(f"shown_{index}_errorsUnreported"))
        self.notices.remember(self.clock, self.now)

    # ---- doorbells

    def _index_verdict(self) -> None:
        index = self.index
        if index is None:
            return
        each = self.model.ports[index.port]
        if self.clock == index.fired + 1:
            kept = each.errors, each.command_tail, each.read
            index.error = self.model.index(index.port, index.kind, index.value)
            each.errors, each.command_tail, each.read = kept
        elif self.clock == index.fired + 2:
            self.index = None
            if not each.running:
                return
            if index.error:
                each.errors += 1
                self._refused(index.port, reason=index.error, state=index.kind, value=index.value)
            elif index.kind == "commandTail":
                each.command_tail = index.value
            else:
                each.read = index.value
                self.interrupts.head_moves(index.port, self.clock, index.kind == "notificationHeadArm")
                self.counts[index.kind] += 1

    def _refused(self, port: int, **values: Any) -> None:
        self.notices.expect_error(port, flow=self.fields["flow"], generation=self.fields["generation"], **values)

    def _data_verdict(self) -> None:
        if self.data is None or self.clock != self.data[0] + 1:
            return
        beat, self.data = self.data[1], None
        kind = name_of("HostSource", beat["kind"])
        port, value = beat["port"], beat["value"]
        error = self.model.data(port, kind, beat["flow"], beat["generation"], value, beat["reserved"], beat["urgent"])
        if error:
            self._refused(port, reason=error, state=kind, value=value)
        else:
            self.counts[kind] += 1

    def _doorbell(self) -> None:
        ports = self.into["doorbells"]
        if not _fires(ports):
            return
        beat = ports.read()
        self.fields = beat
        self.touched[beat["flow"]] = self.clock
        kind = name_of("HostSource", beat["kind"])
        if kind in INDEXES:
            self.index = Index(self.clock, beat["port"], kind, beat["value"])
        else:
            self.data = (self.clock, beat)

    # ---- input of directory and engine

    def _inputs(self) -> None:
        for name in ("opened", "status", "reports"):
            ports = self.into[name]
            if ports.valid.value != 1:
                continue
            beat = ports.read()
            if name == "opened":
                self.model.opened(beat["flow"], beat["generation"], beat["owner"])
                if beat["active"] and beat["owner"]:
                    self.notices.places[beat["owner"] - 1] -= 1
            else:
                flow = beat["reference_flow"]
                held = self.notices.statuses if name == "status" else self.notices.reports
                held[flow].append(Seen(self.clock, self.model.flows[flow].owner, beat))
                if name == "status":
                    self.model.status(flow, beat, name_of("HostTcpState", beat["state"]))
        refusals = self.into["refusals"]
        if _fires(refusals):
            beat = refusals.read()
            reason = name_of("HostCloseReason", beat["reason"])
            self.notices.expect_refusal(beat["owner"] - 1, request=beat["request"], reason=reason)

    def _positions(self) -> None:
        """First numbers: a flow that is looked at in the same clock still has the old ones."""
        for name in ("sends", "receives"):
            ports = self.into[name]
            if ports.valid.value == 1:
                beat = ports.read()
                each = self.model.flows[beat["flow"]]
                position = each.written if name == "sends" else each.consumed
                position.rung = position.reported = beat["sequence_value"]

    # ---- output to engine and directory

    def _outputs(self) -> None:
        for name, ports in self.out.items():
            if ports.valid.value != 1:
                self.offered.discard(name)
                continue
            if name not in self.offered:
                getattr(self, f"_{name}")(ports.read())
            fires = _fires(ports)
            if fires and name == "policies":
                beat = ports.read()
                if beat.get("begins"):
                    accepted = self.draw.random() < 0.5
                    self._now_doing().reply = "none" if accepted else "inFlight"
                    self.put("started", accepted=int(accepted), owner=beat["owner"])
            if fires and name in ("opens", "listens"):
                self.replies(name, ports.read())
            (self.offered.discard if fires else self.offered.add)(name)

    def replies(self, name: str, beat: dict[str, int]) -> None:
        """The directory's reply to an open or a listen; a test may have another."""
        owner = beat.get("parameters_owner", 0)
        reason = core_element(
            "CloseReason", self.draw.choice(("none", "addressInUse")) if name == "listens" else "timedOut"
        )
        self.put("refusals", request=beat["request"], owner=owner, reason=reason)

    def _now_doing(self) -> Doing:
        assert self.doing is not None, "something is done, and no command was read"
        return self.doing

    def _events(self, beat: dict[str, int]) -> None:
        flow = beat["flow"]
        each = self.model.flows[flow]
        kind = name_of("EventKind", beat["kind"])
        if kind in ("written", "consumed"):
            position = each.written if kind == "written" else each.consumed
            length, urgent = self.model.next_write(flow) if kind == "written" else (position.length, 0)
            assert (beat["length"], beat["urgent"]) == (length, urgent) and length, f"{kind} {beat}, {position}"
            port = each.owner - 1
            doing = self.doing
            of_command = (
                doing is not None
                and (doing.port, doing.command.flow) == (port, flow)
                and bool(doing.verdict.on or doing.verdict.reply)
                and doing.command.opcode != "start"
            )
            assert self.model.due(port, flow) or of_command, f"{kind} of flow {flow} before the commands before it"
            assert kind == "written" or not each.written.length, "consumed before written"
            position.reported = (position.reported + length) & MASK
            self.counts["urgent" if urgent else "reported"] += 1
            return
        doing = self._now_doing()
        assert doing.command.flow == flow, f"{kind} of flow {flow}: {doing}"
        assert not each.written.length and not each.consumed.length, "a command before the doorbells before it"
        if kind in ENDS:
            self.model.ends(flow, kind)
        else:
            assert beat["length"] == doing.command.times, f"{kind}: {beat}"
        self._acts(kind)

    def _acts(self, name: str) -> None:
        doing = self._now_doing()
        assert doing.verdict.on == name, f"{name}: {doing}"
        assert not doing.acted, f"{name} twice"
        doing.acted = True
        self.counts[name] += 1

    def _opens(self, beat: dict[str, int]) -> None:
        doing = self._now_doing()
        assert (beat["request"], beat["parameters_owner"]) == (doing.command.request, doing.port + 1)
        self._acts("open")

    def _listens(self, beat: dict[str, int]) -> None:
        doing = self._now_doing()
        assert (beat["request"], beat["parameters_owner"]) == (doing.command.request, doing.port + 1)
        self._acts("unlisten" if beat["remove"] else "listen")

    def _policies(self, beat: dict[str, int]) -> None:
        doing = self._now_doing()
        assert beat["flow"] == doing.command.flow
        doing.reply = "none"
        self._acts("start" if beat["begins"] else "setPolicies")

    def _done(self, port: int) -> None:
        doing = self._now_doing()
        command, verdict = doing.command, doing.verdict
        assert doing.port == port, "another port's command is done"
        each = self.model.ports[port]
        if verdict.on == "stamps":
            assert not doing.acted, f"{command} concerns the host's side alone"
        elif verdict.on:
            assert doing.acted, f"{command} is done and nobody heard of it"
        else:
            assert not doing.acted, f"{command} was not refused"
        place = {"request": command.request, "flow": command.flow, "generation": command.generation}
        if verdict.error:
            each.errors += 1
            self.notices.expect(port, reason=verdict.error, value=each.command_head, **place)
        elif verdict.reply or verdict.on in ("setPolicies", "start"):
            reason = verdict.reply or doing.reply
            self.notices.expect(port, kind="response", reason=reason, value=each.command_head, **place)
        if verdict.on in SILENT:
            self.notices.places[port] -= 1
        self.doing = None

    def _bus(self) -> None:
        self.rings.step(self.clock)
        for port, clocks in self.rings.stops.items():
            self.running_ends.setdefault(port, self.clock + clocks)
        if self.rings.command is not None:
            port, entry = self.rings.command
            command = decoded(entry)
            self.doing = Doing(port, command, self.model.command(port, command))

    # ---- input of the next clock

    def held(self, flow: int) -> bool:
        """Its connection must not begin or be heard of now: it is being looked at."""
        of_command = self.doing is not None and self.doing.command.flow == flow or self.rings.reads
        each = self.model.flows[flow]
        waits = not each.closed and bool(each.written.length or each.consumed.length)
        return of_command or waits or self.clock - self.touched.get(flow, -100) < 16

    def _drive(self) -> None:
        dut, draw = self.dut, self.draw
        self.now = (self.now + 8) % 2**48
        dut.now_ns.value = self.now
        for name, ports in self.into.items():
            waits = ports.ready is not None and ports.valid.value == 1 and ports.ready.value == 0
            if waits:
                continue
            queue = self.todo[name]
            go = bool(queue) and (ports.ready is None or draw.random() >= self.stall)
            if name == "opened" and go and self.held(queue[0]["flow"]):
                go = False
            if go:
                ports.write(queue.popleft())
            elif ports.valid.value == 1:
                ports.write({each: draw.getrandbits(width) for each, width in ports.widths.items()})
            ports.valid.value = int(go)
        for name, ports in self.out.items():
            assert ports.ready is not None, name
            ports.ready.value = int(draw.random() >= self.stall and name not in self.paused)
        if self.bit("addressRead_enable"):
            for name, value in self.addresses[self.value("addressRead_flow")].items():
                getattr(dut, f"addressRead_addresses_{name}").value = value
        self.rings.drive(lambda channel: draw.random() >= self.stall and channel not in self.paused)

    def settled(self) -> None:
        """Nothing is left to do."""
        for index, port in enumerate(self.model.ports):
            assert self.value(f"shown_{index}_errors") == port.errors
            if port.running:
                assert port.command_head == port.command_tail, f"port {index}: commands are left"
        for flow, each in enumerate(self.model.flows):
            if each.owner == 0 or not self.model.ports[each.owner - 1].running or each.closed:
                continue
            assert not each.written.length and not each.consumed.length, f"flow {flow}: not reported {each}"
        self.notices.settled()
