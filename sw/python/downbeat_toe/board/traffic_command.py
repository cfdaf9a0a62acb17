# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`downbeat board traffic`: a board with the core, its connections and what they send."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Annotated

import typer

from downbeat_toe import policies
from downbeat_toe.board.bone import Serial
from downbeat_toe.board.traffic import TrafficBoard
from downbeat_toe.refused import Refused, explained

app = typer.Typer(no_args_is_help=True, help="A board with the core: addresses, connections, what they send, counters.")

Device = Annotated[Path, typer.Option(help="the board's serial device")]
DEVICE = Path("/dev/ttyACM0")
Build = Annotated[Path, typer.Option(help="directory of the build that the board has")]
BUILD = Path("build/bitstream/ecpix5-tcp")
LONGEST_SUPPLY = 1 << 40
LONGEST_SPACING = 1 << 24  # ns a byte


def _board(device: Path, build: Path) -> TrafficBoard:
    return TrafficBoard.of_build(Serial(device), build)


@app.command()
def address(
    mac: Annotated[str, typer.Argument(help="own MAC address, as 02:00:00:00:00:01")],
    ip: Annotated[str, typer.Argument(help="own IP address with its prefix, as 10.0.0.1/24")],
    gateway: Annotated[str, typer.Option(help="to other networks; 0.0.0.0: none")] = "0.0.0.0",
    device: Device = DEVICE,
    build: Build = BUILD,
) -> None:
    """Gives the core its addresses; all connections are forgotten."""
    with explained():
        octets = mac.split(":")
        if len(octets) != 6 or not all(len(octet) == 2 and _is_hexadecimal(octet) for octet in octets):
            raise Refused(f"'{mac}' is not a MAC address: write it as 02:00:00:00:00:01")
        try:
            ipaddress.IPv4Interface(ip), ipaddress.IPv4Address(gateway)
        except ValueError as error:
            raise Refused(f"{error}: write 10.0.0.1/24, and a gateway without prefix") from None
        _board(device, build).address(mac, ip, gateway)


def _is_hexadecimal(text: str) -> bool:
    return all(letter in "0123456789abcdefABCDEF" for letter in text)


@app.command(name="open")
def open_connection(
    ip: Annotated[str, typer.Argument(help="the peer's IP address")],
    port: Annotated[int, typer.Argument(min=1, max=65535)],
    startup: Annotated[str, typer.Option(help="start-up policy; paced and pairs are schedules")] = "",
    argument: Annotated[str, typer.Option(help='its argument, as "n=10, gap=700us"')] = "",
    spacing: Annotated[float, typer.Option(min=0, help="ns from one payload byte to the next; 0: not paced")] = 0,
    device: Device = DEVICE,
    build: Build = BUILD,
) -> None:
    """Opens a connection; `flows` shows it."""
    with explained():
        board = _board(device, build)
        try:
            peer = str(ipaddress.IPv4Address(ip))
            policy = policies.find(policies.read(build / "downbeat_layout.json")["startup"], startup)
            word = policy.argument(argument)
        except ValueError as error:
            raise Refused(str(error)) from None
        if spacing >= LONGEST_SPACING:
            raise Refused(f"spacing of {spacing:g} ns: at most 2^24 ns a byte")
        before, _ = board.refusals()
        board.open(peer, port, startup=policy.name, argument=word, spacing=round(spacing * 2**32))
        after, reason = board.refusals()
        if after != before:
            raise Refused(f"the core refused the connection: {reason}")


@app.command()
def listen(
    port: Annotated[int, typer.Argument(min=1, max=65535)], device: Device = DEVICE, build: Build = BUILD
) -> None:
    """Accepts connections to a port."""
    with explained():
        _board(device, build).listen(port)


@app.command()
def supply(
    flow: Annotated[int, typer.Argument(min=0, help="its number, as `flows` shows")],
    count: Annotated[int, typer.Argument(metavar="BYTES", min=0, max=LONGEST_SUPPLY - 1)],
    close: Annotated[bool, typer.Option(help="and close the connection then")] = False,
    device: Device = DEVICE,
    build: Build = BUILD,
) -> None:
    """Lets a connection send so many bytes more."""
    with explained():
        board = _board(device, build)
        if flow >= board.flows:
            raise Refused(f"flow {flow}: the board has {board.flows}, from 0 on")
        board.supply(flow, count, closes=close)


@app.command()
def flows(device: Device = DEVICE, build: Build = BUILD) -> None:
    """Each connection that has been: its state, what it has sent without an answer, what it has to send."""
    with explained():
        board = _board(device, build)
        for number in range(board.flows):
            if flow := board.flow(number):
                ended = f" ({flow.reason})" if flow.state == "closed" else ""
                print(f"flow {number}: {flow.state}{ended}, {flow.sent:,} bytes in flight, {flow.supply:,} to send")
        count, reason = board.refusals()
        print(f"received {board.received():,} bytes; refused {count}" + (f", the last: {reason}" if count else ""))


@app.command()
def counters(device: Device = DEVICE, build: Build = BUILD) -> None:
    """What core and MAC dropped or cut, by cause, and the frames that they moved; only those that are not 0."""
    with explained():
        for name, value in _board(device, build).counters().items():
            if value:
                print(f"{name:32} {value:,}")
