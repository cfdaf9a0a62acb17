# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The program that is run over the kernel and over the core: `python -m sw.tests.driver.fuzz.program OWN,PEER SEED PORT...`.

Two threads with a lane each, and a lane in a child that forks itself; afterwards chaos (chaos.py). JSON on standard
output: the records by lane, and what was wrong. On standard input: the kernel's, or null over the kernel.
"""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import sys
import threading
import traceback
from typing import Any

from sw.tests.driver.fuzz.chaos import Chaos
from sw.tests.driver.fuzz.lane import Lane
from sw.tests.driver.fuzz.shared import INTERRUPT, PROCESSES, THREADS

LANES, PORTS, COUNT = 3, 3, 60
STUCK = 60.0  # seconds until it says where it is


def _lane(number: int, addresses: list[str], seed: str, ports: list[int], kernel: dict[str, Any] | None) -> Any:
    lane = Lane(addresses, ports[number * PORTS :][:PORTS], f"{seed} {number}")
    wanted = kernel["lanes"][number] if kernel else None
    try:
        return lane.run(COUNT, wanted, PROCESSES if number == LANES - 1 else THREADS)
    except BaseException:
        return [["the program", traceback.format_exc(), []]]
    finally:
        for slot, each in enumerate(lane.slots):
            if each >= 0:
                lane.drop(slot)


def _in_child(number: int, *arguments: Any) -> Any:
    reads, writes = os.pipe()
    if os.fork() == 0:
        try:
            os.close(reads)
            with os.fdopen(writes, "w") as tells:
                json.dump(_lane(number, *arguments), tells)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(0)
    os.close(writes)
    return os.fdopen(reads)


def main(addresses: list[str], seed: str, ports: list[int]) -> None:
    kernel = json.loads(sys.stdin.read())
    faulthandler.dump_traceback_later(STUCK)
    signal.signal(INTERRUPT, lambda number, frame: None)
    signal.siginterrupt(INTERRUPT, True)
    arguments = addresses, seed, ports, kernel
    lanes: list[Any] = [None] * LANES
    child = _in_child(LANES - 1, *arguments)
    threads = [
        threading.Thread(target=lambda number=number: lanes.__setitem__(number, _lane(number, *arguments)))
        for number in range(LANES - 1)
    ]
    for thread in threads:
        thread.start()
    with child:
        lanes[LANES - 1] = json.loads(child.read() or "null")
    os.wait()
    for thread in threads:
        thread.join()
    wrong = Chaos(addresses, ports[:PORTS], seed).run()
    json.dump({"lanes": lanes, "wrong": wrong}, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1].split(","), sys.argv[2], [int(each) for each in sys.argv[3:]])
