# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Two ends of a virtual cable in a network namespace of this process's own, which the kernel removes with it."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

from downbeat_toe.refused import Refused

CLONE_NEWNET = 0x40000000  # <sched.h>; os.unshare needs Python 3.12
ENDS = ("downbeat0", "downbeat1")
ADDRESS = "02:00:00:00:00:02"  # of the second one


def enter() -> None:
    """Moves this process (its main thread, and what that starts) into a new namespace with both ends, which are up."""
    if os.geteuid() != 0:
        raise Refused("a network namespace and raw frames need root: run it with sudo")
    if shutil.which("ip") is None:
        raise Refused("no ip command: install iproute2")
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET) != 0:
        raise Refused(
            f"no network namespace: {os.strerror(ctypes.get_errno())} (a container needs --cap-add SYS_ADMIN)"
        )
    with suppress(OSError):  # its frames are of nobody's asking, but do no harm
        Path("/proc/sys/net/ipv6/conf/default/disable_ipv6").write_text("1")
    try:
        _ip("link", "add", ENDS[0], "type", "veth", "peer", "name", ENDS[1], "address", ADDRESS)
        for end in ENDS:
            _ip("link", "set", end, "up")
    except subprocess.CalledProcessError as error:
        raise Refused(f"no veth interfaces: {error.stderr.strip()} (a container needs --cap-add NET_ADMIN)") from None


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True, timeout=30)
