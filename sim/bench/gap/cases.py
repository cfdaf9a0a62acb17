# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Cases of `make gap`. Rates are of payload; lengths are with FCS."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from downbeat_toe import patterns

from sim.bench.gap import given

QUICK = 200  # a quick run has so many times fewer frames
OVERHEAD = 58  # bytes of a frame that are not payload: Ethernet, IPv4, TCP, FCS
LINE_RATE = 949e6  # 1,460 bytes in each 1,538 byte times are 949.28 Mbit/s


@dataclass(frozen=True)
class Case:
    """`options` are those of gap_bench; `scaled` names the one that says how much is measured, `minimum` how much at
    least."""

    name: str
    command: str
    options: dict[str, Any]
    scaled: str
    minimum: float = 20
    conflicts: bool = False
    draw: int = 0  # tells cases apart that else draw the same
    frames: Callable[[int, int], Iterable[str]] | None = (
        None  # lines that gap_bench reads, by number of frames and seed
    )

    def read(self, seed: int, quick: bool) -> str | None:
        """Standard input of gap_bench; None: it draws for itself."""
        if self.frames is None:
            return None
        count = self.options["frames"] // (QUICK if quick else 1)
        return "\n".join(self.frames(max(count, 20), seed + self.draw))

    def arguments(self, seed: int, quick: bool) -> list[str]:
        options = dict(self.options)
        if quick:
            whole = options[self.scaled]
            options[self.scaled] = type(whole)(min(max(whole / QUICK, self.minimum), whole))
        return [
            self.command,
            f"--seed={seed + self.draw}",
            *(f"--{name.replace('_', '-')}={value}" for name, value in options.items()),
        ]


def _schedule(name: str, frames: int, length: int | str, spare: float, increment_ppm: float = 0) -> Case:
    options = {"frames": frames, "length": length, "spare": spare, "increment_ppm": increment_ppm}
    return Case(f"schedule, {name}", "schedule", options, "frames")


def _generated(name: str, frames: int, length: int, launches: Callable[[int, int], Iterable[int]]) -> Case:
    """A pattern of `downbeat schedule`; `launches` by number of frames and seed, `length` with FCS."""
    options = {"frames": frames, "length": length}

    def lines(count: int, seed: int) -> Iterable[str]:
        return given.lines(launches(count, seed), length - given.FCS)

    return Case(f"given, {name} of {length}", "launch", options, "frames", frames=lines)


def of_file(path: Path) -> Case:
    """A schedule of the user's."""
    lines = given.read(path)
    return Case(str(path), "launch", {"frames": len(lines)}, "frames", frames=lambda *_: lines)


def _conflict(frames: int, length: int | str, burst: int) -> Case:
    options = {"frames": frames, "length": length, "burst": burst}
    return Case(f"conflict, up to {burst} of {length}", "conflict", options, "frames", conflicts=True)


def _pairs(gaps: str, pairs: int, length: int | str, receive_ppm: float, draw: int = 0) -> Case:
    name = f"pairs {gaps}, {length}" + (f", far clock {receive_ppm:+g} ppm" if receive_ppm else "")
    return Case(
        name, "pairs", {"gaps": gaps, "pairs": pairs, "length": length, "receive_ppm": receive_ppm}, "pairs", draw=draw
    )


def _paced(flows: int, rate: float, length: int, seconds: float, phases: str = "apart", command: str = "paced") -> Case:
    options = {"flows": flows, "rate": rate, "length": length, "seconds": float(seconds), "phases": phases}
    name = f"{command}, {flows} x {rate:.12g} b/s of {length}" + (", any phase" if phases == "any" else "")
    interval = 8 * (length - OVERHEAD) / rate
    # At least some segments of each flow, and some hundred in all.
    minimum = max(2 * interval, 300 * interval / flows)
    return Case(name, command, options, "seconds", minimum, conflicts=phases == "any")


CASES = (
    _schedule("64", 1_000_000, 64, 3),
    _schedule("mixed", 100_000, "mixed", 2000),
    _schedule("64, own clock +73 ppm", 100_000, 64, 3, increment_ppm=73.1),
    _schedule("mixed, own clock -100 ppm", 10_000, "mixed", 50, increment_ppm=-100),
    _conflict(100_000, 64, 100),
    _conflict(10_000, "mixed", 16),
    _pairs("back-to-back", 500_000, 64, 0),
    _pairs("back-to-back", 15_000, "mixed", 0),
    _pairs("timed", 240_000, 64, 100),
    _pairs("timed", 240_000, 64, 37, draw=1_000_000),
    _pairs("timed", 10_000, "mixed", -100),
    _pairs("timed", 20_000, 64, 0),
    _generated("pairs", 10_000, 1518, lambda count, _: patterns.train(2, 12_304, count // 2, 50_000)),
    _generated("train", 10_000, 64, lambda count, _: patterns.train(10, 673, count // 10, 20_011)),
    _generated("chirp", 10_000, 1018, lambda count, _: patterns.chirp(20, 80_000, 8500, count // 20, 1_000_003)),
    _generated("poisson", 10_000, 512, lambda count, seed: patterns.poisson(count, 10_000, seed, 4256)),
    _generated("paced", 10_000, 1518, lambda count, _: patterns.paced(count, 1514, 900_000_001)),
    Case("trains", "trains", {"trains": 500, "length": "mixed", "receive_ppm": 100}, "trains"),
    _paced(1, 1e3, 64, 10),
    _paced(1, 9_600, 128, 10),
    _paced(1, 64e3, 1518, 10),
    _paced(1, 333_333.333, 577, 10),
    _paced(1, 3_141_592.653589, 1518, 10),
    _paced(1, 10e6, 1518, 10),
    _paced(1, LINE_RATE, 1518, 0.1),
    _paced(16, 100e3, 1518, 10),
    _paced(16, 58.7e6, 1518, 0.1),
    _paced(16, 55e6, 1518, 0.1, "any"),
    _paced(1024, 10e3, 1518, 10),
    _paced(1024, 58e3, 64, 0.1),
    _paced(1024, 64e3, 64, 0.1, "any"),
    _paced(1024, 800e3, 1518, 0.1, "any"),
    _paced(1, LINE_RATE, 1518, 10, command="pacer"),
    _paced(1024, LINE_RATE / 1024, 1518, 1, command="pacer"),
)
