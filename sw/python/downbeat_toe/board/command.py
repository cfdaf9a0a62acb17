# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`downbeat board`: a board over its UART."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from downbeat_toe import output, schedule_file
from downbeat_toe.board.bone import Serial
from downbeat_toe.board.device import Board
from downbeat_toe.board.probes import ProbeBoard
from downbeat_toe.board.traffic_command import app as traffic
from downbeat_toe.gap import pcapng
from downbeat_toe.refused import Refused, explained

app = typer.Typer(
    no_args_is_help=True, help="A board over its UART: PHYs, probes by a schedule, stamps of what it receives."
)
app.add_typer(traffic, name="traffic")

Device = Annotated[Path, typer.Option(help="the board's serial device")]
DEVICE = Path("/dev/ttyACM0")
Build = Annotated[Path, typer.Option(help="directory of the build that the board has")]
BUILD = Path("build/bitstream/colorlight-i9")


def _board(device: Path, build: Path) -> ProbeBoard:
    return ProbeBoard.of_build(Serial(device), build)


@app.command()
def status(device: Device = DEVICE, build: Build = BUILD) -> None:
    """Which board answers, how its links are, and its time."""
    with explained():
        board = Board.of_build(Serial(device), build)
        print(f"{board.name}, time {board.now():,} ns")
        for port, state in enumerate(board.phys()):
            print(f"port {port}: {state}")


@app.command()
def counters(device: Device = DEVICE, build: Build = BUILD) -> None:
    """What became of the frames of port 0, and those that the capture lost."""
    with explained():
        board = _board(device, build)
        for name, value in (board.counters() | {"captureLost": board.read("captureLost")}).items():
            print(f"{name:24} {value:,}")


@app.command()
def mdio(
    phy: Annotated[int, typer.Argument(min=0, max=31)],
    register: Annotated[int, typer.Argument(min=0, max=31)],
    value: Annotated[str, typer.Argument(help="to write, as 0x1200; none: read")] = "",
    device: Device = DEVICE,
    build: Build = BUILD,
) -> None:
    """A PHY's register: delays, identity, whatever its data sheet says."""
    with explained():
        board = Board.of_build(Serial(device), build)
        if value:
            board.mdio_write(phy, register, _word(value))
        else:
            print(f"{board.mdio_read(phy, register):#06x}")


def _word(text: str) -> int:
    try:
        word = int(text, 0)
    except ValueError:
        word = -1
    if not 0 <= word <= 0xFFFF:
        raise Refused(f"'{text}' is not a value of a register: write 0 to 0xffff")
    return word


@app.command()
def send(
    schedule: Annotated[Path, typer.Argument(help="CSV of launches (docs/how-to/measure-gaps.md)")],
    to: Annotated[str, typer.Option(help="MAC address to send to", metavar="MAC")],
    source: Annotated[
        str, typer.Option("--from", help="MAC address to send from", metavar="MAC")
    ] = "02:00:00:00:00:01",
    frames: Annotated[int, typer.Option(min=0, help="how many; 0: the schedule once. More: it is repeated")] = 0,
    device: Device = DEVICE,
    build: Build = BUILD,
) -> None:
    """Sends probes out of port 0: each SFD on the first byte time at or after its launch."""
    with explained():
        planned = schedule_file.read(schedule)
        board = _board(device, build)
        board.load(planned)
        board.start(frames or len(planned), to, source)


@app.command()
def stop(device: Device = DEVICE, build: Build = BUILD) -> None:
    """Ends a run of probes."""
    with explained():
        _board(device, build).stop()


@app.command()
def capture(
    file: Annotated[Path, typer.Argument(metavar="CAPTURE", help="pcapng to write")],
    seconds: Annotated[float, typer.Option(min=0)] = 10.0,
    device: Device = DEVICE,
    build: Build = BUILD,
) -> None:
    """Writes stamps and first bytes of what comes into the last port: `downbeat gap` compares them with a schedule."""
    with explained():
        output.require_file(file, "CAPTURE")
        board = _board(device, build)
        board.capture(True)
        found = list(board.captured_for(seconds))
        board.capture(False)
        good = [frame for frame in found if not frame.wrong]
        pcapng.write(file, board.name, ((frame.stamp >> 16, frame.length, frame.head) for frame in good))
        print(
            f"{file}: {len(good)} frames; {len(found) - len(good)} damaged ones are not in it; lost {board.read('captureLost')}"
        )
