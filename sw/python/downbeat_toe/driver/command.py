# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`downbeat nic`, `ls`, `top`, `send`, `listen` and `run`: a core for programs, and what it does."""

from __future__ import annotations

import ctypes
import math
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from ipaddress import AddressValueError, IPv4Address
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Group
from rich.live import Live
from rich.table import Table

from downbeat_toe import output
from downbeat_toe.console import report_console
from downbeat_toe.driver import Device, DriverError, Options
from downbeat_toe.driver.library import directory, program
from downbeat_toe.driver.nic_status import connections, device
from downbeat_toe.driver.policy_options import Policies, Startup, StartupArgument, Steady, SteadyArgument
from downbeat_toe.driver.transfer import receive_file, send_file
from downbeat_toe.quantities import duration, rate
from downbeat_toe.refused import Refused, explained

Uri = Annotated[str, typer.Option("--device", help="simd:PATH, uio:/dev/uioN or vfio:ADDRESS")]
Wait = Annotated[
    str | None, typer.Option("--wait-estimate", help="for the gateway's first estimate, as 5ms; without it: not at all")
]
NicUri = Annotated[str, typer.Option("--device", help="simd:PATH, by the NIC's Unix socket")]
DEVICE = "simd:/run/downbeat/nic.sock"
COLUMNS = (
    *("program", "local", "remote", "state", "start-up", "estimate", "steady"),
    *("cwnd/B", "ssthresh/B", "RTT/ms", "losses", "Mb/s"),
)
LEFT_OUT = ("ssthresh/B", "estimate", "steady", "start-up", "local", "losses", "cwnd/B")  # in this order
PADDING = 2  # letters between columns
UNSET = 1 << 29  # bytes: an ssthresh that nobody has lowered yet


def _waiting(uri: str, limit: str | None) -> str:
    if limit and ",gateway=" not in uri:
        raise Refused("--wait-estimate: name the gateway: --device DEVICE,gateway=udp://HOST:PORT,key=FILE")
    return f"{uri},wait={math.ceil(_nanoseconds(limit) / 1e6)}" if limit else uri


@contextmanager
def _opened(uri: str, name: str) -> Iterator[Device]:
    """The device, for a command that `downbeat top` lists by its name, and not as python."""
    set_name = 15  # PR_SET_NAME, linux/prctl.h
    ctypes.CDLL(None).prctl(set_name, f"downbeat {name}".encode(), 0, 0, 0)
    with Device(uri) as opened:
        yield opened


@contextmanager
def _refusals() -> Iterator[None]:
    """Refusals of the library end a command as the command's own do."""
    with explained():
        try:
            yield
        except DriverError as error:
            raise Refused(str(error)) from None


def _become(name: str, arguments: list[str]) -> NoReturn:
    """This process goes on as one of the driver's programs."""
    path = str(program(name))
    if built := directory():
        os.environ.setdefault("DOWNBEAT_MODELS", str(built))
    os.execv(path, [path, *arguments])


def nic(
    tap: Annotated[str | None, typer.Option(help="a TAP interface; made if it is not there")] = None,
    interface: Annotated[str | None, typer.Option(help="an interface that is there, as an end of a veth")] = None,
    loop: Annotated[str | None, typer.Option(help="no interface: the NIC reaches itself by this address")] = None,
    ip: Annotated[str, typer.Option(help="own address and prefix")] = "10.0.0.1/24",
    gateway: Annotated[str | None, typer.Option(help="next hop to other networks")] = None,
    mac: Annotated[str, typer.Option(help="own MAC address")] = "02:00:00:00:00:01",
    uri: NicUri = DEVICE,
    mode: Annotated[str, typer.Option(help="permissions of the socket, octal")] = "600",
    delay: Annotated[str | None, typer.Option(help="of each frame on its way to the core, as 20ms")] = None,
    preset: Annotated[str, typer.Option(help="the simulated device, of make driver PRESET=NAME")] = "nic",
) -> None:
    """A simulated NIC as a process, in real time, for several programs. Its wire is --tap, --interface or --loop."""
    with explained():
        given = {"tap": tap, "interface": interface, "loop": loop, "gateway": gateway}
        arguments = [word for name, value in given.items() if value for word in (f"--{name}", value)]
        named = ["--ip", ip, "--mac", mac, "--device", uri, "--mode", mode, "--preset", preset]
        named += ["--delay", str(_nanoseconds(delay))] if delay else []
        _become("downbeat-nic", [*arguments, *named])


def _nanoseconds(text: str) -> int:
    try:
        return duration(text)
    except ValueError as error:
        raise Refused(str(error)) from None


def _socket(uri: str) -> Path:
    """The path of a NIC process, whatever else its URI says."""
    scheme, _, rest = uri.partition(":")
    if scheme != "simd":
        raise Refused(f"--device {uri}: only a NIC process lists its connections: --device simd:PATH")
    return Path(rest.partition(",")[0])


def ls(uri: NicUri = DEVICE) -> None:
    """The NIC and its connections."""
    with explained():
        socket = _socket(uri)
        print(_device_line(device(socket)))
        console = report_console()
        console.print(_table(connections(socket), {}, 0, console.width))


def top(
    uri: NicUri = DEVICE,
    every: Annotated[str, typer.Option(help="time between refreshes")] = "1s",
    count: Annotated[int, typer.Option(help="refreshes; 0: until Ctrl-C", min=0)] = 0,
) -> None:
    """A live table of the connections: state, policies, whose estimate they started from, windows, losses, rate."""
    with explained():
        pause = _nanoseconds(every) / 1e9
        socket = _socket(uri)
        before: dict[Any, int] = {}
        console = report_console()
        with Live(console=console, auto_refresh=False) if console.is_terminal else nullcontext() as live:
            refreshes = 0
            while True:
                rows = connections(socket)
                shown = Group(_device_line(device(socket)), _table(rows, before, pause, console.width))
                live.update(shown, refresh=True) if live else console.print(shown)
                before = {_key(row): int(row["acknowledged"]) for row in rows}
                refreshes += 1
                if refreshes == count:
                    return
                time.sleep(pause)


def _key(row: dict[str, Any]) -> tuple[int, int]:
    return int(row["flow"]), int(row["generation"])


def _device_line(found: dict[str, Any]) -> str:
    bits = int(found["netmask"]).bit_count()
    return (
        f"{found['preset']} {found['version']}: {IPv4Address(found['ip'])}/{bits}, "
        f"flows: {found['used_flows']} used, {found['flows'] - found['used_flows']} free, "
        f"programs: {found['ports'] - found['free_ports']} of {found['ports']}, "
        f"{found['behind_ns'] / 1e6:.1f} ms behind the clock"
    )


def _table(rows: list[dict[str, Any]], before: dict[Any, int], pause: float, width: int) -> Table:
    """`before`: bytes acknowledged at the last refresh, `pause` seconds ago; a terminal of `width` letters has the columns
    that it has space for."""
    lines = [_cells(row, before, pause) for row in rows]
    names = [name for name in COLUMNS if name != "Mb/s" or pause]
    widths = {name: max(len(name), *(len(line[name]) for line in lines), 0) + PADDING for name in names}
    for name in LEFT_OUT:
        if name in names and sum(widths[each] for each in names) > width:
            names.remove(name)
    table = Table(box=None, padding=(0, PADDING, 0, 0), pad_edge=False)
    for name in names:
        table.add_column(name, no_wrap=True, justify="right" if "/" in name or name == "losses" else "left")
    for line in lines:
        table.add_row(*(line[name] for name in names))
    return table


def _cells(row: dict[str, Any], before: dict[Any, int], pause: float) -> dict[str, str]:
    moved = (int(row["acknowledged"]) - before.get(_key(row), int(row["acknowledged"]))) % (1 << 32)
    return {
        "program": f"{row['program']} {row['process']}",
        "local": str(row["local_port"]),
        "remote": f"{IPv4Address(row['remote_ip'])}:{row['remote_port']}",
        "state": row["state"] + (" (closed)" if row["let_go"] else ""),
        "start-up": row["startup"],
        "estimate": row["estimate"] or "",
        "steady": row["steady"],
        "cwnd/B": str(row["cwnd"] or ""),
        "ssthresh/B": str(row["ssthresh"] or "") if row["ssthresh"] < UNSET else "",
        "RTT/ms": f"{row['rtt_ns'] / 1e6:.3f}" if row["rtt_ns"] else "",
        "losses": str(row["losses"]),
        "Mb/s": f"{8 * moved / pause / 1e6:.2f}" if pause and before else "",
    }


def _place(text: str) -> tuple[int, int]:
    host, colon, port = text.rpartition(":")
    try:
        number = int(port)
        if colon and 0 < number < 65536:
            return int(IPv4Address(host)), number
    except (ValueError, AddressValueError):
        pass
    raise Refused(f"'{text}' is not an address and port: write 10.0.0.2:5001")


def send(
    file: Annotated[Path, typer.Argument(help="what to send")],
    to: Annotated[str, typer.Option(help="ADDRESS:PORT")],
    uri: Uri = DEVICE,
    startup: Startup = None,
    steady: Steady = None,
    startup_argument: StartupArgument = "",
    steady_argument: SteadyArgument = "",
    cap: Annotated[str | None, typer.Option("--rate", help="most bits a second, as 20Mbps")] = None,
    wait: Wait = None,
    stamps: Annotated[
        Path | None, typer.Option(help="CSV file to write: the SFD time of each segment, sent and received")
    ] = None,
) -> None:
    """Sends a file over one connection, and closes it."""
    with _refusals():
        if stamps:
            output.require_file(stamps, "--stamps")
        address, port = _place(to)
        options = Options(Policies.of(startup, steady, startup_argument, steady_argument).parameters())
        try:
            options.rate = rate(cap) if cap else 0
            content = file.read_bytes()
        except OSError as error:
            raise Refused(f"{file}: {error.strerror}") from None
        except ValueError as error:
            raise Refused(str(error)) from None
        options.transfer_bytes = len(content)
        with _opened(_waiting(uri, wait), "send") as opened:
            print(send_file(opened, address, port, content, options, stamps))


def listen(
    port: Annotated[int, typer.Argument(min=1, max=65535)],
    file: Annotated[
        Path | None, typer.Option("--output", "-o", help="file to write", show_default="standard output")
    ] = None,
    uri: Uri = DEVICE,
    startup: Startup = None,
    steady: Steady = None,
    startup_argument: StartupArgument = "",
    steady_argument: SteadyArgument = "",
) -> None:
    """Accepts one connection, and writes what comes."""
    with _refusals():
        if file:
            output.require_file(file, "--output")
        options = Options(Policies.of(startup, steady, startup_argument, steady_argument).parameters())
        # Standard output as the shell opened it: `>>` appends.
        with _opened(uri, "listen") as opened, file.open("wb") if file else nullcontext(sys.stdout.buffer) as sink:
            typer.echo(receive_file(opened, port, sink, options), err=True)


def run(
    context: typer.Context,
    uri: Uri = DEVICE,
    startup: Startup = None,
    steady: Steady = None,
    startup_argument: StartupArgument = "",
    steady_argument: SteadyArgument = "",
    wait: Wait = None,
) -> None:
    """Runs a program whose TCP goes over the core: downbeat run -- curl http://10.0.0.2/"""
    with explained():
        if not context.args:
            raise Refused("no program: downbeat run -- PROGRAM ARGUMENTS")
        chosen = Policies.of(startup, steady, startup_argument, steady_argument)
        _become("downbeat-run", ["--device", _waiting(uri, wait), *chosen.words(), "--", *context.args])


def add_to(app: typer.Typer) -> None:
    for command in (nic, ls, top, send, listen):
        app.command()(command)
    app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(run)
