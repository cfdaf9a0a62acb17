# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Surroundings of `HostInterface` alone, drawn clock by clock: programs, memory of the rings, directory and engine. The
golden model (sim/golden/host/ports.py) judges each doorbell and command, and says which beats and entries follow."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from cocotb.triggers import RisingEdge

from cocotb_tests.bench import generator
from cocotb_tests.bench.layout import element as core_element
from cocotb_tests.bench.layout import number as size_of
from cocotb_tests.bench.layout import policy
from cocotb_tests.bench.ports import StreamPorts
from cocotb_tests.host.format import element, host_format, name_of, number, unpack_notification
from sim.golden.host.ports import ENDS, MASK, Command, HostPorts, Verdict

PORTS = 2
LATE = 16  # clocks that an entry may be older than its offer to the bus
FULL = 16  # responses and errors that wait
INDEXES = ("commandTail", "notificationHead", "notificationHeadArm")
CHANNELS = ("aw", "w", "b", "ar", "r")


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
    )


def _fires(ports: Any) -> bool:
    return bool(ports.valid.value == 1 and ports.ready.value == 1)


@dataclass
class Seen:
    """A status or report that the engine made of a flow."""

    clock: int
    owner: int
    beat: dict[str, int]


@dataclass
class Turn:
    """The bus gives the ports turns: the port of the last access, its clock, and since when each port has wanted."""

    port: int = -1
    clock: int = 0
    wanting: list[int | None] = field(default_factory=lambda: [None] * PORTS)

    def want(self, clock: int, wants: list[bool]) -> None:
        self.wanting = [
            (clock if since is None else since) if want else None
            for since, want in zip(self.wanting, wants, strict=True)
        ]

    def take(self, clock: int, port: int, what: str) -> None:
        others = [since for each, since in enumerate(self.wanting) if each != port and since is not None]
        late = self.port == port and any(since < self.clock for since in others)
        assert not late, f"{what} of port {port} again, and another waits"
        self.port, self.clock = port, clock


class Interface:
    """The module with its surroundings. `stall`: share of clocks in which a ready or a response is held back."""

    def __init__(self, dut: Any, *, stall: float = 0.0) -> None:
        self.dut, self.stall, self.draw = dut, stall, generator()
        self.clock, self.now = 0, 1000
        self.flows = size_of("flows")
        self.model = HostPorts(PORTS, self.flows, size_of("sendBufferBytes"))
        names = ("doorbells", "opened", "sends", "receives", "status", "reports", "started", "refusals")
        self.into = {name: StreamPorts(dut, name) for name in names}
        self.out = {name: StreamPorts(dut, name) for name in ("opens", "listens", "policies", "events")}
        for ports in self.into.values():
            ports.valid.value = 0
        self.memory: dict[int, bytes] = {}  # entries by address
        self.places = [0] * PORTS
        self.expected: list[deque[dict[str, Any]]] = [deque() for _ in range(PORTS)]
        self.refused: list[deque[dict[str, Any]]] = [deque() for _ in range(PORTS)]
        self.unreported = [0] * PORTS
        self.history: deque[tuple[int, int, list[int], list[int]]] = deque(maxlen=LATE)
        self.statuses: list[list[Seen]] = [[] for _ in range(self.flows)]
        self.reports: list[list[Seen]] = [[] for _ in range(self.flows)]
        self.delivered: dict[tuple[str, int, int], int] = {}
        self.addresses = [dict.fromkeys(("request", "remoteIp", "remotePort", "localPort", "passive"), 0)] * self.flows
        self.command: tuple[int, Command, Verdict] | None = None
        self.acted = False
        self.reply = ""
        self.offered: dict[str, bool] = {}
        self.todo: dict[str, deque[dict[str, int]]] = {name: deque() for name in names}
        self.index: tuple[int, int, str, int, str] | None = None  # fired at, port, kind, value, verdict
        self.data: tuple[int, dict[str, int]] | None = None
        self.running_ends: dict[int, int] = {}  # port: first clock in which it runs no more
        self.alive = [False] * PORTS
        self.starts = [0] * PORTS
        self.sizes = [(1, 1)] * PORTS
        self.faults = 0.0
        self.fetches, self.writes = Turn(), Turn()
        self.fetched: list[tuple[int, int]] = []  # port, index
        self.read: tuple[int, int, bool] | None = None  # port, beats given, refused
        self.write: tuple[int, bytearray] | None = None
        self.responds = False
        self.paused: set[str] = set()  # channels of the rings' bus, and streams to the engine, that the test holds back
        self.armed = [False] * PORTS
        self.raised = [False] * PORTS
        self.until = [0] * PORTS
        self.hold_off = [0] * PORTS
        self.overdue = [0] * PORTS
        self.heads: dict[int, tuple[int, bool]] = {}
        self.touched: dict[int, int] = {}
        self.fields: dict[str, int] = {}
        self.unread = [False] * PORTS
        self.past_unread: deque[list[bool]] = deque(maxlen=3)
        self.counts: dict[str, int] = {}

    @staticmethod
    def base(port: int, ring: str) -> int:
        return 0xFFF0_0000_0000 + (2 * port + (ring == "notification")) * 0x10_0000

    def put(self, name: str, **values: int) -> None:
        """A beat for a port; fields that are not given are 0."""
        fields = self.into[name].fields
        beat = {each: values.pop(each, 0) for each in fields}
        assert not values, f"{name} has no {values}"
        self.todo[name].append(beat)

    def set_up(self, port: int, enable: bool, *, commands: int = 1, notifications: int = 1, hold_off: int = 0) -> None:
        for name, value in (
            ("commandBase", self.base(port, "command")),
            ("notificationBase", self.base(port, "notification")),
            ("commandSize", commands),
            ("notificationSize", notifications),
            ("holdOff", hold_off),
            ("enable", int(enable)),
        ):
            getattr(self.dut, f"setUp_{port}_{name}").value = value
        self.hold_off[port] = hold_off
        if enable:
            self.sizes[port] = (commands, notifications)
        elif self.model.ports[port].running:
            self.running_ends.setdefault(port, self.clock + 2)

    def count(self, name: str) -> None:
        self.counts[name] = self.counts.get(name, 0) + 1

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
        self._interrupts()
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
                self.starts[index] += 1
                self.running_ends.pop(index, None)
                self.armed[index] = False
                for (kind, each, flow), _ in list(self.delivered.items()):
                    if each == index and kind == "status":
                        self.delivered[kind, each, flow] -= 1  # it hears of all again
                port = self.model.ports[index]
            self.alive[index] = alive
            if self.clock >= self.running_ends.get(index, self.clock + 1):
                port.running = False
                self.armed[index] = False
            head = self.value(f"shown_{index}_commandHead")
            if head != port.command_head:
                assert head == (port.command_head + 1) & MASK, f"port {index}: {head} commands are done"
                self._done(index)
                port.command_head = head
            assert self.value(f"shown_{index}_notificationTail") == port.written
            unreported = self.value(f"shown_{index}_errorsUnreported")
            if unreported != self.unreported[index]:
                assert unreported == self.unreported[index] + 1
                error = self.expected[index].pop()
                assert error["kind"] == "error" and error["state"] != "command", f"not reported: {error}"
                self.places[index] -= 1
                assert self.places[index] >= FULL - 2, f"an error is not reported, and {self.places[index]} wait"
                self.unreported[index] = unreported
                self.count("unreported")
        heads = [port.command_head for port in self.model.ports]
        self.history.append((self.clock, self.now, heads, list(self.unreported)))

    def _expect(self, port: int, **values: Any) -> None:
        item = {"kind": "error", "request": 0, "flow": 0, "generation": 0, "state": "command", "value": 0, **values}
        if item["kind"] == "response":
            item["state"] = name_of("TcpState", 0)
        self.expected[port].append(item)
        self.count(f"{item['kind']} {item['reason']}")

    # ---- doorbells

    def _index_verdict(self) -> None:
        if self.index is None:
            return
        fired, port, kind, value, error = self.index
        each = self.model.ports[port]
        if self.clock == fired + 1:
            errors, kept = each.errors, (each.command_tail, each.read)
            error = self.model.index(port, kind, value)
            each.errors, (each.command_tail, each.read) = errors, kept
            self.index = (fired, port, kind, value, error)
        elif self.clock == fired + 2:
            self.index = None
            if not each.running:
                return
            if error:
                each.errors += 1
                self._refused(port, reason=error, state=kind, value=value)
            elif kind == "commandTail":
                each.command_tail = value
            else:
                each.read = value
                self.heads[port] = (self.clock, kind == "notificationHeadArm")
                self.count(kind)

    def _refused(self, port: int, **values: Any) -> None:
        """An error of a doorbell: it takes a place, or is counted."""
        assert self.places[port] <= FULL + 2
        self._expect(port, flow=self.fields["flow"], generation=self.fields["generation"], **values)
        self.places[port] += 1

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
            self.count(kind)

    def _doorbell(self) -> None:
        ports = self.into["doorbells"]
        if _fires(ports):
            beat = ports.read()
            self.fields = beat
            self.touched[beat["flow"]] = self.clock
            kind = name_of("HostSource", beat["kind"])
            if kind in INDEXES:
                self.index = (self.clock, beat["port"], kind, beat["value"], "")
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
                    self.places[beat["owner"] - 1] -= 1
            else:
                flow = beat["reference_flow"]
                held = self.statuses if name == "status" else self.reports
                held[flow].append(Seen(self.clock, self.model.flows[flow].owner, beat))
                if name == "status":
                    self.model.status(flow, beat, name_of("HostTcpState", beat["state"]))
        refusals = self.into["refusals"]
        if _fires(refusals):
            beat = refusals.read()
            values = {"reason": name_of("HostCloseReason", beat["reason"]), "request": beat["request"]}
            self.refused[beat["owner"] - 1].append(
                {"kind": "response", "flow": 0, "generation": 0, "value": 0, **values}
            )

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
            valid = ports.valid.value == 1
            if valid and not self.offered.get(name):
                getattr(self, f"_{name}")(ports.read())
            fires = _fires(ports)
            if fires and name == "policies":
                beat = ports.read()
                if beat.get("begins"):
                    accepted = self.draw.random() < 0.5
                    self.reply = "none" if accepted else "inFlight"
                    self.put("started", accepted=int(accepted), owner=beat["owner"])
            if fires and name in ("opens", "listens"):
                self.replies(name, ports.read())
            self.offered[name] = valid and not fires

    def replies(self, name: str, beat: dict[str, int]) -> None:
        """The directory's reply to an open or a listen; a test may have another."""
        owner = beat.get("parameters_owner", 0)
        reason = core_element(
            "CloseReason", self.draw.choice(("none", "addressInUse")) if name == "listens" else "timedOut"
        )
        self.put("refusals", request=beat["request"], owner=owner, reason=reason)

    def _verdict(self) -> tuple[int, Command, Verdict]:
        assert self.command is not None, "something is done, and no command was read"
        return self.command

    def _events(self, beat: dict[str, int]) -> None:
        flow = beat["flow"]
        each = self.model.flows[flow]
        kind = name_of("EventKind", beat["kind"])
        if kind in ("written", "consumed"):
            position = each.written if kind == "written" else each.consumed
            length, urgent = self.model.next_write(flow) if kind == "written" else (position.length, 0)
            assert (beat["length"], beat["urgent"]) == (length, urgent) and length, f"{kind} {beat}, {position}"
            port = each.owner - 1
            command = self.command
            of_command = (
                command is not None
                and command[0] == port
                and command[1].flow == flow
                and bool(command[2].on or command[2].reply)
                and command[1].opcode != "start"
            )
            assert self.model.due(port, flow) or of_command, f"{kind} of flow {flow} before the commands before it"
            assert kind == "written" or not each.written.length, "consumed before written"
            position.reported = (position.reported + length) & MASK
            self.count("urgent" if urgent else "reported")
            return
        _, ending, verdict = self._verdict()
        assert verdict.on == kind and ending.flow == flow and kind in ENDS, f"{kind} of flow {flow}: {ending}"
        assert not each.written.length and not each.consumed.length, "a command before the doorbells before it"
        self.model.ends(flow, kind)
        self._acts(kind)

    def _acts(self, name: str) -> None:
        assert not self.acted, f"{name} twice"
        self.acted = True
        self.count(name)

    def _opens(self, beat: dict[str, int]) -> None:
        port, command, verdict = self._verdict()
        assert (verdict.on, beat["request"], beat["parameters_owner"]) == ("open", command.request, port + 1)
        self._acts("open")

    def _listens(self, beat: dict[str, int]) -> None:
        port, command, verdict = self._verdict()
        wanted = ("unlisten" if beat["remove"] else "listen", beat["request"], beat["parameters_owner"])
        assert (verdict.on, command.request, port + 1) == wanted
        self._acts(verdict.on)

    def _policies(self, beat: dict[str, int]) -> None:
        _, command, verdict = self._verdict()
        assert (verdict.on, command.flow) == ("start" if beat["begins"] else "setPolicies", beat["flow"])
        self.reply = "none"
        self._acts(verdict.on)

    def _done(self, port: int) -> None:
        of, command, verdict = self._verdict()
        assert of == port, "another port's command is done"
        if verdict.error:
            self.model.ports[port].errors += 1
            head = self.model.ports[port].command_head
            values = {"reason": verdict.error, "value": head}
        else:
            values = {"kind": "response", "reason": verdict.reply or self.reply}
            values["value"] = self.model.ports[port].command_head
        if verdict.on == "stamps":
            assert not self.acted, f"{command} concerns the host's side alone"
        elif verdict.on:
            assert self.acted, f"{command} is done and nobody heard of it"
        else:
            assert not self.acted, f"{command} was not refused"
        if verdict.error or verdict.reply or verdict.on in ("setPolicies", "start"):
            place = {"flow": command.flow, "generation": command.generation}
            self._expect(port, request=command.request, **place, **values)
        if verdict.on in ENDS:
            self.places[port] -= 1
        self.command, self.acted, self.reply = None, False, ""

    # ---- the rings' bus

    def _bus(self) -> None:
        clock = self.clock
        model = self.model.ports
        fetching = [
            port.running and port.command_head != port.command_tail and self.places[index] < FULL - 1
            for index, port in enumerate(model)
        ]
        self.fetches.want(clock, fetching)
        waiting = [
            port.running
            and bool(self.expected[index] or self.refused[index])
            and (port.written - port.read) & MASK < 1 << port.notification_size
            for index, port in enumerate(model)
        ]
        self.writes.want(clock, waiting)
        if self.bit("rings_arvalid"):
            address = self.value("rings_araddr")
            port = next(each for each in range(PORTS) if 0 <= address - self.base(each, "command") < 0x10_0000)
            if not self.offered.get("ar"):
                self.fetches.take(clock, port, "a command")
                head = model[port].command_head
                place = head % (1 << model[port].command_size) * number("commandBytes")
                assert address == self.base(port, "command") + place
                shape = tuple(self.value(f"rings_ar{name}") for name in ("len", "size", "burst"))
                assert shape == (number("commandBytes") // 8 - 1, 3, 1)
                self.places[port] += 1
                assert self.places[port] <= FULL + 2, "a command without a place for its response"
                self.fetched.append((port, head))
            fires = self.bit("rings_arready")
            if fires:
                self.read = (port, 0, self.draw.random() < self.faults)
                self.entry = self.memory.get(address, bytes(number("commandBytes")))
            self.offered["ar"] = not fires
        if self.bit("rings_rvalid") and self.bit("rings_rready"):
            assert self.read is not None
            port, beats, bad = self.read
            self.read = (port, beats + 1, bad)
            if beats + 1 == number("commandBytes") // 8:
                self.read = None
                if bad:
                    self.places[port] -= 1
                    self.running_ends.setdefault(port, clock + 2)
                else:
                    command = decoded(self.entry)
                    self.command = (port, command, self.model.command(port, command))
        self._writes()

    def _writes(self) -> None:
        model = self.model.ports
        if self.bit("rings_awvalid"):
            if not self.offered.get("aw"):
                address = self.value("rings_awaddr")
                port = next(each for each in range(PORTS) if 0 <= address - self.base(each, "notification") < 0x10_0000)
                each = model[port]
                place = each.written % (1 << each.notification_size) * number("notificationBytes")
                assert address == self.base(port, "notification") + place
                assert (each.written - each.read) & MASK < 1 << each.notification_size, "the ring is full"
                self.writes.take(self.clock, port, "a notification")
                self.write = (port, bytearray())
                self.composed, self.past = self.clock, list(self.history)
            self.offered["aw"] = not self.bit("rings_awready")
        if self.bit("rings_wvalid") and self.bit("rings_wready"):
            assert self.write is not None and self.value("rings_wstrb") == 0xFF
            port, entry = self.write
            entry += self.value("rings_wdata").to_bytes(8, "little")
            last = len(entry) == number("notificationBytes")
            assert self.bit("rings_wlast") == last
            if last:
                model[port].shown = (model[port].written + 1) & MASK
                self._entry(port, bytes(entry))
                self.responds = True
        if self.bit("rings_bvalid") and self.bit("rings_bready"):
            assert self.write is not None
            port, _ = self.write
            if self.value("rings_bresp"):
                self.running_ends.setdefault(port, self.clock + 1)
            else:
                model[port].written = (model[port].written + 1) & MASK
            self.write, self.responds = None, False

    def _entry(self, port: int, entry: bytes) -> None:
        """A notification that has left for the memory."""
        found = unpack_notification(entry)
        each = self.model.ports[port]
        assert found["phase"] == 1 - (each.written >> each.notification_size & 1)
        heads = {item[2][port] for item in self.past}
        assert found["kind"] == "pathReport" or found["commandHead"] in heads
        self.count(found["kind"])
        if found["kind"] in ("status", "pathReport"):
            self._level(port, found)
            return
        assert found["time"] in {item[1] for item in self.past}
        assert found["errorsUnreported"] in {item[3][port] for item in self.past}
        self.places[port] -= 1
        for line in (self.expected[port], self.refused[port]):
            if line and all(found[name] == value for name, value in line[0].items()):
                line.popleft()
                return
        raise AssertionError(f"port {port}: {found}, and expected were {self.expected[port]} or {self.refused[port]}")

    def _level(self, port: int, found: dict[str, Any]) -> None:
        """The newest status or report of a flow of this port."""
        kind, flow = found["kind"], found["flow"]
        held = (self.statuses if kind == "status" else self.reports)[flow]
        key = (kind, port, flow)
        begin = max(self.delivered.get(key, -1), 0)
        newest = self.composed - LATE
        for at in reversed(range(begin, len(held))):  # equal ones: the newest
            if at + 1 < len(held) and held[at + 1].clock < newest:
                continue
            beat = held[at].beat
            if kind == "status":
                same = [
                    found[name] == beat[f"{name}_value"] for name in ("acknowledged", "written", "consumed", "received")
                ]
                same += [found["state"] == name_of("HostTcpState", beat["state"])]
            else:
                same = [found[name] == beat[name] for name in ("acks", "cwnd", "losses")]
            if all(same) and found["generation"] == beat["reference_generation"]:
                assert held[at].owner == port + 1, "another port's connection"
                self.delivered[key] = at
                return
        raise AssertionError(f"port {port}: {found} is no newest {kind} of {held[begin:]}")

    # ---- interrupts

    def _interrupts(self) -> None:
        for index, port in enumerate(self.model.ports):
            raised = bool(self.value("interrupt") >> index & 1)
            moved = self.heads.get(index)
            if moved and self.clock == moved[0] + 1:
                assert not raised, "an interrupt beside what was read"
                self.armed[index] = moved[1]
                self.raised[index] = False
                self.heads.pop(index)
            if raised and not self.raised[index]:
                assert self.armed[index], f"port {index}: an interrupt that nobody wants"
                assert self.unread[index], f"port {index}: an interrupt for what was read"
                assert (self.history[-2][1] - self.until[index]) % 2**48 < 2**47, "an interrupt before its time"
                self.armed[index] = False
                self.until[index] = self.history[-2][1] + self.hold_off[index]
                self.count("interrupt")
            self.raised[index] = raised
            due = self.armed[index] and port.running and self.now > self.until[index] and index not in self.heads
            unread = port.read not in (port.written, port.shown)
            self.overdue[index] = self.overdue[index] + 1 if due and unread else 0
            assert self.overdue[index] < 12, f"port {index}: no interrupt"
        now = [port.read not in (port.written, port.shown) for port in self.model.ports]
        self.past_unread.append(now)
        self.unread = [any(each) for each in zip(*self.past_unread, strict=True)]

    # ---- input of the next clock

    def held(self, flow: int) -> bool:
        """Its connection must not begin or be heard of now: it is being looked at."""
        command = self.command
        of_command = command is not None and command[1].flow == flow or self.read is not None
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
            self.looked = self.value("addressRead_flow")
            for name, value in self.addresses[self.looked].items():
                getattr(dut, f"addressRead_addresses_{name}").value = value
        free = {name: draw.random() >= self.stall and name not in self.paused for name in CHANNELS}
        dut.rings_arready.value = int(free["ar"])
        dut.rings_awready.value = int(free["aw"])
        dut.rings_wready.value = int(free["w"])
        if not (self.bit("rings_rvalid") and not self.bit("rings_rready")):
            give = self.read is not None and free["r"]
            dut.rings_rvalid.value = int(give)
            if self.read is not None:
                _, beats, bad = self.read
                dut.rings_rdata.value = int.from_bytes(self.entry[8 * beats : 8 * beats + 8], "little")
                dut.rings_rresp.value = 2 if bad else 0
                dut.rings_rlast.value = int(beats == number("commandBytes") // 8 - 1)
        if not (self.bit("rings_bvalid") and not self.bit("rings_bready")):
            give = self.responds and free["b"]
            dut.rings_bvalid.value = int(give)
            dut.rings_bresp.value = 2 if give and draw.random() < self.faults else 0

    def settled(self) -> None:
        """Nothing is left to do."""
        for index, port in enumerate(self.model.ports):
            assert self.value(f"shown_{index}_errors") == port.errors
            if not port.running:
                continue
            assert port.command_head == port.command_tail, f"port {index}: commands are left"
            assert not self.expected[index] and not self.refused[index], (
                f"port {index}: not reported {self.expected[index]}"
            )
        for flow, each in enumerate(self.model.flows):
            if each.owner == 0 or not self.model.ports[each.owner - 1].running:
                continue
            if not each.closed:
                assert not each.written.length and not each.consumed.length, f"flow {flow}: not reported {each}"
            for kind, held in (("status", self.statuses[flow]), ("pathReport", self.reports[flow])):
                if held and held[-1].owner == each.owner and held[-1].beat["reference_generation"] == each.generation:
                    heard = each.heard == each.generation
                    assert not heard or self.delivered.get((kind, each.owner - 1, flow), -1) == len(held) - 1, (
                        f"{kind} of {flow}"
                    )


__all__ = ["INDEXES", "PORTS", "Interface", "element"]
