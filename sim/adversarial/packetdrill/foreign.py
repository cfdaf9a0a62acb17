# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make packetdrill SO=1 [SCRIPT=file]`: the core as a shared object for Google's packetdrill, which is not part of
this tree; it is found on the PATH."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from sim.lib import build

OBJECT = "libdownbeat_packetdrill.so"
# Without these packetdrill draws the core's address, and the object cannot know it before the first packet.
NETWORK = ["--local_ip=192.168.0.1", "--gateway_ip=192.168.0.2", "--netmask_ip=255.255.255.0", "--remote_ip=192.0.2.1"]
LIMIT = 300  # s of a script


def main() -> int:
    try:
        path = build.packetdrill() / OBJECT
    except build.BuildFailed as error:
        print(error, file=sys.stderr)
        return 2
    script, program = os.environ.get("SCRIPT"), shutil.which("packetdrill")
    flags = [f"--so_filename={path}", f"--so_flags=seed={os.environ.get('SEED') or 1}", *NETWORK]
    if program is None or not script:
        why = "packetdrill is not on the PATH" if program is None else "SCRIPT=file names a script"
        print(f"Built {path}. {why}; it runs one by:\n  LD_PRELOAD={path} packetdrill {' '.join(flags)} FILE")
        return 2 if script else 0
    try:
        return subprocess.run(
            [program, *flags, str(Path(script).resolve())],
            env={**os.environ, "LD_PRELOAD": str(path)},
            timeout=LIMIT,
            check=False,
        ).returncode
    except subprocess.TimeoutExpired:
        print(f"{script}: stopped, it did not end within {LIMIT} s; does a call in it wait for ever?", file=sys.stderr)
        return 1
