# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The driver's calls with Python's types. A call that fails raises DriverError with the library's one line; None is
"not yet"."""

from __future__ import annotations

import ctypes
import select
import time
from ctypes import byref, c_char_p, c_uint32, c_uint64, c_void_p
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from downbeat_toe.driver.library import load
from downbeat_toe.driver.structures import (
    CItem,
    ConnectionInfo,
    DeviceInfo,
    Estimate,
    Options,
    Ready,
    SegmentStamp,
    Span,
    Statistics,
)
from downbeat_toe.structures import Error, Event, Parameters

ITEMS = 64
CHUNK = 1 << 16


class DriverError(Exception):
    """A call failed; `code` says how."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = Error(code)


@dataclass(frozen=True)
class Item:
    """A connection or a listener and its readiness."""

    connection: Connection | None
    listener: Listener | None
    ready: Ready


class Device:
    """One port of a device; the library is thread-safe, this object is for one thread."""

    def __init__(self, uri: str, library: ctypes.CDLL | None = None) -> None:
        self.library = library or load()
        self._device = c_void_p()
        self._connections: dict[int, Connection] = {}
        self._listeners: dict[int, Listener] = {}
        self.check(self.library.downbeat_open(uri.encode(), byref(self._device)))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self.release()

    def release(self) -> None:
        if self._device:
            self.library.downbeat_release(self._device)
            self._device = c_void_p()

    def check(self, result: int) -> int:
        """The result, or an exception for an error."""
        if result < 0:
            raise DriverError(result, (self.library.downbeat_problem() or b"").decode(errors="replace"))
        return result

    def blocked(self, result: int) -> bool:
        """Whether a call would block; an exception for another error."""
        if result == Error.WOULD_BLOCK:
            return True
        self.check(result)
        return False

    @property
    def descriptor(self) -> int:
        return int(self.library.downbeat_descriptor(self._device))

    @property
    def info(self) -> DeviceInfo:
        info = DeviceInfo()
        self.check(self.library.downbeat_device_info_of(self._device, byref(info)))
        return info

    @property
    def statistics(self) -> Statistics:
        statistics = Statistics()
        self.library.downbeat_get_statistics(self._device, byref(statistics))
        return statistics

    def set_addresses(self, ip: int, netmask: int, gateway: int, mac: bytes) -> None:
        self.check(self.library.downbeat_set_addresses(self._device, ip, netmask, gateway, mac))

    def add_neighbour(self, ip: int, mac: bytes) -> None:
        self.check(self.library.downbeat_add_neighbour(self._device, ip, mac))

    def counters(self) -> dict[str, int]:
        """The core's own counters."""
        found: dict[str, int] = {}
        name, value = c_char_p(), c_uint32()
        while (
            result := self.library.downbeat_core_counter(self._device, len(found), byref(name), byref(value))
        ) == Error.OK:
            found[(name.value or b"").decode()] = value.value
        if result != Error.INVALID_ARGUMENT:
            self.check(result)
        return found

    def log(self, limit: int = 1000) -> list[Event]:
        """The event log, the newest first."""
        self.check(self.library.downbeat_log_freeze(self._device, 1))
        events: list[Event] = []
        event = Event()
        while len(events) < limit and self.library.downbeat_log_read(self._device, len(events), byref(event)) == 0:
            events.append(Event.from_buffer_copy(event))
        self.check(self.library.downbeat_log_freeze(self._device, 0))
        return events

    def poll(self) -> list[Item]:
        """Connections and listeners that have become ready since the last call."""
        raw = (CItem * ITEMS)()
        count = self.check(self.library.downbeat_poll(self._device, raw, ITEMS))
        return [
            Item(self._connections.get(each.connection), self._listeners.get(each.listener), Ready(each.ready))
            for each in raw[:count]
        ]

    def wait(self, limit: float) -> list[Item]:
        """Those that are ready in real time, at most `limit` seconds later."""
        end = time.monotonic() + limit
        while not (items := self.poll()):
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.descriptor], [], [], left)[0]:
                return self.poll()
        return items

    def connect(self, ip: int, port: int, local_port: int = 0, options: Options | None = None) -> Connection:
        made = c_void_p()
        given = byref(options) if options else None
        self.check(self.library.downbeat_connect(self._device, ip, port, local_port, given, byref(made)))
        return self._known(made)

    def listen(self, port: int, backlog: int = 16, options: Options | None = None) -> Listener:
        made = c_void_p()
        given = byref(options) if options else None
        self.check(self.library.downbeat_listen(self._device, port, backlog, given, None, byref(made)))
        listener = Listener(self, made)
        self._listeners[made.value or 0] = listener
        return listener

    def _known(self, made: c_void_p) -> Connection:
        connection = Connection(self, made)
        self._connections[made.value or 0] = connection
        return connection

    def forget(self, handle: c_void_p) -> None:
        self._connections.pop(handle.value or 0, None)
        self._listeners.pop(handle.value or 0, None)

    # ---- sim: alone

    @property
    def now(self) -> int:
        return int(self.library.downbeat_sim_now(self._device))

    @property
    def next_deadline(self) -> int:
        return int(self.library.downbeat_sim_next_deadline(self._device))

    def advance(self, until: int) -> None:
        self.check(self.library.downbeat_sim_advance_to(self._device, until))

    def put_frame(self, frame: bytes, arrival: int) -> None:
        self.check(self.library.downbeat_sim_put_frame(self._device, frame, len(frame), arrival))

    def get_frame(self) -> tuple[bytes, int] | None:
        """The next frame that has left, and when."""
        buffer, departure = ctypes.create_string_buffer(CHUNK), c_uint64()
        length = self.library.downbeat_sim_get_frame(self._device, buffer, CHUNK, byref(departure))
        return None if self.blocked(length) else (buffer.raw[:length], departure.value)


class Listener:
    def __init__(self, device: Device, handle: c_void_p) -> None:
        self.device, self._handle = device, handle

    @property
    def ready(self) -> bool:
        """The core listens."""
        return not self.device.blocked(self.device.library.downbeat_listening(self._handle))

    def accept(self) -> Connection | None:
        made = c_void_p()
        if self.device.blocked(self.device.library.downbeat_accept(self._handle, byref(made))):
            return None
        return self.device._known(made)

    def close(self) -> None:
        self.device.forget(self._handle)
        self.device.check(self.device.library.downbeat_unlisten(self._handle))


class Connection:
    def __init__(self, device: Device, handle: c_void_p) -> None:
        self.device, self._handle = device, handle
        self._library = device.library

    @property
    def info(self) -> ConnectionInfo:
        info = ConnectionInfo()
        self.device.check(self._library.downbeat_connection_info(self._handle, byref(info)))
        return info

    @property
    def estimate(self) -> Estimate:
        """The estimate that it started from; DriverError where the device has no performance gateway."""
        estimate = Estimate()
        self.device.check(self._library.downbeat_connection_estimate(self._handle, byref(estimate)))
        return estimate

    def send(self, data: bytes) -> int:
        """Bytes taken; 0: none now."""
        taken = int(self._library.downbeat_send(self._handle, data, len(data)))
        return 0 if self.device.blocked(taken) else taken

    def receive(self, capacity: int = CHUNK) -> bytes | None:
        """Empty at the end of the peer's stream; None: nothing now."""
        buffer = ctypes.create_string_buffer(capacity)
        given = self._library.downbeat_receive(self._handle, buffer, capacity)
        return None if self.device.blocked(given) else buffer.raw[:given]

    def reserve(self) -> list[memoryview]:
        """The free part of the send ring, in place."""
        return self._spans("reserve")

    def commit(self, length: int, *, urgent: bool = False) -> None:
        """`urgent`: the last byte is."""
        call = self._library.downbeat_commit_urgent if urgent else self._library.downbeat_commit
        self.device.check(call(self._handle, length))

    def peek(self) -> list[memoryview]:
        """Unread bytes, in place."""
        return self._spans("peek")

    def consume(self, length: int) -> None:
        self.device.check(self._library.downbeat_consume(self._handle, length))

    def _spans(self, call: str) -> list[memoryview]:
        spans = (Span * 2)()
        if self.device.blocked(getattr(self._library, f"downbeat_{call}")(self._handle, spans)):
            return []
        parts = [each for each in spans if each.length]
        return [memoryview((ctypes.c_uint8 * each.length).from_address(_address(each))).cast("B") for each in parts]

    def keep_stamps(self) -> None:
        """From now on the stamps of its segments are kept."""
        self.device.check(self._library.downbeat_keep_stamps(self._handle))

    def stamps(self) -> tuple[list[SegmentStamp], int]:
        """Takes the stamps that have come; how many the program has lost so far."""
        taken: list[SegmentStamp] = []
        chunk, dropped = (SegmentStamp * 1024)(), c_uint64()
        while count := self._library.downbeat_stamps(self._handle, chunk, len(chunk), byref(dropped)):
            self.device.check(min(count, 0))
            taken += [SegmentStamp.from_buffer_copy(each) for each in chunk[:count]]
        return taken, dropped.value

    def shutdown(self) -> bool:
        """False: not yet."""
        return not self.device.blocked(self._library.downbeat_shutdown(self._handle))

    def close(self) -> None:
        self.device.forget(self._handle)
        self.device.check(self._library.downbeat_close(self._handle))

    def abort(self) -> None:
        self.device.forget(self._handle)
        self.device.check(self._library.downbeat_abort(self._handle))

    def set_policies(self, parameters: Parameters) -> bool:
        return not self.device.blocked(self._library.downbeat_set_policies(self._handle, byref(parameters)))

    def set_times(self, keep_alive: int, user_timeout: int) -> bool:
        """In units of 2^30 ns; 0: none. False: not yet."""
        return not self.device.blocked(self._library.downbeat_set_times(self._handle, keep_alive, user_timeout))

    def start(self, parameters: Parameters) -> bool:
        """Starts again with policies, `ssthresh` and `start`; the response is the info's `policy_error`."""
        return not self.device.blocked(self._library.downbeat_start(self._handle, byref(parameters)))


def _address(span: Span) -> int:
    return ctypes.cast(span.bytes, c_void_p).value or 0
