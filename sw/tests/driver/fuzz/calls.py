# SPDX-License-Identifier: BSD-2-Clause-Patent
"""System calls by the C library, without Python's own repetitions and time-outs, and what they may name."""

from __future__ import annotations

import ctypes
import errno
import os
import select
import socket
import struct
import zlib
from collections.abc import Sequence

LIBRARY = ctypes.CDLL(None, use_errno=True)
FIONREAD, SIOCATMARK = 0x541B, 0x8905
WATCHED = select.POLLIN | select.POLLOUT | select.POLLPRI | select.POLLRDHUP
MAPPED = bytes(10) + b"\xff\xff"  # before an IPv4 address in an IPv6 one

Outcome = int | str  # a call's result or its error's name


def call(name: str, *arguments: object) -> Outcome:
    ctypes.set_errno(0)
    result: int = getattr(LIBRARY, name)(*arguments)
    return result if result >= 0 else errno.errorcode[ctypes.get_errno()]


def encoded(family: int, ip: str, port: int) -> bytes:
    """A socket address; of an IPv6 socket the IPv4 address is mapped, and 0.0.0.0 is `::`."""
    packed = socket.inet_aton(ip)
    head = struct.pack("=H", family) + struct.pack("!H", port)
    if family == socket.AF_INET:
        return head + packed + bytes(8)
    return head + bytes(4) + (MAPPED + packed if ip != "0.0.0.0" else bytes(16)) + bytes(4)


def decoded(raw: bytes) -> tuple[str, int]:
    """IP, with the mapping's prefix, and port."""
    family, port = struct.unpack_from("=H", raw)[0], struct.unpack_from("!H", raw, 2)[0]
    if family == socket.AF_INET:
        return socket.inet_ntoa(raw[4:8]), port
    return socket.inet_ntop(socket.AF_INET6, raw[8:24]), port


def named(which: str, descriptor: int) -> Outcome | tuple[str, int]:
    """getsockname, getpeername."""
    place, length = ctypes.create_string_buffer(28), ctypes.c_uint32(28)
    outcome = call(which, descriptor, place, ctypes.byref(length))
    return outcome if isinstance(outcome, str) else decoded(place.raw)


def accepted(descriptor: int, flags: int) -> tuple[Outcome, tuple[str, int]]:
    place, length = ctypes.create_string_buffer(28), ctypes.c_uint32(28)
    outcome = call("accept4", descriptor, place, ctypes.byref(length), flags)
    return outcome, decoded(place.raw) if isinstance(outcome, int) else ("", 0)


class Span(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


class Message(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_void_p), ("name_length", ctypes.c_uint32), ("spans", ctypes.POINTER(Span)),
        ("count", ctypes.c_size_t), ("control", ctypes.c_void_p), ("control_length", ctypes.c_size_t),
        ("flags", ctypes.c_int),
    )  # fmt: skip


def _spans(place: ctypes.Array[ctypes.c_char], size: int) -> ctypes.Array[Span]:
    """Two, of which the second begins in the middle."""
    half = size // 2
    base = ctypes.addressof(place)
    return (Span * 2)(Span(base, half), Span(base + half, size - half))


SENDS, RECEIVES = ("send", "write", "writev", "sendmsg", "sendfile", "splice"), ("recv", "read", "readv", "recvmsg")


def sent(how: str, descriptor: int, data: bytes, flags: int) -> Outcome:
    place = ctypes.create_string_buffer(data, max(len(data), 1))
    spans = _spans(place, len(data))
    if how == "send":
        return call("send", descriptor, place, len(data), flags)
    if how == "sendmsg":
        return call("sendmsg", descriptor, ctypes.byref(Message(spans=spans, count=2)), flags)
    if how == "writev":
        return call("writev", descriptor, spans, 2)
    if how == "write":
        return call("write", descriptor, place, len(data))
    return _from_file(how, descriptor, data)


def _from_file(how: str, descriptor: int, data: bytes) -> Outcome:
    if how == "sendfile":
        file = os.memfd_create("file")
        os.pwrite(file, data, 0)
        outcome = call("sendfile", descriptor, file, None, ctypes.c_size_t(len(data)))
        os.close(file)
        return outcome
    reads, writes = os.pipe()
    os.write(writes, data or b"!")
    outcome = call("splice", reads, None, descriptor, None, ctypes.c_size_t(len(data) or 1), 0)
    os.close(reads)
    os.close(writes)
    return outcome


def received(how: str, descriptor: int, size: int, flags: int) -> Sequence[Outcome]:
    """Result, and what came as a check sum."""
    place = ctypes.create_string_buffer(size)
    spans = _spans(place, size)
    if how == "recv":
        outcome = call("recv", descriptor, place, size, flags)
    elif how == "recvmsg":
        outcome = call("recvmsg", descriptor, ctypes.byref(Message(spans=spans, count=2)), flags)
    elif how == "readv":
        outcome = call("readv", descriptor, spans, 2)
    else:
        outcome = call("read", descriptor, place, size)
    return [outcome] if isinstance(outcome, str) else [outcome, zlib.crc32(place.raw[:outcome])]


def polled(descriptor: int) -> list[int]:
    """Events, bytes that can be read, and whether it is connected."""
    poll = select.poll()
    poll.register(descriptor, WATCHED)
    waiting = ctypes.c_int(-1)
    call("ioctl", descriptor, FIONREAD, ctypes.byref(waiting))
    events = sum(each for _, each in poll.poll(0))
    connected = isinstance(named("getpeername", descriptor), tuple)
    if not connected:  # the reset may have met the urgent byte
        events &= ~select.POLLPRI
    return [events, waiting.value, int(connected)]


def set_option(descriptor: int, level: int, name: int, value: bytes) -> Outcome:
    return call("setsockopt", descriptor, level, name, value, len(value))


def get_option(descriptor: int, level: int, name: int, size: int = 4) -> list[Outcome]:
    place, length = ctypes.create_string_buffer(max(size, 1)), ctypes.c_uint32(size)
    outcome = call("getsockopt", descriptor, level, name, place, ctypes.byref(length))
    return [outcome] if isinstance(outcome, str) else [length.value, place.raw[: length.value].hex()]


def seconds(time: float) -> bytes:
    return struct.pack("ll", int(time), int(time % 1 * 1e6))
