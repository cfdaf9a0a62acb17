# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make fuzz`: mutated frames at the core's receive stream, two live transfers beside them; build/reports/fuzz.json."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from sim.lib import build, verilated

REPORT = build.ROOT / "build" / "reports" / "fuzz.json"
WAVES = build.ROOT / "build" / "waves" / "fuzz.fst"
DEFAULT_FRAMES = 2_000_000
SLACK = 100  # frames: more than one step's, so that a replay gets past the one that failed


class Died(Exception):
    """The program ended without a result."""


def fuzz(seed: int, frames: int, waves: Path | None = None, beat_bytes: int = 8) -> dict[str, Any]:
    """The program's result, with the time it took; registers begin with values that the seed draws."""
    program = build.fuzz(waves is not None, verilated.wide(beat_bytes)) / "downbeat_fuzz"
    command = [str(program), str(seed), str(frames), *([str(waves)] if waves else [])]
    start = time.monotonic()
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    seconds = time.monotonic() - start
    if done.returncode not in (0, 2):
        raise Died(f"downbeat_fuzz ended with status {done.returncode}; again: make fuzz SEED={seed} FRAMES={frames}")
    result: dict[str, Any] = json.loads(done.stdout)
    clock = {"seconds": round(seconds, 3), "frames_per_second": round(result["frames_in"] / seconds)}
    return result | {"beat_bytes": beat_bytes, "wall_clock": clock}


def story(result: dict[str, Any]) -> str:
    """The failure, its place, and the command that repeats it."""
    frames = result["mutants"] + SLACK
    counters = " ".join(f"{name}={value}" for name, value in result["counters"].items() if value)
    width = f"BEAT_BYTES={result['beat_bytes']} " if result["beat_bytes"] != 8 else ""
    return (
        f"{result['failure']}\nseed {result['seed']}, at mutant {result['mutants']}, "
        f"{result['virtual_seconds']:.9f} s of virtual time\n{counters}\n"
        f"again, with waves in {WAVES.relative_to(build.ROOT)}: make fuzz SEED={result['seed']} FRAMES={frames} {width}WAVES=1"
    )


def _number(name: str, default: int) -> int:
    text = os.environ.get(name) or str(default)
    if not text.isdecimal() or not 1 <= int(text) < 1 << 32:
        sys.exit(f"{name}={text}: use a whole number from 1 to {(1 << 32) - 1}")
    return int(text)


def main() -> int:
    seed = _number("SEED", 1)
    frames = _number("FRAMES", DEFAULT_FRAMES)
    waves = WAVES if os.environ.get("WAVES") else None
    WAVES.parent.mkdir(parents=True, exist_ok=True)
    try:
        result = fuzz(seed, frames, waves, _number("BEAT_BYTES", 8))
    except (build.BuildFailed, Died) as error:
        print(error, file=sys.stderr)
        return 1
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(json.dumps(result, indent=2) + "\n")
    if result["failure"]:
        print(story(result), file=sys.stderr)
        return 1
    print(
        f"{result['mutants']} mutants, seed {seed}: every frame accounted for, no flow and no slot lost, the live bytes equal; "
        f"{result['wall_clock']['frames_per_second']} frames per second of wall time. {REPORT.relative_to(build.ROOT)}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
