# SPDX-License-Identifier: BSD-2-Clause-Patent
"""uart: against a pseudo terminal, behind which the test speaks the bridge's protocol."""

from __future__ import annotations

import contextlib
import os
import pty
import termios
import threading
import time
import tty
from collections import Counter
from collections.abc import Iterator

import pytest
from downbeat_toe.driver import Device, DriverError, Error

from sw.tests.driver.mapped_core import number


class Bridge:
    """Words at addresses, as LiteX's uartbone gives them."""

    def __init__(self) -> None:
        self.words: dict[int, int] = {}
        self.reads = Counter[int]()
        self.delay = 0.0  # seconds before the next response
        self.lost = 0  # bytes of the next response
        self.main, other = pty.openpty()
        tty.setraw(self.main)
        tty.setraw(other)
        self.name = os.ttyname(other)
        self.other = other
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
                    self.reads[at] += 1
                    response = self.words.get(at, 0).to_bytes(4)[self.lost :]
                    time.sleep(self.delay)
                    self.delay, self.lost = 0.0, 0
                    os.write(self.main, response)

    def close(self) -> None:
        os.close(self.other)
        self._thread.join()  # before its descriptor's number is another test's
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
        opened = bridge.reads[0]
        counters = device.counters()
        assert counters["receive_bad_frame"] == 77 and len(counters) > 40
        assert device.log() == []
        bridge.words |= {_register("RECORD_FOUND"): 1, _register("RECORD_TIME_NS_HIGH"): 2, _register("RECORD_KIND"): 3}
        bridge.words[_register("RECORD_CONGESTION_RTT")] = 123
        newest = device.log(limit=1)[0]
        assert (newest.time, newest.kind, newest.rtt) == (2 << 32, 3, 123)
        assert device.counters() and bridge.reads[0] == opened, "the line is in order: no read looks whether it is"
        assert bridge.words[_register("LOG")] == 0  # it goes on
        assert bridge.words[_register("RECORD_SELECT")] == 1 << 16


def test_the_line_needs_no_modem(bridge: Bridge) -> None:
    with Device(f"uart:{bridge.name}"):
        assert termios.tcgetattr(bridge.other)[2] & termios.CLOCAL


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


def _numbered(bridge: Bridge, device: Device) -> dict[str, int]:
    """Each counter with a value of its own."""
    for value, name in enumerate(device.counters()):
        bridge.words[_register(f"COUNTER_{name.upper()}")] = 1000 + value
    return {name: 1000 + value for value, name in enumerate(device.counters())}


@pytest.mark.parametrize("fault", ["late", "later than the next request", "cut"])
def test_a_response_that_is_late_or_cut_is_nobody_s(bridge: Bridge, fault: str) -> None:
    """One read fails; those after it have their own values."""
    with Device(f"uart:{bridge.name}") as device:
        right = _numbered(bridge, device)
        bridge.delay, bridge.lost = {"late": (1.1, 0), "later than the next request": (1.2, 0), "cut": (0.0, 1)}[fault]
        with pytest.raises(DriverError, match="the board does not answer"):
            device.counters()
        if fault == "late":
            time.sleep(0.2)
        assert device.counters() == right


def test_noise_on_the_line_is_nobody_s(bridge: Bridge) -> None:
    with Device(f"uart:{bridge.name}") as device:
        right = _numbered(bridge, device)
        os.write(bridge.main, b"\x55\xaa")
        time.sleep(0.01)
        assert device.counters() == right


def test_an_open_does_not_take_what_comes_late_for_the_program_before(bridge: Bridge) -> None:
    """It was killed: its response comes during the open."""
    late = threading.Timer(0.05, os.write, [bridge.main, bytes(4)])
    late.start()
    with Device(f"uart:{bridge.name}") as device:
        right = _numbered(bridge, device)
        assert device.counters() == right
    late.join()
