# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The load that a link puts on the core and each part's capacity at a clock: `python -m scripts.roadmap` writes the
tables of docs/explanation/roadmap.md.

Clocks a segment are measured in simulation (the page says where); rates follow from them by division.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil
from statistics import median

from scripts.figures.kinds import FMAX
from scripts.figures.records import ROOT, Records
from scripts.figures.text import prose

PAGE = ROOT / "docs" / "explanation" / "roadmap.md"
ROUTED = "lean,flows=64,eventSpacing=8,externalMemory=true"  # the build of docs/how-to/synthesize.md

HEADERS, FCS, AROUND = 54, 4, 20  # bytes: Ethernet, IP, TCP; check; preamble, SFD and gap
SMALLEST, LARGEST = 60, 1514  # a frame without FCS
FULL = LARGEST - HEADERS

# Clocks of each part for a segment, whatever the width (docs/reference: flow, tx, pacing, figures).
DIRECTORY, BUILDER, ONE_CONNECTION = 6, 10, 74.7
PACED = {16: 15, 1024: 31}
SEND_EVENTS, RECEIVE_EVENTS = 5, 3


@dataclass(frozen=True)
class Design:
    """A link and the core that is meant for it."""

    gigabits: int
    width: int  # bits of the frame streams
    memory: int  # bits of the payload memory's port
    clock_mhz: float

    @property
    def name(self) -> str:
        return f"{self.gigabits} Gb/s"

    def frames(self, length: int) -> float:
        """Millions a second of a full wire, one way."""
        return self.gigabits * 1e3 / 8 / (length + FCS + AROUND)

    @property
    def beat_mhz(self) -> float:
        """The slowest clock at which a full wire of any one frame length passes, a beat a clock."""
        lengths = range(SMALLEST, LARGEST + 1)
        return max(ceil(length * 8 / self.width) * self.frames(length) for length in lengths)

    @property
    def memory_gigabits(self) -> float:
        """Payload written and read on a full wire both ways: accepted, fetched, placed, delivered."""
        return 4 * self.frames(LARGEST) * FULL * 8 / 1e3


DESIGNS = (
    Design(1, 64, 64, 62.5),
    Design(10, 64, 128, 156.25),
    Design(25, 128, 256, 250),
    Design(100, 512, 1024, 322.27),
)

# A part's capacity in a second over its load by a full wire both ways; below 1 it is a limit.
PARTS: dict[str, Callable[[Design], float]] = {
    "streams, any length": lambda design: design.clock_mhz / design.beat_mhz,
    "payload memory's port": lambda design: 2 * design.memory * design.clock_mhz / 1e3 / design.memory_gigabits,
    "the same with 64 bits, as it is": lambda design: 2 * 64 * design.clock_mhz / 1e3 / design.memory_gigabits,
    "events, full segments": lambda design: design.clock_mhz / _events(design, LARGEST),
    "events, smallest frames": lambda design: design.clock_mhz / _events(design, SMALLEST),
    "directory, smallest frames": lambda design: design.clock_mhz / DIRECTORY / design.frames(SMALLEST),
    "builder, smallest frames": lambda design: design.clock_mhz / BUILDER / design.frames(SMALLEST),
    "one connection, full segments": lambda design: design.clock_mhz / ONE_CONNECTION / design.frames(LARGEST),
    "paced grants, 16 flows, full segments": lambda design: design.clock_mhz / PACED[16] / design.frames(LARGEST),
    "paced grants, 1,024 flows, full segments": lambda design: design.clock_mhz / PACED[1024] / design.frames(LARGEST),
}


def _events(design: Design, length: int) -> float:
    """Millions a second, a full wire of data both ways."""
    return (SEND_EVENTS + RECEIVE_EVENTS) * design.frames(length)


def demands() -> str:
    head = ("", *(design.name for design in DESIGNS))
    rows = {
        "full frames, M/s each way": [f"{design.frames(LARGEST):,.3f}" for design in DESIGNS],
        "smallest frames, M/s": [f"{design.frames(SMALLEST):,.2f}" for design in DESIGNS],
        "width of the streams, bits": [f"{design.width}" for design in DESIGNS],
        "clock that the streams need, MHz": [f"{design.beat_mhz:.1f}" for design in DESIGNS],
        "clock meant, MHz": [f"{design.clock_mhz:g}" for design in DESIGNS],
        "events, full segments both ways, M/s": [f"{_events(design, LARGEST):,.1f}" for design in DESIGNS],
        "events, smallest frames both ways, M/s": [f"{_events(design, SMALLEST):,.0f}" for design in DESIGNS],
        "payload memory, both ways, Gb/s": [f"{design.memory_gigabits:,.1f}" for design in DESIGNS],
        "width of its port, bits": [f"{design.memory}" for design in DESIGNS],
    }
    return _table(head, rows)


def module() -> str:
    """How many times over each part carries the load."""
    head = ("part", *(design.name for design in DESIGNS))
    return _table(head, {part: [_times(what(design)) for design in DESIGNS] for part, what in PARTS.items()})


def _times(ratio: float) -> str:
    return f"{ratio:,.2f}" if ratio >= 1 else f"**{ratio:,.2f}**"


def _table(head: tuple[str, ...], rows: dict[str, list[str]]) -> str:
    lines = [f"|{'|'.join(head)}|", f"|---|{'---:|' * (len(head) - 1)}"]
    return "\n".join(lines + [f"|{name}|{'|'.join(cells)}|" for name, cells in rows.items()])


def today() -> str:
    """The share of a 10 Gb/s link that the core carries as it is."""
    clocks = [
        run.figures.fmax_mhz
        for run in Records().entries(FMAX)
        if (run.figures.module, run.figures.preset) == ("Downbeat", ROUTED) and run.figures.fmax_mhz
    ]
    wanted = replace(DESIGNS[1], memory=64)
    return prose(
        f"At {wanted.clock_mhz:g} MHz {_carried(wanted)}; at the {median(clocks):.0f} MHz that nextpnr reaches for the core on "
        f"an ECP5 {_carried(replace(wanted, clock_mhz=median(clocks)))}. One connection may have all of it."
    )


def _carried(design: Design) -> str:
    """By its streams and its memory port, full segments."""
    payload = design.gigabits * FULL / (LARGEST + FCS + AROUND)
    both = PARTS["payload memory's port"](design)
    stream = PARTS["streams, any length"](design)
    each, alone = (payload * min(1, stream, part) for part in (both, 2 * both))
    return f"it carries {each:.1f} Gb/s of payload each way at once, or {alone:.1f} Gb/s one way"


MADE = {"demands": demands, "parts": module, "today": today}


def shown(page: str) -> str:
    """The page with the newest text behind each mark, up to the next empty line."""
    for name, text in MADE.items():
        mark = f"<!-- roadmap: {name} -->\n\n"
        before, found, after = page.partition(mark)
        page = before + found + (re.sub(r"\A(?:[^\n]+\n)*", text() + "\n", after) if found else after)
    return page


if __name__ == "__main__":
    PAGE.write_text(shown(PAGE.read_text()))
