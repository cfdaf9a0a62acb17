# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make packetdrill [SCRIPT=file PCAP=file WAVES=1 SEED=n]`: runs the scripts, a line each. SO=1: see foreign.py;
GOOGLE=folder: google.py."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from downbeat_toe.library import load

from sim.adversarial.packetdrill import foreign, google
from sim.adversarial.packetdrill.options import ScriptError
from sim.adversarial.packetdrill.parser import read
from sim.adversarial.packetdrill.runner import ScriptFailedError, run
from sim.adversarial.packetdrill.script import Script
from sim.lib import build, verilated

SCRIPTS = Path(__file__).parent / "scripts"
WAVES = build.ROOT / "build" / "waves" / "packetdrill.fst"


def attempt(script: Script, **arguments: object) -> str:
    """The failure; empty if there is none. A script that is expected to fail must."""
    reason = script.options.get("expected_failure")
    try:
        run(script, **arguments)  # type: ignore[arg-type]
    except ScriptFailedError as error:
        return "" if reason else str(error)
    return f"{script.path.name} passes now: take out --expected_failure" if reason else ""


def main() -> int:
    if os.environ.get("SO"):
        return foreign.main()
    if folder := os.environ.get("GOOGLE"):
        return google.main(Path(folder), int(os.environ.get("SEED") or 1))
    seed, chosen = int(os.environ.get("SEED") or 1), os.environ.get("SCRIPT")
    pcap, waves = os.environ.get("PCAP"), bool(os.environ.get("WAVES"))
    paths = [_found(chosen)] if chosen else sorted(SCRIPTS.glob("*.pkt"))
    if (pcap or waves) and not chosen:
        print("PCAP and WAVES show one script: say which, SCRIPT=file", file=sys.stderr)
        return 2
    try:
        scripts = [read(path) for path in paths]
        library = load(verilated.library(waves) / "libdownbeat_sim.so")
    except (OSError, ScriptError, build.BuildFailed) as error:
        print(error, file=sys.stderr)
        return 2
    WAVES.parent.mkdir(parents=True, exist_ok=True)
    failed = 0
    for script in scripts:
        start = time.monotonic()
        wrong = attempt(
            script,
            library=library,
            seed=seed,
            pcap=Path(pcap) if pcap else None,
            waves=WAVES if waves else None,
        )
        failed += bool(wrong)
        expected = " (expected failure)" if "expected_failure" in script.options and not wrong else ""
        print(f"{'FAIL' if wrong else 'ok  '} {script.path.stem}{expected} {1000 * (time.monotonic() - start):.0f} ms")
        if wrong:
            print(wrong, file=sys.stderr)
    print(f"{len(scripts) - failed} of {len(scripts)} scripts passed, SEED={seed}")
    return 1 if failed else 0


def _found(name: str) -> Path:
    """A script by its path or by its name."""
    path = Path(name)
    return path if path.exists() else SCRIPTS / f"{path.stem}.pkt"


if __name__ == "__main__":
    sys.exit(main())
