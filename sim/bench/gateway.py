# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make bench NAME=gateway`: messages a second and the time of an answer over loopback, fuzzed messages, the poisoner;
build/reports/gateway.json.

FRAMES sets how many messages are fuzzed (1,000,000). `crashes` counts runs of the fuzzer that AddressSanitizer,
UndefinedBehaviorSanitizer or the sum of the causes ended. `poison_effect` is the largest relative change.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from downbeat_toe.gateway import bench
from downbeat_toe.gateway.process import program
from downbeat_toe.refused import Refused

from sim.lib import build
from sw.tests.gateway.poison import WORST, effect
from sw.tests.gateway.virtual import Virtual

REPORT = build.ROOT / "build" / "reports" / "gateway.json"
FRAMES = 1_000_000
RUNS = 4  # runs of the fuzzer, each with a seed of its own


def fuzz(messages: int, seed: int) -> dict[str, Any]:
    """All runs together: messages, crashes, and how many each cause refused."""
    fuzzed, crashes, refused = 0, 0, dict[str, int]()
    for run in range(RUNS):
        command = [str(program("gateway-fuzz", "gateway-san")), str(messages // RUNS), str(RUNS * seed + run)]
        done = subprocess.run(command, text=True, capture_output=True, check=False)
        crashes += done.returncode != 0
        if done.returncode:
            print(done.stderr[-2000:], file=sys.stderr)
            continue
        found = json.loads(done.stdout)
        fuzzed += found["fuzzed"]
        refused = {name: refused.get(name, 0) + number for name, number in found["refused"].items()}
    return {"fuzzed": fuzzed, "crashes": crashes, "refused": refused}


def poison(seed: int, aggregate: str) -> float:
    with tempfile.TemporaryDirectory() as home:
        made: list[Virtual] = []

        def make(settings: str) -> Virtual:
            place = Path(home) / str(len(made))
            place.mkdir()
            made.append(Virtual(place, settings))
            return made[-1]

        worst = effect(make, aggregate, seed, draws=40)
        for each in made:
            each.__exit__(None, None, None)
        return worst


def main() -> int:
    seed = int(os.environ.get("SEED") or 1)
    frames = int(os.environ.get("FRAMES") or FRAMES)
    built = subprocess.run(
        [build.ROOT / "scripts" / "gateway.sh", "tests"], text=True, capture_output=True, check=False
    )
    if built.returncode:
        print(built.stderr.strip()[-3000:], file=sys.stderr)
        return 1
    try:
        report = bench.measure() | fuzz(frames, seed)
    except Refused as error:
        print(error, file=sys.stderr)
        return 1
    report |= {"seed": seed, "poison_effect": poison(seed, "median"), "poison_effect_of_the_mean": poison(seed, "mean")}
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(json.dumps(report, indent=2) + "\n")
    print(f"{report['machine']}, seed {seed}")
    print(
        f"{report['messages_per_second']:,} messages/s, {report['processor_us']:.2f} us of a processor for one; ",
        end="",
    )
    print(f"at {report['half_load_messages_per_second']:,} p99 of an answer is {report['p99_us']:.0f} us, ", end="")
    print(
        f"{report['window_p99_us']:.0f} us where the machine does not pause ({report['paused']['share']:.1%} of its time)"
    )
    print(f"{report['fuzzed']:,} fuzzed messages, {report['crashes']} crashes")
    print(f"the poisoner moves an estimate by {report['poison_effect']:.1%}, the plain mean by a factor of ", end="")
    print(f"{report['poison_effect_of_the_mean']:.0f}; {REPORT.relative_to(build.ROOT)}")
    return int(report["crashes"] > 0 or report["poison_effect"] > WORST)


if __name__ == "__main__":
    sys.exit(main())
