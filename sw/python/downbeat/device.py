# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The Verilated core from Python: sim/device/downbeat_sim.h by ctypes, with errors as exceptions."""

from __future__ import annotations

import ctypes
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    byref,
    c_char_p,
    c_int,
    c_int32,
    c_int64,
    c_size_t,
    c_uint,
    c_uint8,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
)
from enum import IntEnum
from pathlib import Path
from types import TracebackType
from typing import Any, Self

NEVER = (1 << 64) - 1
LARGEST_FRAME = 9018


def nanoseconds(ns: float) -> int:
    """A time as the device has it: units of 2^-16 ns."""
    return round(ns * 65536)


class Error(IntEnum):
    """enum downbeat_error."""

    OK = 0
    WOULD_BLOCK = -1
    INVALID_ARGUMENT = -2
    UNKNOWN_PRESET = -3
    UNKNOWN_POLICY = -4
    UNKNOWN_CONNECTION = -5
    NOT_LISTENING = -6
    SHUT_DOWN = -7
    REFUSED = -8
    RESET = -9
    TIMED_OUT = -10
    ABORTED = -11
    OUT_OF_RESOURCES = -12
    FRAME_SIZE = -13
    NO_WAVES = -14
    UNREACHABLE = -15
    POLICY_ARGUMENT = -16
    ADDRESS_IN_USE = -17


class State(IntEnum):
    """enum downbeat_state (RFC 9293 3.3.2)."""

    CLOSED = 0
    SYN_SENT = 1
    SYN_RECEIVED = 2
    ESTABLISHED = 3
    FIN_WAIT_1 = 4
    FIN_WAIT_2 = 5
    CLOSE_WAIT = 6
    CLOSING = 7
    LAST_ACK = 8
    TIME_WAIT = 9


class DeviceError(Exception):
    """A call of the device failed; `code` says how."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = Error(code)


class Options(Structure):
    _fields_ = (
        ("preset", c_char_p),
        ("mac", c_uint8 * 6),
        ("ip", c_uint32),
        ("link_rate", c_uint64),
        ("secret", c_uint64),
        ("staging_bytes", c_uint32),
        ("initial_values", c_uint32),
        ("netmask", c_uint32),
        ("gateway", c_uint32),
    )


class Parameters(Structure):
    _fields_ = (
        ("startup", c_char_p),
        ("steady", c_char_p),
        ("initial_window", c_uint32),
        ("ssthresh", c_uint32),
        ("spacing", c_uint64),
        *((name, c_uint32) for name in ("no_delay", "ecn", "keep_alive", "user_timeout")),
        *((name, c_uint32) for name in ("differentiated_services", "time_to_live")),
        ("startup_argument", c_uint64 * 2),
        ("steady_argument", c_uint64 * 2),
    )


class Info(Structure):
    _fields_ = (
        ("state", c_int),
        ("error", c_int),
        ("flow", c_uint32),
        ("generation", c_uint32),
        ("remote_ip", c_uint32),
        ("remote_port", c_uint16),
        ("local_port", c_uint16),
        ("acknowledged", c_uint64),
        ("unacknowledged", c_uint64),
        ("received", c_uint64),
        ("peer_finished", c_int),
        ("urgent_left", c_uint64),
        ("network_error_type", c_int),
        ("network_error_code", c_int),
        ("network_errors", c_uint32),
        ("struggling", c_int),
    )


class Counters(Structure):
    _fields_ = tuple(
        (name, c_uint64)
        for name in (
            "clocks",
            "events",
            "frames_in",
            "frames_out",
            "bypass_in",
            "late_arrivals",
            "late_departures",
            "worst_lateness",
            "frames_refused",
        )
    )


class Event(Structure):
    _fields_ = (
        ("time", c_uint64),
        ("flow", c_uint32),
        ("generation", c_uint32),
        *(
            (name, c_uint8)
            for name in ("kind", "live", "state", "reason", "congestion_kind", "rtt_valid", "uninflated")
        ),
        *(
            (name, c_uint8)
            for name in ("startup", "steady", "sent", "retransmission", "asked", "sent_probe", "sent_ahead")
        ),
        *((name, c_uint8) for name in ("probe_answered", "probe_begins", "probe_disturbed")),
        ("segment_size", c_uint16),
        ("sent_length", c_uint16),
        *((name, c_uint32) for name in ("acked", "flight", "initial_window", "initial_ssthresh")),
        *((name, c_uint64) for name in ("rtt", "departure_gap", "arrival_gap", "cwnd", "ssthresh")),
        *((name, c_uint32) for name in ("acknowledged", "next_send", "highest_sent", "send_window")),
        *((name, c_uint32) for name in ("received", "sent_sequence")),
    )


EVENT_CALLBACK = CFUNCTYPE(None, c_void_p, POINTER(Event))


def load(path: Path) -> ctypes.CDLL:
    """libdownbeat_sim.so with the types of its functions."""
    library = ctypes.CDLL(str(path))
    device, connection, time = c_void_p, c_int32, c_uint64
    for name, result, arguments in (
        ("create", c_void_p, [POINTER(Options), POINTER(c_int)]),
        ("destroy", None, [device]),
        ("preset", c_char_p, []),
        ("tap", c_char_p, []),
        ("highest_link_rate", c_uint64, []),
        ("now", time, [device]),
        ("reset", c_int, [device, c_uint]),
        ("advance_to", c_int, [device, time]),
        ("next_deadline", time, [device]),
        ("put_frame", c_int, [device, c_char_p, c_size_t, time]),
        ("get_frame", c_int64, [device, c_char_p, c_size_t, POINTER(time)]),
        ("add_neighbour", c_int, [device, c_uint32, c_char_p]),
        ("connect", c_int, [device, c_uint32, c_uint16, c_uint16, POINTER(Parameters), POINTER(connection)]),
        ("listen", c_int, [device, c_uint16, POINTER(Parameters)]),
        ("set_policies", c_int, [device, connection, POINTER(Parameters)]),
        ("argument_problem", c_char_p, [device]),
        ("accept", c_int, [device, c_uint16, POINTER(connection)]),
        ("send", c_int64, [device, connection, c_char_p, c_size_t]),
        ("send_urgent", c_int64, [device, connection, c_char_p, c_size_t]),
        ("receive", c_int64, [device, connection, c_char_p, c_size_t]),
        ("shutdown", c_int, [device, connection]),
        ("close", c_int, [device, connection]),
        ("abort", c_int, [device, connection]),
        ("connection_info", c_int, [device, connection, POINTER(Info)]),
        ("get_counters", None, [device, POINTER(Counters)]),
        ("waves", c_int, [device, c_char_p]),
        ("set_event_callback", None, [device, EVENT_CALLBACK, c_void_p]),
        ("event_text", c_char_p, [c_int]),
        ("congestion_text", c_char_p, [c_int]),
        ("startup_text", c_char_p, [c_int]),
        ("steady_text", c_char_p, [c_int]),
        ("error_text", c_char_p, [c_int]),
    ):
        function = getattr(library, f"downbeat_{name}")
        function.restype, function.argtypes = result, arguments
    return library


class Device:
    """One core. Calls answer at once; what would block raises DeviceError with WOULD_BLOCK."""

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
        self._device = library.downbeat_create(byref(options), byref(error))
        if not self._device:
            self._check(error.value)
        self._buffer = ctypes.create_string_buffer(1 << 16)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._library.downbeat_destroy(self._device)

    def reset(self, clocks: int) -> None:
        self._call("reset", clocks)

    def record_events(self) -> list[Event]:
        """The list to which each event of the flow engine will be appended."""
        events: list[Event] = []

        def append(_: None, event: Any) -> None:
            events.append(Event.from_buffer_copy(event.contents))

        self._callback = EVENT_CALLBACK(append)  # the library keeps no reference of Python's
        self._library.downbeat_set_event_callback(self._device, self._callback, None)
        return events

    @property
    def now(self) -> int:
        return int(self._library.downbeat_now(self._device))

    @property
    def next_deadline(self) -> int:
        return int(self._library.downbeat_next_deadline(self._device))

    def advance(self, until: int) -> None:
        self._call("advance_to", until)

    def put_frame(self, frame: bytes, arrival: int) -> None:
        self._call("put_frame", frame, len(frame), arrival)

    def frames(self) -> list[tuple[bytes, int]]:
        """All frames that have left since the last call, with the times of their SFDs."""
        departure, found = c_uint64(0), []
        while (
            length := self._library.downbeat_get_frame(self._device, self._buffer, len(self._buffer), byref(departure))
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

    def set_policies(self, connection: int, **parameters: Any) -> None:
        """`startup`, `steady` and their arguments; what is not given is as for a new connection."""
        self._call("set_policies", connection, byref(Parameters(**parameters)))

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
        self._library.downbeat_get_counters(self._device, byref(counters))
        return counters

    def text(self, what: str, number: int) -> str:
        """The name behind a number of an Event: `what` is event, congestion, startup or steady."""
        name: bytes = getattr(self._library, f"downbeat_{what}_text")(number)
        return name.decode()

    def waves(self, path: str) -> None:
        self._call("waves", path.encode())

    def _call(self, name: str, *arguments: Any) -> int:
        return self._check(getattr(self._library, f"downbeat_{name}")(self._device, *arguments))

    def _check(self, result: int) -> int:
        if result == Error.POLICY_ARGUMENT:
            raise DeviceError(result, self._library.downbeat_argument_problem(self._device).decode())
        if result < 0:
            raise DeviceError(result, self._library.downbeat_error_text(result).decode())
        return result
