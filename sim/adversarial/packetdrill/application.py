# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The application of a script: calls of the device, and checks of what it says."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from ipaddress import IPv4Address

from downbeat_toe.device import Device, DeviceError
from downbeat_toe.structures import Error, Event, State

from sim.adversarial.packetdrill.packets import CORE_PORT, OURS, PEER_IP, THEIRS, Conversation, stream
from sim.adversarial.packetdrill.script import Call, Value
from sim.lib import verilated

PEER = int(IPv4Address(PEER_IP))


class CheckFailedError(Exception):
    """A call or check gave something else; the text says what."""


@dataclass
class Connection:
    """A connection as the application knows it."""

    name: int
    place: tuple[int, int] | None = None  # flow and generation
    written: int = 0
    read: int = 0


@dataclass
class Application:
    """The calls; `wait(condition)` lets time pass until it holds, as far as the script's tolerance goes."""

    device: Device
    events: list[Event]
    wait: Callable[[Callable[[], bool]], bool]
    connections: dict[int, Connection] = field(default_factory=dict)
    listening: list[int] = field(default_factory=list)

    def do(self, call: Call, conversation: Conversation) -> None:
        """Raises CheckFailedError if the result is not the expected one."""
        came: str | None
        try:
            came = getattr(self, f"_{call.name}")(conversation, *call.arguments, **dict(call.parameters))
        except DeviceError as error:
            came = f"-1 {error.code.name.lower()}"
            if call.result is None:
                raise CheckFailedError(f"{call.name}() failed: {error.code.name.lower()} ({error})") from None
        except TypeError as error:
            raise CheckFailedError(f"{call.name}(): {error}") from None
        if call.result is not None and came != call.result:
            raise CheckFailedError(f"{call.name}() = {came}, not {call.result}")

    def _connect(self, conversation: Conversation, local_port: int = CORE_PORT, **parameters: Value) -> None:
        conversation.core_port = local_port
        name = self.device.connect(PEER, conversation.port, local_port, **_encoded(parameters))
        self.connections[conversation.port] = Connection(name)

    def _listen(self, conversation: Conversation, port: int = CORE_PORT, **parameters: Value) -> None:
        self.device.listen(port, **_encoded(parameters))
        self.listening.append(port)

    def _unlisten(self, conversation: Conversation, port: int = CORE_PORT) -> None:
        self.device.unlisten(port)
        self.listening.remove(port)

    def _write(self, conversation: Conversation, length: int, urgent: int = 0) -> str:
        connection = self._connection(conversation)
        data = stream(1 + connection.written, length, OURS)
        accepted = self.device.send(connection.name, data, urgent=bool(urgent))
        connection.written += accepted
        return str(accepted)

    def _read(self, conversation: Conversation, length: int) -> str:
        """Waits for all of it; `read(n) = 0` is the end of the stream."""
        connection = self._connection(conversation)
        data, last = b"", None

        def more() -> bool:
            nonlocal data, last
            try:
                came = self.device.receive(connection.name, length - len(data))
            except DeviceError as error:
                last = error
                return error.code is not Error.WOULD_BLOCK
            data, last = data + came, None
            return not came or len(data) == length

        self.wait(more)
        if last is not None and not data:
            raise last
        if data != stream(conversation.first + connection.read, len(data), THEIRS):
            raise CheckFailedError(f"read({length}) gave other bytes than the peer sent")
        connection.read += len(data)
        if 0 < len(data) < length:
            raise CheckFailedError(f"read({length}) found {len(data)} bytes")
        return str(len(data))

    def _shutdown(self, conversation: Conversation) -> None:
        self.device.shutdown(self._connection(conversation).name)

    def _close(self, conversation: Conversation) -> None:
        connection = self._connection(conversation)
        self._locate(connection)
        self.device.close(connection.name)

    def _abort(self, conversation: Conversation) -> None:
        connection = self._connection(conversation)
        self._locate(connection)
        self.device.abort(connection.name)

    def _state(self, conversation: Conversation, wanted: str) -> None:
        """The state of RFC 9293 3.3.2 in which the engine has the connection."""
        self._see(conversation, _known(wanted, _states()))

    def _closed(self, conversation: Conversation, wanted: str) -> None:
        """The connection is over, for this reason."""
        self._see(conversation, f"CLOSED ({_known(wanted, _reasons())})")

    def _info(self, conversation: Conversation, **wanted: Value) -> None:
        """Fields of struct downbeat_sim_info."""
        connection = self._connection(conversation)

        def seen() -> dict[str, Value]:
            info = self.device.info(connection.name)
            return {name: getattr(info, name) for name in wanted}

        if not self.wait(lambda: seen() == wanted):
            raise CheckFailedError(f"info() says {seen()}, not {wanted}")

    def _see(self, conversation: Conversation, wanted: str) -> None:
        if not self.wait(lambda: self._seen(conversation) in (wanted, f"{wanted} (none)")):
            raise CheckFailedError(f"the connection is {self._seen(conversation)}, not {wanted}")

    def _seen(self, conversation: Conversation) -> str:
        """State, and if it is the end its reason, after the connection's last event."""
        self._accept()
        connection = self.connections.get(conversation.port)
        if connection is not None:
            self._locate(connection)
        for event in reversed(self.events):
            if connection is None or connection.place in (None, (event.flow, event.generation)):
                state = _states()[event.state]
                return f"CLOSED ({_reasons()[event.reason]})" if state == "CLOSED" else state
        return "unknown to the engine"

    def _locate(self, connection: Connection) -> None:
        """The core's status of it; the last one while it waits for its flow or when it has been forgotten."""
        try:
            info = self.device.info(connection.name)
        except DeviceError:
            return
        if info.state not in (State.CLOSED, State.SYN_SENT):
            connection.place = (info.flow, info.generation)

    def _connection(self, conversation: Conversation) -> Connection:
        self.wait(lambda: self._accept() or conversation.port in self.connections)
        if conversation.port not in self.connections:
            raise CheckFailedError("there is no connection yet: connect(), or listen() and a handshake, come before")
        return self.connections[conversation.port]

    def _accept(self) -> bool:
        """The listener's connection with the peer's port; False if there is none."""
        for port in self.listening:
            try:
                name = self.device.accept(port)
            except DeviceError:
                continue
            info = self.device.info(name)
            self.connections[info.remote_port] = Connection(name, (info.flow, info.generation))
        return False


def _encoded(parameters: dict[str, Value]) -> dict[str, int | bytes]:
    return {name: value if isinstance(value, int) else str(value).encode() for name, value in parameters.items()}


def _known(name: str, names: dict[int, str]) -> str:
    if name not in names.values():
        raise CheckFailedError(f"no {name}; there are {', '.join(names.values())}")
    return name


def _states() -> dict[int, str]:
    """As RFC 9293 writes them."""
    return {number: name.upper() for number, name in _names("TcpState").items()}


def _reasons() -> dict[int, str]:
    return _names("CloseReason")


@cache
def _names(enumeration: str) -> dict[int, str]:
    layout = json.loads(verilated.LAYOUT.with_suffix(".json").read_text())
    return {number: re.sub("([A-Z0-9])", r"-\1", name).lower() for name, number in layout["enums"][enumeration].items()}
