# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A board with the core: addresses, connections, what they send, how they are
(rtl/downbeat/board/TrafficBoard.scala)."""

from __future__ import annotations

import ipaddress
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from downbeat_toe.board.bone import Line
from downbeat_toe.board.device import Board, Registers, described
from downbeat_toe.refused import Refused

CORE = 0x0000  # byte address of the core's registers


@dataclass(frozen=True)
class Flow:
    state: str
    reason: str  # why it ended
    sent: int  # bytes that the core was given and the peer has not acknowledged
    supply: int  # bytes still to send


class TrafficBoard(Board):
    """`core`: the core's registers; `layout`: the build's downbeat_layout.json, for the numbers of names."""

    def __init__(self, line: Line, described: dict[str, Any], core: dict[str, Any], layout: dict[str, Any]) -> None:
        super().__init__(line, described)
        self.core = Registers(self.bone, CORE, core)
        self._enums: dict[str, dict[str, int]] = layout["enums"] | layout["policies"]
        self.flows = int(layout["numbers"]["flows"])

    @classmethod
    def of_build(cls, line: Line, build: Path) -> Self:
        files = ("traffic_registers", "core_registers", "downbeat_layout")
        return cls(line, *(described(build, name) for name in files))

    def number(self, kind: str, name: str) -> int:
        known = self._enums[kind]
        if name not in known:
            raise Refused(f"no {name} among {', '.join(known)}")
        return known[name]

    def _name(self, kind: str, number: int) -> str:
        return next(name for name, value in self._enums[kind].items() if value == number)

    def address(self, mac: str, ip: str, gateway: str = "0.0.0.0") -> None:
        """Own addresses; all connections are forgotten. `ip` with its prefix: 10.0.0.1/24."""
        own = ipaddress.IPv4Interface(ip)
        number = int(mac.replace(":", ""), 16)
        self.core.write("control", enable=0)
        self.core.write("localMacHigh", number >> 32)
        self.core.write("localMacLow", number & 0xFFFFFFFF)
        self.core.write("localIp", int(own.ip))
        self.core.write("localNetmask", int(own.netmask))
        self.core.write("localGateway", int(ipaddress.IPv4Address(gateway)))
        for part in range(4):
            self.core.write(f"secret{part}", secrets.randbits(32))
        self.core.write("control", enable=1)

    def command(self, kind: str, **fields: int) -> None:
        """Fields of Command that are not given are zero."""
        wanted = {"kind": self.number("CommandKind", kind), **fields}
        names = [name for name in self.names if name.startswith("command_")]
        words = []
        for name in names:
            bare, _, part = name.removeprefix("command_").rpartition("_")
            field, low = (bare, 32 * int(part)) if part.isdigit() else (name.removeprefix("command_"), 0)
            words.append(wanted.get(field, 0) >> low & 0xFFFFFFFF)
        self.write(names[0], *words)
        self.write("commandSend", 1)
        self._taken("command")

    def open(self, ip: str, port: int, *, startup: str = "standard", argument: int = 0, spacing: int = 0) -> None:
        """`spacing`: ns a payload byte, 32 fraction bits; `argument`: of the start-up policy (its file says what)."""
        self.command(
            "open",
            remoteIp=int(ipaddress.IPv4Address(ip)),
            remotePort=port,
            parameters_initialWindow=10,
            parameters_ssthresh=0xFFFFFFFF,
            parameters_spacing=spacing,
            parameters_startup=self.number("StartupPolicy", startup),
            parameters_startupArgument=argument,
        )

    def listen(self, port: int) -> None:
        self.command("listen", localPort=port, parameters_initialWindow=10, parameters_ssthresh=0xFFFFFFFF)

    def supply(self, flow: int, count: int, *, closes: bool = False) -> None:
        """The flow sends so many bytes more, and is then closed."""
        self.write("supplyFlow", flow, count & 0xFFFFFFFF, count >> 32 | int(closes) << 8)
        self._taken("supply")

    def flow(self, number: int) -> Flow | None:
        """None: it has had no connection."""
        self.write("flowSelect", number)
        if not self.read("flow_known"):
            return None
        # The peer's last acknowledgment counts FIN too.
        ahead = self.read("flow_handed_value") - self.read("flow_acknowledged_value") & 0xFFFFFFFF
        sent = 0 if ahead == 0xFFFFFFFF else ahead
        supply = self.read("flow_supply") | self.read("flow_supply_high") << 32
        state, reason = (
            self._name("TcpState", self.read("flow_state")),
            self._name("CloseReason", self.read("flow_reason")),
        )
        return Flow(state, reason, sent, supply)

    def received(self) -> int:
        """Bytes of all flows."""
        return self.read("receivedBytes") | self.read("receivedBytes_high") << 32

    def counters(self) -> dict[str, int]:
        """Of core and MAC, since reset."""
        names = [name for name in self.core.names if name.startswith("counter_")]
        return {name.removeprefix("counter_"): self.core.read(name) for name in names}

    def refusals(self) -> tuple[int, str]:
        """How many commands were refused, and why the last one was."""
        return self.field("refused", "count"), self._name("CloseReason", self.field("refused", "reason"))

    def _taken(self, what: str) -> None:
        while self.field("waits", what):
            pass
