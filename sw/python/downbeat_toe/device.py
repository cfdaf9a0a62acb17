# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The Verilated core from Python: each function of the library (library.py) a method, with errors as exceptions."""

from __future__ import annotations

import ctypes
from ctypes import byref, c_int, c_int32, c_uint8, c_uint64
from types import TracebackType
from typing import Any, Self

from downbeat_toe.device_structures import EVENT_CALLBACK, REPORT_CALLBACK, Counters, Info, Options
from downbeat_toe.structures import Error, Event, Parameters, PathReport


def nanoseconds(ns: float) -> int:
    """A time as the device has it: units of 2^-16 ns."""
    return round(ns * 65536)


class DeviceError(Exception):
    """A call of the device failed; `code` says how."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = Error(code)


class Device:
    """One core. Calls return at once; one that would block raises DeviceError with WOULD_BLOCK."""

    def __init__(
        self,
        library: ctypes.CDLL,
        mac: bytes,
        ip: int,
        *,
        preset: str | None = None,
        link_rate: int = 0,
        secret: int = 1,
        staging_bytes: int = 0,
        initial_values: int = 0,
        netmask: int = 0,
        gateway: int = 0,
    ) -> None:
        self._library = library
        name = preset.encode() if preset else None
        options = Options(name, (c_uint8 * 6)(*mac), ip, link_rate, secret, staging_bytes)
        options.initial_values, options.netmask, options.gateway = initial_values, netmask, gateway
        error = c_int(0)
        self._device = library.downbeat_sim_create(byref(options), byref(error))
        if not self._device:
            self._check(error.value)
        self._buffer = ctypes.create_string_buffer(1 << 16)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._library.downbeat_sim_destroy(self._device)

    def reset(self, clocks: int) -> None:
        self._call("reset", clocks)

    def record_events(self) -> list[Event]:
        """The list to which each event of the flow engine will be appended."""
        events: list[Event] = []

        def append(_: None, event: Any) -> None:
            events.append(Event.from_buffer_copy(event.contents))

        self._callback = EVENT_CALLBACK(append)  # the library keeps no reference of Python's
        self._library.downbeat_sim_set_event_callback(self._device, self._callback, None)
        return events

    def record_reports(self) -> list[PathReport]:
        """The list to which each path report will be appended."""
        reports: list[PathReport] = []

        def append(_: None, report: Any) -> None:
            reports.append(PathReport.from_buffer_copy(report.contents))

        self._report_callback = REPORT_CALLBACK(append)
        self._library.downbeat_sim_set_report_callback(self._device, self._report_callback, None)
        return reports

    @property
    def now(self) -> int:
        return int(self._library.downbeat_sim_now(self._device))

    @property
    def next_deadline(self) -> int:
        return int(self._library.downbeat_sim_next_deadline(self._device))

    def advance(self, until: int) -> None:
        self._call("advance_to", until)

    def put_frame(self, frame: bytes, arrival: int) -> None:
        self._call("put_frame", frame, len(frame), arrival)

    def frames(self) -> list[tuple[bytes, int]]:
        """All frames that have left since the last call, with the times of their SFDs."""
        departure, found = c_uint64(0), []
        while (
            length := self._library.downbeat_sim_get_frame(
                self._device, self._buffer, len(self._buffer), byref(departure)
            )
        ) > 0:
            found.append((self._buffer.raw[:length], departure.value))
        return found

    def add_neighbour(self, ip: int, mac: bytes) -> None:
        """A static neighbour: it is never asked for."""
        self._call("add_neighbour", ip, mac)

    def connect(self, remote_ip: int, remote_port: int, local_port: int = 0, **parameters: Any) -> int:
        """`parameters` as in struct downbeat_parameters; names of policies as bytes."""
        name = c_int32(0)
        self._call("connect", remote_ip, remote_port, local_port, byref(Parameters(**parameters)), byref(name))
        return name.value

    def listen(self, port: int, **parameters: Any) -> None:
        self._call("listen", port, byref(Parameters(**parameters)))

    def unlisten(self, port: int) -> None:
        """Connections that wait to be accepted there are aborted."""
        self._call("unlisten", port)

    def set_policies(self, connection: int, **parameters: Any) -> None:
        """`startup`, `steady` and their arguments; what is not given is as for a new connection."""
        self._call("set_policies", connection, byref(Parameters(**parameters)))

    def start(self, connection: int, **parameters: Any) -> None:
        """The connection starts again: policies, their arguments, `ssthresh` and `start` (StartValues)."""
        self._call("start", connection, byref(Parameters(**parameters)))

    def accept(self, port: int) -> int:
        name = c_int32(0)
        self._call("accept", port, byref(name))
        return name.value

    def send(self, connection: int, data: bytes, *, urgent: bool = False) -> int:
        return self._call("send_urgent" if urgent else "send", connection, data, len(data))

    def receive(self, connection: int, capacity: int = 1 << 16) -> bytes:
        """Empty at the end of the peer's stream."""
        length = self._call("receive", connection, self._buffer, min(capacity, len(self._buffer)))
        return self._buffer.raw[:length]

    def shutdown(self, connection: int) -> None:
        self._call("shutdown", connection)

    def close(self, connection: int) -> None:
        self._call("close", connection)

    def abort(self, connection: int) -> None:
        self._call("abort", connection)

    def info(self, connection: int) -> Info:
        info = Info()
        self._call("connection_info", connection, byref(info))
        return info

    def counters(self) -> Counters:
        counters = Counters()
        self._library.downbeat_sim_get_counters(self._device, byref(counters))
        return counters

    def text(self, what: str, number: int) -> str:
        """The name behind a number of an Event: `what` is event, congestion, startup or steady."""
        name: bytes = getattr(self._library, f"downbeat_sim_{what}_text")(number)
        return name.decode()

    def waves(self, path: str) -> None:
        self._call("waves", path.encode())

    def _call(self, name: str, *arguments: Any) -> int:
        return self._check(getattr(self._library, f"downbeat_sim_{name}")(self._device, *arguments))

    def _check(self, result: int) -> int:
        if result == Error.POLICY_ARGUMENT:
            raise DeviceError(result, self._library.downbeat_sim_argument_problem(self._device).decode())
        if result < 0:
            raise DeviceError(result, self._library.downbeat_error_text(result).decode())
        return result
