# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`downbeat schedule`: writes the CSV that `replay`, `board send`, `gap` and the gap bench take."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Annotated, TextIO

import numpy as np
import typer

from downbeat_toe import output, patterns, quantities
from downbeat_toe.refused import Refused, explained
from downbeat_toe.schedule import Schedule, require_space, wire_time

app = typer.Typer(
    no_args_is_help=True, help="Writes a schedule of frames: pairs, trains, chirps, Poisson, a paced rate."
)
MOST = 10_000_000
LEAST_LENGTH, MOST_LENGTH = 60, 9014

Count = Annotated[int, typer.Option("--frames", min=2, max=MOST, help="in all, or of each train or chirp")]
Repeats = Annotated[int, typer.Option(min=1, max=MOST)]
Gap = Annotated[str, typer.Option(help="from launch to launch, as 100us")]
Every = Annotated[str, typer.Option(help="from the start of one to the start of the next, as 10ms")]
Length = Annotated[int, typer.Option(min=LEAST_LENGTH, max=MOST_LENGTH, help="bytes of a frame without FCS")]
Flow = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="number of the flow")]
Link = Annotated[str, typer.Option(help="rate of the link that has to carry it")]
File = Annotated[Path | None, typer.Option("--output", "-o", help="CSV to write; else standard output")]


@app.command()
def pairs(
    gap: Gap,
    every: Every = "10ms",
    count: Annotated[int, typer.Option("--pairs", min=1, max=MOST)] = 100,
    length: Length = 1514,
    flow: Flow = 0,
    link: Link = "1Gb/s",
    file: File = None,
) -> None:
    """Two frames, again and again."""
    with explained():
        _write(patterns.train(2, _time(gap), count, _time(every)), length, flow, link, file)


@app.command()
def train(
    gap: Gap,
    every: Every = "100ms",
    frames: Count = 50,
    trains: Repeats = 1,
    length: Length = 1514,
    flow: Flow = 0,
    link: Link = "1Gb/s",
    file: File = None,
) -> None:
    """Frames with equal gaps; several trains, where that is wanted."""
    with explained():
        _write(patterns.train(frames, _time(gap), trains, _time(every)), length, flow, link, file)


@app.command()
def chirp(
    slowest: Annotated[str, typer.Option("--from", help="rate of the first gap, as 1Mb/s")],
    fastest: Annotated[str, typer.Option("--to", help="rate of the last gap, as 100Mb/s")],
    every: Every = "1s",
    frames: Count = 30,
    chirps: Repeats = 1,
    length: Length = 1000,
    flow: Flow = 0,
    link: Link = "1Gb/s",
    file: File = None,
) -> None:
    """Frames whose gaps shrink by a constant factor, from one rate to another."""
    with explained():
        first, last = patterns.interval(length, _rate(slowest)), patterns.interval(length, _rate(fastest))
        _write(patterns.chirp(frames, first, last, chirps, _time(every)), length, flow, link, file)


@app.command()
def poisson(
    rate: Annotated[str, typer.Option(help="mean, as 10Mb/s")],
    frames: Count = 1000,
    seed: Annotated[int, typer.Option(min=0)] = 1,
    length: Length = 1514,
    flow: Flow = 0,
    link: Link = "1Gb/s",
    file: File = None,
) -> None:
    """Frames at random times; one that would meet the frame ahead waits for it."""
    with explained():
        least = int(np.ceil(wire_time(np.array([length]), _rate(link))[0]))
        gap = patterns.interval(length, _rate(rate))
        if gap < least:
            raise Refused(f"--rate {rate}: faster than a link of {link} carries frames: use less, or a faster --link")
        times = patterns.poisson(frames, gap, seed, least)
        _write(times, length, flow, link, file)


@app.command()
def paced(
    rate: Annotated[str, typer.Option(help="as 20Mb/s")],
    frames: Count = 1000,
    length: Length = 1514,
    flow: Flow = 0,
    link: Link = "1Gb/s",
    file: File = None,
) -> None:
    """Frames at a constant rate."""
    with explained():
        _write(patterns.paced(frames, length, _rate(rate)), length, flow, link, file)


def _write(launches: Iterable[int], length: int, flow: int, link: str, path: Path | None) -> None:
    if path is not None:
        output.require_file(path, "--output")
    times = np.fromiter(launches, np.int64)
    count = len(times)
    if count > MOST:
        raise Refused(f"{count:,} frames: at most {MOST:,}")
    schedule = Schedule(
        "this schedule",
        "probe",
        times,
        np.full(count, length),
        (str(flow),) * count,
        np.arange(count),
        np.zeros(count, bool),
    )
    require_space(schedule, _rate(link), "--link")
    with contextlib.suppress(BrokenPipeError), _opened(path) as file:
        file.write("launch_ns,length,flow\n")
        file.writelines(f"{launch},{length},{flow}\n" for launch in times.tolist())


@contextlib.contextmanager
def _opened(path: Path | None) -> Iterator[TextIO]:
    if path is None:
        yield sys.stdout
        sys.stdout.flush()
        return
    with path.open("w") as file:
        yield file


def _read(reader: Callable[[str], int], text: str) -> int:
    try:
        return reader(text)
    except ValueError as error:
        raise Refused(str(error)) from None


def _time(text: str) -> int:
    return _read(quantities.duration, text)


def _rate(text: str) -> int:
    return _read(quantities.rate, text)
