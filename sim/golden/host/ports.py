# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The host's ports by docs/reference/host-interface.md: which doorbells and commands are refused and why, when the
engine hears of a doorbell, and what a ring holds. It knows no clocks: its caller says what happens, in order.

Sequence numbers and ring indexes are 32 bits and wrap; generations have 8 bits. Ports count from 0, their owner from 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

MASK = 2**32 - 1
FLOW_COMMANDS = ("shutdown", "close", "abort", "setPolicies", "start", "stamps", "setTimes")
ENDS = ("shutdown", "close", "abort")
SILENT = (*ENDS, "stamps", "setTimes")  # commands without a response


def before(one: int, other: int) -> bool:
    return (one - other) & MASK > MASK >> 1


@dataclass
class Rung:
    """A position that the host rings for, and the one that the engine was reported."""

    rung: int = 0
    reported: int = 0

    @property
    def length(self) -> int:
        return (self.rung - self.reported) & MASK


@dataclass
class Flow:
    """A flow's connection: whose it is, and the newest status of it."""

    owner: int = 0
    generation: int = 0
    closed: bool = False
    shut_down: bool = False
    after: int = 0  # commands that were announced before its last doorbell
    heard: int | None = None  # generation of the newest status
    synchronized: bool = False
    ended: bool = False
    acknowledged: int = 0
    received: int = 0  # without the FIN's number
    urgent_end: int | None = None  # one past the last urgent byte that was rung for
    written: Rung = field(default_factory=Rung)
    consumed: Rung = field(default_factory=Rung)


@dataclass
class Port:
    """Free-running indexes of a port's rings, each of 2^size entries."""

    running: bool = False
    command_size: int = 0
    notification_size: int = 0
    command_head: int = 0
    command_tail: int = 0
    read: int = 0  # notifications that the host has read
    shown: int = 0  # one past the last that it may have seen
    written: int = 0  # those whose write response came
    errors: int = 0

    @property
    def unread(self) -> bool:
        """A notification is in memory that the host has not read."""
        return self.read not in (self.written, self.shown)

    @property
    def has_space(self) -> bool:
        """The notification ring takes another entry."""
        return (self.written - self.read) & MASK < 1 << self.notification_size


@dataclass(frozen=True)
class Command:
    """A command as it was read; `fault`: what its entry alone is refused for."""

    opcode: str
    request: int
    flow: int
    generation: int
    fault: str = ""
    policies: str = ""  # the CloseReason that its policies are refused with
    times: int = 0  # setTimes: keep-alive in the lower half, user timeout in the upper


@dataclass(frozen=True)
class Verdict:
    """A command's effect: `error` (HostError), or `reply` (CloseReason), or it is passed `on`."""

    error: str = ""
    reply: str = ""
    on: str = ""


class HostPorts:
    """All ports and flows. `send_bytes`: size of a send ring."""

    def __init__(self, ports: int, flows: int, send_bytes: int) -> None:
        self.ports = [Port() for _ in range(ports)]
        self.flows = [Flow() for _ in range(flows)]
        self.send_bytes = send_bytes

    # ---- the core

    def start(self, port: int, command_size: int, notification_size: int) -> None:
        errors = self.ports[port].errors
        self.ports[port] = Port(True, command_size, notification_size, errors=errors)

    def opened(self, flow: int, generation: int, owner: int) -> None:
        old = self.flows[flow]
        self.flows[flow] = Flow(
            owner,
            generation,
            heard=old.heard,
            synchronized=old.synchronized,
            ended=old.ended,
            acknowledged=old.acknowledged,
            received=old.received,
            written=old.written,
            consumed=old.consumed,
        )

    def status(self, flow: int, values: Mapping[str, int], state: str) -> None:
        each = self.flows[flow]
        each.heard = values["reference_generation"]
        each.synchronized = state != "synSent"
        each.ended = state == "closed"
        each.acknowledged = values["acknowledged_value"]
        each.received = (values["received_value"] - values["peerFinished"]) & MASK

    # ---- doorbells

    def index(self, port: int, kind: str, value: int) -> str:
        """The error of a ring's index, or nothing; `shown` is that of the clock before."""
        each = self.ports[port]
        if not each.running:
            return ""
        tail = kind == "commandTail"
        last = each.command_tail if tail else each.read
        limit = (each.command_head + (1 << each.command_size)) & MASK if tail else each.shown
        error = "backwards" if before(value, last) else "beyond" if before(limit, value) else ""
        if error:
            each.errors += 1
        elif tail:
            each.command_tail = value
        else:
            each.read = value
        return error

    def known(self, port: int, flow: int, generation: int) -> str:
        """The error of a flow and its generation."""
        if flow >= len(self.flows):
            return "flow"
        each = self.flows[flow]
        if each.heard is None:
            return "notOpen"
        if each.owner != port + 1:
            return "owner"
        if each.generation != generation:
            return "generation"
        return "notOpen" if each.closed or each.heard != each.generation else ""

    def data(self, port: int, kind: str, flow: int, generation: int, value: int, reserved: int, urgent: int = 0) -> str:
        """The error of a `written` or `consumed` doorbell, or nothing: it is kept until the commands before it are
        done. `urgent`: the last byte written is."""
        reserved |= urgent and kind == "consumed"
        error = "reserved" if reserved else self.known(port, flow, generation) or self._ahead(flow, kind, value)
        if error:
            self.ports[port].errors += 1
            return error
        each = self.flows[flow]
        position = each.written if kind == "written" else each.consumed
        if value != position.rung and not each.ended:
            position.rung = value
            if urgent:
                each.urgent_end = value
            each.after = self.ports[port].command_tail
        return ""

    def _ahead(self, flow: int, kind: str, value: int) -> str:
        each = self.flows[flow]
        if each.ended:
            return ""
        if kind == "written":
            limit = (each.acknowledged + self.send_bytes) & MASK
            if each.shut_down:
                return "shutDown"
        else:
            limit = each.received
        position = each.written if kind == "written" else each.consumed
        if before(value, position.rung):
            return "backwards"
        return "beyond" if before(limit, value) or kind == "consumed" and not each.synchronized else ""

    def next_write(self, flow: int) -> tuple[int, int]:
        """Bytes written that the engine hears of next, and whether the last of them is urgent."""
        each = self.flows[flow]
        if each.urgent_end is not None and each.urgent_end != each.written.reported:
            length = (each.urgent_end - each.written.reported) & MASK
            if length <= each.written.length:
                return length, 1
        return each.written.length, 0

    def due(self, port: int, flow: int) -> bool:
        """The commands before the flow's last doorbell are done."""
        each = self.ports[port]
        return not each.running or not before(each.command_head, self.flows[flow].after)

    # ---- commands

    def command(self, port: int, command: Command) -> Verdict:
        """The next command of the port's ring."""
        error = command.fault
        if not error and command.opcode in FLOW_COMMANDS:
            error = self.known(port, command.flow, command.generation)
        if error:
            return Verdict(error=error)
        if command.opcode not in (*SILENT, "unlisten") and command.policies:
            return Verdict(reply=command.policies)
        return Verdict(on=command.opcode)

    def ends(self, flow: int, opcode: str) -> None:
        self.flows[flow].shut_down = True
        self.flows[flow].closed |= opcode != "shutdown"
