# SPDX-License-Identifier: BSD-2-Clause-Patent
"""uart: against a pseudo terminal, behind which the test speaks the bridge's protocol."""

from __future__ import annotations

import contextlib
import os
import pty
import threading
import tty
from collections.abc import Iterator

import pytest
from downbeat_toe.driver import Device, DriverError, Error

from sw.tests.driver.test_driver_mapped import number


class Bridge:
    """Words at addresses, as LiteX's uartbone gives them."""

    def __init__(self) -> None:
        self.words: dict[int, int] = {}
        self.main, other = pty.openpty()
        tty.setraw(self.main)
        tty.setraw(other)
        self.name = os.ttyname(other)
        self._other = other
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _take(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            part = os.read(self.main, count - len(data))
            if not part:
                raise OSError
            data += part
        return data

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                command, words, *address = self._take(6)
                assert words == 1
                at = 4 * int.from_bytes(bytes(address))
                if command == 1:
                    self.words[at] = int.from_bytes(self._take(4))
                else:
                    assert command == 2
                    os.write(self.main, self.words.get(at, 0).to_bytes(4))

    def close(self) -> None:
        os.close(self._other)
        os.close(self.main)


@pytest.fixture
def bridge() -> Iterator[Bridge]:
    made = Bridge()
    made.words[0] = number("downbeat_registers.h", "DOWNBEAT_MAGIC")
    yield made
    made.close()


def _register(name: str) -> int:
    return number("downbeat_registers.h", f"DOWNBEAT_REG_{name}")


def test_registers_counters_and_log(bridge: Bridge) -> None:
    bridge.words |= {_register("VERSION"): 0x010203, _register("FLOWS"): 16}
    bridge.words[_register("COUNTER_RECEIVE_BAD_FRAME")] = 77
    with Device(f"uart:{bridge.name}") as device:
        info = device.info
        assert (info.major, info.minor, info.patch, info.flows) == (1, 2, 3, 16)
        counters = device.counters()
        assert counters["receive_bad_frame"] == 77 and len(counters) > 40
        bridge.words |= {_register("RECORD_FOUND"): 1, _register("RECORD_TIME_NS_HIGH"): 2, _register("RECORD_KIND"): 3}
        bridge.words[_register("RECORD_CONGESTION_RTT")] = 123
        newest = device.log(limit=1)[0]
        assert (newest.time, newest.kind, newest.rtt) == (2 << 32, 3, 123)
        assert device.counters()  # the line is in order
        assert bridge.words[_register("LOG")] == 0  # it goes on
        assert bridge.words[_register("RECORD_SELECT")] == 1 << 16


def test_no_payload(bridge: Bridge) -> None:
    with Device(f"uart:{bridge.name}") as device:
        with pytest.raises(DriverError, match="has no payload") as refused:
            device.connect(1, 1)
        assert refused.value.code is Error.NOT_SUPPORTED


def test_a_silent_board() -> None:
    main, other = pty.openpty()
    with pytest.raises(DriverError, match="the board does not answer"):
        Device(f"uart:{os.ttyname(other)}")
    os.close(main)
    os.close(other)
