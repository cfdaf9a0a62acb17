# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Network namespaces of our own, each with one TAP interface in it.

A namespace has no name: this process moves into it, what it starts is born there, and the kernel removes it with all
that is in it when the last of them has gone, however that happens.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

CLONE_NEWNET = 0x40000000  # <sched.h>
TUN = Path("/dev/net/tun")
INTERFACE = "downbeat0"
CORE_IP, CORE_MAC = "10.0.0.1", "02:00:00:00:00:01"
LINUX_IP, LINUX_MAC = "10.0.0.2", "02:00:00:00:00:02"
# The simulated core may fall behind by a whole window of its receive buffer, which the interface must hold.
QUEUE_FRAMES = 2000


class Missing(Exception):
    """This machine or user cannot run the interop; the message says what is missing."""


def require(target: str = "interop") -> None:
    """Raises Missing unless this machine and user can make a namespace with an interface, for that make target."""
    if os.geteuid() != 0:
        raise Missing(f"not root: a network namespace and a TAP interface need it (sudo make {target})")
    if not TUN.exists():
        raise Missing(f"no {TUN}: load the module (modprobe tun), or give it to the container (--device {TUN})")
    if shutil.which("ip") is None:
        raise Missing("no ip command: install iproute2")
    try:
        with interface():
            pass
    except OSError as error:
        raise Missing(f"no network namespace: {error.strerror} (a container needs --cap-add SYS_ADMIN)") from None
    except subprocess.CalledProcessError as error:
        raise Missing(f"no TAP interface: {error.stderr.strip()} (a container needs --cap-add NET_ADMIN)") from None


@contextmanager
def interface(address: str = LINUX_IP, mac: str = LINUX_MAC) -> Iterator[str]:
    """Moves this process (its main thread, and what that starts) into a new namespace with a TAP interface, which is
    up."""
    _call("unshare", CLONE_NEWNET)
    for setting in ("all", "default"):
        # IPv6 sends frames of its own. They do no harm where the file is missing or must not be written.
        with suppress(OSError):
            Path(f"/proc/sys/net/ipv6/conf/{setting}/disable_ipv6").write_text("1")
    _ip("link", "set", "dev", "lo", "up")  # the way to own addresses: curl asks an nginx beside it
    _ip("tuntap", "add", "dev", INTERFACE, "mode", "tap")
    try:
        _ip("link", "set", "dev", INTERFACE, "address", mac, "txqueuelen", str(QUEUE_FRAMES), "multicast", "off")
        _ip("link", "set", "dev", INTERFACE, "up")
        _ip("address", "add", f"{address}/24", "dev", INTERFACE)
        yield INTERFACE
    finally:
        _ip("link", "delete", "dev", INTERFACE)


@contextmanager
def second_interface() -> Iterator[str]:
    """Within `interface`: another namespace, which has the core's addresses. Yields the path of the first one."""
    first = os.open("/proc/self/ns/net", os.O_RDONLY)
    try:
        with interface(CORE_IP, CORE_MAC):
            yield f"/proc/{os.getpid()}/fd/{first}"
    finally:
        _call("setns", first, CLONE_NEWNET)
        os.close(first)


def _call(name: str, *arguments: int) -> None:
    """One of the C library's; os has them from Python 3.12 on."""
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*arguments) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def queue_drops() -> int:
    """Frames for the core that the kernel dropped because the interface's queue was full."""
    statistics: list[dict[str, Any]] = json.loads(_ip("-json", "-statistics", "link", "show", "dev", INTERFACE))
    return int(statistics[0]["stats64"]["tx"]["dropped"])


def congestion_controls() -> list[str]:
    return Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split()


def _ip(*arguments: str) -> str:
    return subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True, timeout=30).stdout
