# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Words of a board's bus over its UART, in the protocol of LiteX's uartbone (another client:
litex/tools/remote/comm_uart.py)."""

from __future__ import annotations

import errno
import os
import select
import termios
from pathlib import Path
from typing import Protocol

from downbeat_toe.refused import Refused

WRITE, READ, WRITE_FIXED, READ_FIXED = 1, 2, 3, 4
MOST = 255  # words of a request
ATTEMPTS = 5
SILENCE = 0.12  # seconds; the bridge forgets a request that stops for 0.1 s


class Line(Protocol):
    """Bytes to the board and back."""

    def exchange(self, request: bytes, answer: int) -> bytes:
        """Sends a request and returns the `answer` bytes that it asks for."""


class Serial:
    """A serial device, 8N1. A response has no name, so a late one would shift all that follow: after a time-out the
    line must be silent around a read before it is used again (sw/driver/src/uart_registers.h)."""

    def __init__(self, device: Path, baud: int = 115200, time_limit: float = 1.0) -> None:
        speed = getattr(termios, f"B{baud}", None)
        if speed is None:
            raise Refused(f"{baud} baud: this system has no such speed; the boards use 115200")
        try:
            self._file = os.open(device, os.O_RDWR | os.O_NOCTTY)
            settings = termios.tcgetattr(self._file)
        except (OSError, termios.error) as error:
            raise Refused(
                f"{device}: no serial device ({error.args[1]}); which is the board's? (ls /dev/ttyACM* /dev/ttyUSB*)"
            ) from None
        settings[0] = settings[1] = settings[3] = 0  # raw
        settings[2] = termios.CS8 | termios.CREAD | termios.CLOCAL
        settings[4] = settings[5] = speed
        termios.tcsetattr(self._file, termios.TCSAFLUSH, settings)
        self._device, self._time_limit, self._in_step = device, time_limit, False

    def exchange(self, request: bytes, answer: int) -> bytes:
        try:
            self._begin()
            return self._exchange(request, answer)
        except OSError as error:
            raise Refused(f"{self._device}: the serial device went away ({error.strerror}): connect it again") from None

    def _begin(self) -> None:
        for _ in range(ATTEMPTS):
            if self._in_step:
                break
            if self._falls_silent():
                self._exchange(_head(READ, 1, 0), 4)
                self._in_step = self._falls_silent()
        if not self._in_step:
            raise Refused(f"{self._device}: bytes come that no request asked for")
        termios.tcflush(self._file, termios.TCIFLUSH)

    def _falls_silent(self) -> bool:
        late = False
        while select.select([self._file], [], [], SILENCE)[0]:
            late = True
            if not os.read(self._file, 4096):
                raise OSError(errno.ENODEV, os.strerror(errno.ENODEV))
        return not late

    def _exchange(self, request: bytes, answer: int) -> bytes:
        self._in_step = False
        while request:
            request = request[os.write(self._file, request) :]
        found = b""
        while len(found) < answer:
            ready, _, _ = select.select([self._file], [], [], self._time_limit)
            if not ready:
                raise Refused(
                    f"{self._device}: the board does not answer; is it programmed "
                    "(make bitstream PROGRAM=1), are RX and TX crossed?"
                )
            part = os.read(self._file, answer - len(found))
            if not part:
                raise OSError(errno.ENODEV, os.strerror(errno.ENODEV))
            found += part
        self._in_step = True
        return found


class Bone:
    """Words at byte addresses."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def read(self, address: int, count: int = 1, *, fixed: bool = False) -> list[int]:
        """Words from the address on, or all from that one."""
        words: list[int] = []
        while len(words) < count:
            part = min(count - len(words), MOST)
            at = address if fixed else address + 4 * len(words)
            answer = self._line.exchange(_head(READ_FIXED if fixed else READ, part, at), 4 * part)
            words += [int.from_bytes(answer[i : i + 4], "big") for i in range(0, 4 * part, 4)]
        return words

    def write(self, address: int, *words: int) -> None:
        for at in range(0, len(words), MOST):
            part = words[at : at + MOST]
            data = b"".join(word.to_bytes(4, "big") for word in part)
            self._line.exchange(_head(WRITE, len(part), address + 4 * at) + data, 0)


def _head(command: int, words: int, address: int) -> bytes:
    return bytes([command, words]) + (address // 4).to_bytes(4, "big")
