# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The host's ports alone, against their golden model: drawn doorbells, commands and responses of the bus, and the rules
of docs/reference/host-interface.md one by one."""

from __future__ import annotations

from typing import Any

import cocotb

from cocotb_tests.bench import draws, generator, start
from cocotb_tests.bench.layout import element as core_element
from cocotb_tests.bench.runner import run_module
from cocotb_tests.host.format import element, host_format, number, pack_command
from cocotb_tests.host.interface import INDEXES, PORTS, Interface
from cocotb_tests.host.rings import base
from sim.golden.host.ports import FLOW_COMMANDS, MASK

SYN_SENT, ESTABLISHED, CLOSED = (core_element("TcpState", name) for name in ("synSent", "established", "closed"))


def test_host_interface() -> None:
    run_module("HostInterface", __name__)


async def create(dut: Any, *, stall: float = 0.0) -> Interface:
    world = Interface(dut, stall=stall)
    for port in range(PORTS):
        world.set_up(port, False)
    await start(dut, now_ns=1000, rings_rvalid=0, rings_bvalid=0, rings_bresp=0)
    for flow in range(world.flows):
        world.put("sends", flow=flow)
        world.put("receives", flow=flow)
    await steps(world, 40)
    return world


async def steps(world: Interface, count: int) -> None:
    for _ in range(count):
        await world.step()


async def started(world: Interface, port: int, **sizes: int) -> None:
    world.set_up(port, True, **sizes)
    while not world.model.ports[port].running:
        await world.step()


class Program:
    """A program of a port that draws what it writes; most of it is what the page allows."""

    def __init__(self, world: Interface, port: int) -> None:
        self.world, self.port, self.draw = world, port, generator()
        self.life: int | None = None  # starts of the port before this one; None: it is off
        self.request = 0

    @property
    def model(self) -> Any:
        return self.world.model.ports[self.port]

    def ring(self, kind: str, **values: int) -> None:
        self.world.put("doorbells", port=self.port, kind=element("HostSource", kind), **values)

    def write(self, *entries: bytes) -> None:
        """Entries behind the last one that the core knows, and their doorbell."""
        tail = self.model.command_tail
        for entry in entries:
            place = tail % (1 << self.model.command_size) * number("commandBytes")
            self.world.rings.entries[base(self.port, "command") + place] = entry
            tail = (tail + 1) & MASK
        self.ring("commandTail", value=tail)

    def acknowledge(self, *, arm: bool = False, ahead: bool = False) -> None:
        """All that is in memory is read; `ahead`: also one whose write response has not come."""
        name = "notificationHeadArm" if arm else "notificationHead"
        self.ring(name, value=self.model.shown if ahead else self.model.written)

    def flow(self) -> tuple[int, int]:
        """A flow of this port and its generation, mostly."""
        flows = self.world.model.flows
        own = [flow for flow, each in enumerate(flows) if each.owner == self.port + 1 and not each.closed]
        flow = self.draw.choice(own) if own and self.draw.random() < 0.9 else self.draw.randrange(len(flows) + 2)
        generation = flows[flow].generation if flow < len(flows) else 0
        return flow, generation if self.draw.random() < 0.95 else self.draw.getrandbits(8)

    def command(self) -> bytes:
        names = list(host_format()["enums"]["HostOpcode"])
        weights = [1 if name in ("none", "close", "abort", "shutdown") else 3 for name in names]
        opcode = self.draw.choices(names, weights)[0]
        self.request = (self.request + 1) % 2**16
        fields = {"request": self.request}
        if opcode in FLOW_COMMANDS:
            fields["flow"], fields["generation"] = self.flow()
        if opcode == "setTimes":
            fields |= {"keepAlive": self.draw.getrandbits(16), "userTimeout": self.draw.getrandbits(16)}
        if self.draw.random() < 0.1:
            fields["initialWindow"] = self.draw.choice((255, 256))
        if self.draw.random() < 0.05:
            fields["startup"] = 31
        entry = bytearray(pack_command(opcode, **fields))
        if self.draw.random() < 0.05:
            entry[self.draw.choice((7, 71, 90, 127))] |= 1 << self.draw.randrange(8)
        return bytes(entry)

    def act(self) -> None:
        draw, model, world = self.draw, self.model, self.world
        if not world.alive[self.port]:
            if self.life is None:
                if draw.random() < 0.1:
                    sizes = {"commands": draw.randint(1, 3), "notifications": draw.randint(1, 4)}
                    world.set_up(self.port, True, hold_off=draw.choice((0, 100, 3000)), **sizes)
                    self.life = world.starts[self.port]
            elif world.starts[self.port] > self.life:  # the memory has refused an access
                world.set_up(self.port, False)
                self.life = None
        kind = draw.choices(("commands", "data", "read", "wrong", "stop", "wait"), (4, 8, 8, 1, 0.02, 3))[0]
        if kind == "commands" and model.running:
            space = (1 << model.command_size) - ((model.command_tail - model.command_head) & MASK)
            if space:
                self.write(*(self.command() for _ in range(draw.randint(1, space))))
        elif kind == "data":
            self.data()
        elif kind == "read":
            self.acknowledge(arm=draw.random() < 0.5, ahead=draw.random() < 0.3)
        elif kind == "wrong":
            which = draw.choice(INDEXES)
            at = model.command_tail if which == "commandTail" else model.read
            self.ring(which, value=(at + draw.choice((-1, 17, 2**31, draw.getrandbits(32)))) & MASK)
        elif kind == "stop" and model.running:
            world.set_up(self.port, False)
            self.life = None

    def data(self) -> None:
        draw = self.draw
        flow, generation = self.flow()
        kind = draw.choice(("written", "consumed"))
        value = draw.getrandbits(32)
        if flow < len(self.world.model.flows) and draw.random() < 0.95:
            each = self.world.model.flows[flow]
            written = kind == "written"
            at = each.written.rung if written else each.consumed.rung
            limit = each.acknowledged + self.world.model.send_bytes if written else each.received
            space = (limit - at) & MASK
            edge = (-1, 0, space, space + 1)
            value = (at + (draw.randint(0, min(space, 2000)) if draw.random() < 0.8 else draw.choice(edge))) & MASK
        reserved = 1 << draw.randrange(7) if draw.random() < 0.03 else 0
        urgent = int(draw.random() < (0.2 if kind == "written" else 0.02))
        self.ring(kind, flow=flow, generation=generation, value=value, reserved=reserved, urgent=urgent)


class Engine:
    """The directory and the engine: connections begin, move and end."""

    def __init__(self, world: Interface) -> None:
        self.world, self.draw = world, generator()
        self.stage = ["free"] * world.flows
        self.generation = [0] * world.flows
        self.busy = [0] * world.flows  # nothing before this clock
        self.owner = [0] * world.flows
        self.acks = 0
        world.replies = self.replies  # type: ignore[method-assign]

    def replies(self, name: str, beat: dict[str, int]) -> None:
        owner, request = beat["parameters_owner"], beat["request"]
        free = [flow for flow, stage in enumerate(self.stage) if stage == "free" and not self.world.held(flow)]
        if name == "opens" and free and self.draw.random() < 0.8:
            self.open(free[0], owner, request=request)
            return
        reason = self.draw.choice(("none", "addressInUse")) if name == "listens" else "timedOut"
        self.world.put("refusals", request=request, owner=owner, reason=core_element("CloseReason", reason))

    def open(self, flow: int, owner: int, *, request: int | None = None) -> None:
        self.generation[flow] = (self.generation[flow] + 1) % 256
        self.owner[flow] = owner
        active = int(request is not None)
        self.world.put("opened", flow=flow, generation=self.generation[flow], owner=owner, active=active)
        self.world.addresses[flow] = {"request": request or 0, "passive": 1 - active}
        self.stage[flow] = "opening"

    def act(self) -> None:
        world, draw = self.world, self.draw
        flow = draw.randrange(world.flows)
        each = world.model.flows[flow]
        if world.clock < self.busy[flow]:
            return
        self.busy[flow] = world.clock + 20
        stage = self.stage[flow]
        if stage == "free":
            if draw.random() < 0.2 and not world.held(flow):
                self.open(flow, draw.choice((0, 1, 2, 1, 2)))
        elif stage == "opening":
            opened = (each.generation, each.owner) == (self.generation[flow], self.owner[flow])
            if opened and not any(beat["flow"] == flow for beat in world.todo["opened"]):
                begin = draw.choice((draw.getrandbits(32), 2**32 - 100))
                world.put("sends", flow=flow, sequence_value=begin)
                self.stage[flow] = "sent"
        elif stage == "sent":
            if not world.held(flow):
                self.status(flow, SYN_SENT, received=0)
                self.stage[flow] = "synSent"
        elif stage == "synSent":
            begin = draw.choice((draw.getrandbits(32), 2**32 - 100))
            world.put("receives", flow=flow, sequence_value=begin)
            self.stage[flow] = "receives"
        elif stage == "receives":
            self.status(flow, ESTABLISHED, received=each.consumed.reported)
            self.stage[flow] = "live"
        elif stage == "live":
            ends = draw.random() < 0.03
            received = (each.received + draw.choice((0, 1, 700, 1460))) & MASK
            fin = int(draw.random() < 0.1)
            self.status(flow, CLOSED if ends else ESTABLISHED, received=(received + fin) & MASK, fin=fin)
            if draw.random() < 0.3:
                self.report(flow)
            if ends:
                self.stage[flow] = "ended"
                self.busy[flow] = world.clock + 200
        elif stage == "ended":
            self.stage[flow] = "free"

    def status(self, flow: int, state: int, *, received: int, fin: int = 0) -> None:
        each = self.world.model.flows[flow]
        reported = each.written.reported
        behind = (
            min((reported - each.acknowledged) & MASK, 5000)
            if each.synchronized and each.heard == each.generation
            else 0
        )
        self.world.put(
            "status",
            reference_flow=flow,
            reference_generation=self.generation[flow],
            state=state,
            acknowledged_value=(reported - self.draw.randint(0, behind)) & MASK,
            written_value=reported,
            consumed_value=each.consumed.reported,
            received_value=received,
            peerFinished=fin,
        )

    def report(self, flow: int) -> None:
        self.acks += 1
        self.world.put(
            "reports",
            reference_flow=flow,
            reference_generation=self.generation[flow],
            acks=self.acks,
            cwnd=self.draw.getrandbits(32),
            losses=self.draw.getrandbits(8),
        )


@cocotb.test()
@cocotb.parametrize((("stall", "faults"), [(0.0, 0.0), (0.4, 0.0), (0.8, 0.0), (0.4, 0.003)]))
async def drawn_doorbells_and_commands_do_what_the_model_says(dut: Any, stall: float, faults: float) -> None:
    world = await create(dut, stall=stall)
    world.rings.faults = faults
    programs = [Program(world, port) for port in range(PORTS)]
    engine = Engine(world)
    draw = generator()
    for port in range(PORTS):
        await started(world, port, commands=2, notifications=3)
        programs[port].life = 0
    busy = 0.2
    for clock in range(draws(12_000, 300_000)):
        if clock % 1000 == 0:
            busy = draw.choice((0.02, 0.1, 0.4))
        if draw.random() < busy and not world.todo["doorbells"]:
            draw.choice(programs).act()
        if draw.random() < 0.2:
            engine.act()
        await world.step()
    world.rings.faults = 0.0
    world.stall = 0.0
    for _ in range(60):
        await steps(world, 60)
        for program in programs:
            if program.model.read != program.model.written:
                program.acknowledge()
    await steps(world, 200)
    world.settled()
    dut._log.info("seen: %s", ", ".join(f"{name} {count}" for name, count in sorted(world.counts.items())))
    counted = ("reported", "urgent", "status", "pathReport", "interrupt")
    for name in (*counted, "open", "listen", "close", "setPolicies", "start", "setTimes"):
        assert world.counts[name] > 0, f"{name} was never drawn: {world.counts}"


# ---- the page's rules, one by one


async def connected(world: Interface, flow: int, port: int, *, fin: int = 0) -> None:
    """A connection of a port that it has heard of; both sides' numbers begin at 1000, and 500 bytes were received."""
    begin = {"flow": flow, "sequence_value": 1000}
    world.put("opened", flow=flow, generation=1, owner=port + 1, active=0)
    await steps(world, 4)
    world.put("sends", **begin)
    world.put("receives", **begin)
    await steps(world, 4)
    numbers = {"acknowledged_value": 1000, "written_value": 1000, "consumed_value": 1000}
    at = {"reference_flow": flow, "reference_generation": 1}
    world.put("status", state=ESTABLISHED, received_value=1500 + fin, peerFinished=fin, **numbers, **at)
    await steps(world, 60)


def errors(world: Interface, port: int) -> int:
    return world.value(f"shown_{port}_errors")


@cocotb.test()
@cocotb.parametrize(arm=[True, False])
async def what_was_read_before_its_response_came_makes_no_interrupt(dut: Any, arm: bool) -> None:
    """The program sees the entry by its phase; the memory's response is still on its way."""
    world = await create(dut)
    program = Program(world, 0)
    await started(world, 0, notifications=3)
    world.paused = {"b"}
    await connected(world, 3, 0)
    assert (program.model.shown, program.model.written) == (1, 0)
    program.acknowledge(arm=arm, ahead=True)
    await steps(world, 40)
    assert world.value("interrupt") == 0 and errors(world, 0) == 0
    world.paused = set()
    await steps(world, 40)
    assert program.model.written == 1 and world.value("interrupt") == 0
    await connected(world, 4, 0)
    assert world.value("interrupt") == int(arm), "for the next one"


@cocotb.test()
async def commands_are_fetched_from_the_ports_in_turn(dut: Any) -> None:
    """Each has a full ring: neither waits for more than one of the other's."""
    world = await create(dut)
    programs = [Program(world, port) for port in range(PORTS)]
    for port in range(PORTS):
        await started(world, port, commands=3, notifications=4)
    world.paused = {"ar"}
    for program in programs:
        program.write(*(pack_command("unlisten", request=number) for number in range(8)))
    await steps(world, 60)
    world.paused = set()
    await steps(world, 1500)
    assert world.rings.fetched in ([0, 1] * 8, [1, 0] * 8)


@cocotb.test()
async def a_flood_of_errors_leaves_a_place_for_a_command(dut: Any) -> None:
    """The ring takes two of 30 errors, 15 wait, and the others are counted; then a command is done, the next is not."""
    world = await create(dut)
    program = Program(world, 0)
    await started(world, 0, commands=3, notifications=1)
    for _ in range(30):
        program.ring("written", flow=world.flows, value=0)
        await steps(world, 60)
    assert (errors(world, 0), world.value("shown_0_errorsUnreported")) == (30, 30 - 2 - 15)
    program.write(*(pack_command("listen", request=number, localPort=80) for number in range(3)))
    await steps(world, 400)
    assert (program.model.command_head, program.model.command_tail) == (1, 3)
    for _ in range(40):
        program.acknowledge()
        await steps(world, 60)
    assert program.model.command_head == 3
    world.settled()


@cocotb.test()
async def a_command_ring_may_be_full_and_no_fuller(dut: Any) -> None:
    world = await create(dut)
    program = Program(world, 0)
    await started(world, 0, commands=2, notifications=4)
    world.paused = {"ar"}
    program.write(*(pack_command("unlisten", request=number) for number in range(4)))
    await steps(world, 40)
    assert (errors(world, 0), program.model.command_tail) == (0, 4)
    program.ring("commandTail", value=5)
    await steps(world, 40)
    assert (errors(world, 0), program.model.command_tail) == (1, 4)
    world.paused = set()
    await steps(world, 600)
    assert program.model.command_head == 4 and world.counts["unlisten"] == 4
    world.settled()


@cocotb.test()
async def the_fin_is_no_byte_to_consume(dut: Any) -> None:
    """`received` is one more than the last byte's end, with peerFinished."""
    world = await create(dut)
    program = Program(world, 0)
    await started(world, 0, notifications=4)
    await connected(world, 3, 0, fin=1)
    program.ring("consumed", flow=3, generation=1, value=1501)
    await steps(world, 40)
    assert errors(world, 0) == 1 and "reported" not in world.counts
    program.ring("consumed", flow=3, generation=1, value=1500)
    await steps(world, 40)
    assert errors(world, 0) == 1 and world.counts["reported"] == 1


@cocotb.test()
async def nothing_is_consumed_in_syn_sent(dut: Any) -> None:
    """The peer's numbers are not known yet: those of the flow's last connection are still there."""
    world = await create(dut)
    program = Program(world, 0)
    await started(world, 0, notifications=4)
    await connected(world, 3, 0)
    at = {"reference_flow": 3, "reference_generation": 1, "acknowledged_value": 1000, "written_value": 1000}
    world.put("status", state=CLOSED, received_value=1500, **at)
    await steps(world, 60)
    world.put("opened", flow=3, generation=2, owner=1, active=0)
    await steps(world, 20)
    at |= {"reference_generation": 2, "received_value": 1500}
    world.put("status", state=SYN_SENT, **at)
    await steps(world, 60)
    for value in (1000, 1001, 1500):
        program.ring("consumed", flow=3, generation=2, value=value)
        await steps(world, 40)
    assert errors(world, 0) == 3 and "reported" not in world.counts
    world.put("status", state=ESTABLISHED, **at)
    await steps(world, 60)
    program.ring("consumed", flow=3, generation=2, value=1500)
    await steps(world, 40)
    assert errors(world, 0) == 3 and world.counts["reported"] == 1


@cocotb.test()
async def doorbells_behind_a_start_wait_for_it(dut: Any) -> None:
    """The engine refuses a start with data in flight: what is rung behind it may not go ahead of it."""
    world = await create(dut)
    program = Program(world, 0)
    await started(world, 0, commands=2, notifications=4)
    await connected(world, 3, 0)
    world.paused = {"r"}
    program.write(pack_command("start", flow=3, generation=1, request=9))
    program.ring("written", flow=3, generation=1, value=1400)
    await steps(world, 60)
    world.paused = set()
    await steps(world, 200)
    assert world.counts["start"] == world.counts["reported"] == 1
    world.settled()


@cocotb.test()
async def bytes_behind_urgent_ones_are_reported_after_them(dut: Any) -> None:
    """Four doorbells while a command is held up: the engine hears once up to the last urgent byte, and then the rest. A
    close takes both along."""
    world = await create(dut)
    program = Program(world, 0)
    await started(world, 0, commands=2, notifications=4)
    for flow in (3, 4):
        await connected(world, flow, 0)
        world.paused = {"r"}
        program.write(pack_command("setPolicies", flow=flow, generation=1, request=9))
        for value, urgent in ((1300, 0), (1400, 1), (1500, 1), (1600, 0)):
            program.ring("written", flow=flow, generation=1, value=value, urgent=urgent)
            await steps(world, 40)
        if flow == 4:
            program.write(pack_command("close", flow=flow, generation=1))
        world.paused = set()
        await steps(world, 300)
    assert world.counts["urgent"] == world.counts["reported"] == 2 and world.counts["close"] == 1
    assert world.model.flows[4].written.reported == 1600
    world.settled()


@cocotb.test()
async def the_peer_s_first_number_may_come_while_a_doorbell_is_reported(dut: Any) -> None:
    """Data that was written in SYN-SENT is on its way to the engine as the SYN-ACK arrives."""
    world = await create(dut)
    program = Program(world, 0)
    await started(world, 0, notifications=4)
    await connected(world, 4, 0)
    world.put("opened", flow=3, generation=1, owner=1, active=0)
    await steps(world, 4)
    world.put("sends", flow=3, sequence_value=1000)
    at = {"reference_flow": 3, "reference_generation": 1, "acknowledged_value": 1000, "written_value": 1000}
    world.put("status", state=SYN_SENT, **at)
    await steps(world, 60)
    world.paused = {"events"}
    program.ring("written", flow=4, generation=1, value=1200)
    program.ring("written", flow=3, generation=1, value=1400)
    await steps(world, 60)
    world.put("receives", flow=3, sequence_value=5000)
    await steps(world, 10)
    world.paused = set()
    await steps(world, 60)
    world.put("status", state=ESTABLISHED, received_value=5100, consumed_value=5000, **at)
    await steps(world, 60)
    program.ring("consumed", flow=3, generation=1, value=5100)
    await steps(world, 60)
    assert world.counts["reported"] == 3
    world.settled()
