# SPDX-License-Identifier: BSD-2-Clause-Patent
"""libdownbeat at a socket where another process than a NIC answers."""

from __future__ import annotations

import array
import contextlib
import fcntl
import os
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from downbeat_toe.driver import Device, DriverError, Error

from sw.tests.driver.conftest import ROOT
from sw.tests.driver.raw_client import COMMAND, COMMANDS, GEOMETRY, HASH, MAILBOX, NAMES, NOTIFICATION, NOTIFICATIONS

FLOWS, RING, PORTS = 16, 1 << 14, 4
RINGS = COMMANDS * COMMAND + NOTIFICATIONS * NOTIFICATION  # bytes of a port's
SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
NOBODY = 65534


@dataclass
class Welcome:
    """Sizes and files as a NIC gives them, but for what a test changes."""

    changed: dict[str, int] = field(default_factory=dict)  # by name in the geometry
    named: int | None = None  # bytes of the memory in the message
    files: list[tuple[int, int]] = field(default_factory=list)  # bytes and seals

    @property
    def memory(self) -> int:
        geometry = self.geometry
        return 2 * geometry["flows"] * max(geometry["send"], geometry["receive"]) + geometry["ports"] * RINGS

    @property
    def geometry(self) -> dict[str, int]:
        given = {"format_hash": HASH, "flows": FLOWS, "ports": PORTS, "send": RING, "receive": RING}
        return dict.fromkeys(NAMES, 0) | given | self.changed

    def send(self, line: socket.socket) -> None:
        made = [os.memfd_create("false", os.MFD_ALLOW_SEALING) for _ in self.files]
        for file, (size, seals) in zip(made, self.files, strict=True):
            os.ftruncate(file, size)
            fcntl.fcntl(file, fcntl.F_ADD_SEALS, seals)
        named = self.memory if self.named is None else self.named
        message = struct.pack("<i252s", 0, b"") + GEOMETRY.pack(*self.geometry.values()) + struct.pack("<Q", named)
        line.sendmsg([message], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", made))] if made else [])


@contextmanager
def serving(path: Path, welcome: Welcome | None) -> Iterator[None]:
    """None: it accepts, and says nothing more than its end."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(str(path))
        listening.listen()

        def serve() -> None:
            line, _ = listening.accept()
            with line, contextlib.suppress(OSError):
                line.recv(100)
                if welcome:
                    welcome.send(line)
                    line.recv(100)

        thread = threading.Thread(target=serve)
        thread.start()
        yield
        thread.join()


def whole(**changed: int) -> Welcome:
    welcome = Welcome(changed)
    welcome.files = [(welcome.memory, SEALS), (MAILBOX, SEALS)]
    return welcome


def test_what_the_tests_change_is_accepted_as_it_is(tmp_path: Path) -> None:
    with serving(tmp_path / "nic.sock", whole()), Device(f"simd:{tmp_path}/nic.sock") as device:
        assert device.info.flows == FLOWS


@pytest.mark.parametrize(
    "changed",
    [{"flows": 0}, {"flows": (1 << 16) + 1}, {"flows": (1 << 32) - 1}, {"send": 0}, {"send": RING - 1},
     {"receive": 3 << 12}, {"receive": 1 << 31}, {"ports": 0}, {"ports": 33}, {"port": PORTS}],
    ids=lambda changed: "{}={}".format(*next(iter(changed.items()))),
)  # fmt: skip
def test_sizes_that_no_core_has_are_refused(tmp_path: Path, changed: dict[str, int]) -> None:
    welcome = Welcome(changed, files=[(1 << 16, SEALS), (MAILBOX, SEALS)])
    with (
        serving(tmp_path / "nic.sock", welcome),
        pytest.raises(DriverError, match="the NIC names sizes that no core has") as refused,
    ):
        Device(f"simd:{tmp_path}/nic.sock")
    assert refused.value.code is Error.NO_DEVICE


def test_a_memory_of_another_size_than_the_rings_is_refused(tmp_path: Path) -> None:
    """The message names it as small as the file is."""
    welcome = whole()
    welcome.named, welcome.files[0] = 4096, (4096, SEALS)
    with serving(tmp_path / "nic.sock", welcome), pytest.raises(DriverError, match="sizes that no core has"):
        Device(f"simd:{tmp_path}/nic.sock")


@pytest.mark.parametrize("which", [0, 1], ids=["memory", "mailbox"])
@pytest.mark.parametrize("fault", ["short", "may shrink", "may be unsealed", "missing"])
def test_files_that_do_not_keep_their_size_are_refused(tmp_path: Path, which: int, fault: str) -> None:
    """An access beyond their end would be SIGBUS."""
    welcome = whole()
    size, seals = welcome.files[which]
    if fault == "missing":
        del welcome.files[which]
    else:
        welcome.files[which] = {
            "short": (size - 4096, seals),
            "may shrink": (size, seals & ~fcntl.F_SEAL_SHRINK),
            "may be unsealed": (size, seals & ~fcntl.F_SEAL_SEAL),
        }[fault]
    with (
        serving(tmp_path / "nic.sock", welcome),
        pytest.raises(DriverError, match="gives no memory of its size that is sealed") as refused,
    ):
        Device(f"simd:{tmp_path}/nic.sock")
    assert refused.value.code is Error.NO_DEVICE


def test_a_nic_that_ends_before_its_welcome_is_refused(tmp_path: Path) -> None:
    with serving(tmp_path / "nic.sock", None), pytest.raises(DriverError, match="speaks another protocol"):
        Device(f"simd:{tmp_path}/nic.sock")


OF_NOBODY = f"""
import os, sys
from pathlib import Path
from sw.tests.driver.test_driver_false_nic import serving, whole
os.setgroups([])
os.setgid({NOBODY})
os.setuid({NOBODY})
with serving(Path(sys.argv[1]), whole()):
    print("ready", flush=True)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="not root: no second user to be")
def test_another_user_s_nic_is_refused() -> None:
    """Its memory is as it should be; only its owner is not."""
    with TemporaryDirectory() as place:
        Path(place).chmod(0o777)
        path = f"{place}/nic.sock"
        command = [sys.executable, "-c", OF_NOBODY, path]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
            try:
                assert process.stdout and process.stdout.readline() == "ready\n"
                with pytest.raises(
                    DriverError, match=f"the NIC is of user {NOBODY}: a program uses its own"
                ) as refused:
                    Device(f"simd:{path}")
                assert refused.value.code is Error.NO_PERMISSION
            finally:
                process.kill()
