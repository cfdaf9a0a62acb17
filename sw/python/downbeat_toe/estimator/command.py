# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`downbeat estimate`: what a new connection to an address would start with by each method, and from what."""

from __future__ import annotations

import json
from collections.abc import Callable
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from downbeat_toe.console import report_console
from downbeat_toe.estimator.binding import (
    Address,
    Estimator,
    Options,
    PrefixState,
    Report,
    Request,
    Start,
    parse_address,
)
from downbeat_toe.estimator.structures import Cause, Method
from downbeat_toe.quantities import duration, size
from downbeat_toe.refused import Refused, explained
from downbeat_toe.structures import Pace

SECOND = 10**9


def replay(estimator: Estimator, path: Path) -> tuple[int, dict[Cause, int]]:
    """Plays a trace of JSON lines; the last line's time, and how many lines were refused by which cause."""
    now, refused = 0, dict.fromkeys(Cause, 0)
    for number, line in enumerate(_read(path).splitlines(), 1):
        if not line.strip():
            continue
        try:
            members = json.loads(line)
            now = max(now, members["time"])
            refused[_play(estimator, members.pop("kind"), members)] += 1
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise Refused(
                f"{path}:{number}: not a line of a trace ({error}): see docs/reference/estimator.md"
            ) from None
    return now, refused


def _play(estimator: Estimator, kind: str, members: dict[str, Any]) -> Cause:
    if "remote" in members:
        members["remote"] = parse_address(members["remote"])
    calls: dict[str, Callable[..., Cause]] = {
        "open": lambda time, connection, remote: estimator.open(time, connection, remote),
        "close": lambda time, connection: estimator.close(time, connection),
        "report": lambda **values: estimator.report(Report(**values)),
        "transfer": lambda time, **values: estimator.transfer(time, **values),
    }
    return calls[kind](**members)


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise Refused(f"{path} cannot be read: {error}") from None


def destination(text: str) -> Address:
    """An address, or the first host of a prefix."""
    if "/" not in text:
        return parse_address(text)
    try:
        network = ip_network(text, strict=False)
    except ValueError:
        raise Refused(f"'{text}' is not a prefix: write 192.0.2.0/24 or 192.0.2.1") from None
    return network.network_address + (1 if network.num_addresses > 1 else 0)


def _quantity(text: str | None, parse: Callable[[str], int]) -> int:
    try:
        return parse(text) if text else 0
    except ValueError as error:
        raise Refused(str(error)) from None


def command(
    prefix: Annotated[str, typer.Argument(help="an address, or a prefix: 192.0.2.0/24")],
    table: Annotated[Path | None, typer.Option(help="a saved table (downbeat_estimator_save)")] = None,
    trace: Annotated[Path | None, typer.Option(help="a trace of reports: a JSON object a line")] = None,
    rules: Annotated[Path | None, typer.Option(help="prefixes for the longest match, one a line")] = None,
    transfer: Annotated[str | None, typer.Option(help="what the connection will send, as 30kB")] = None,
    rtt: Annotated[str | None, typer.Option(help="its handshake's round trip, as 40ms")] = None,
    segment: Annotated[int, typer.Option(help="segment size in bytes", min=64, max=65535)] = 1460,
    age: Annotated[str | None, typer.Option(help="how long ago the table was saved, as 90s")] = None,
    paper: Annotated[bool, typer.Option(help="the papers' options: initial window 1, MISS not capped")] = False,
) -> None:
    """What a new connection to PREFIX would get by each method, and from what."""
    with explained():
        if table is None and trace is None:
            raise Refused("nothing to estimate from: give --table or --trace")
        remote, estimator, now = destination(prefix), Estimator(Options(paper=paper)), 0
        if rules:
            estimator.rules(_read(rules))
        if trace:
            now, refused = replay(estimator, trace)
            _say_refused(refused)
        if table:
            now = max(now, 10_000 * SECOND)  # saved ages count back from it
            if estimator.load(now, _read(table), _quantity(age, duration)) is not Cause.NONE:
                raise Refused(f"{table} is not a saved table of this version: its first line is 'downbeat-estimator 1'")
            if bad := estimator.refused(Cause.ARGUMENT):
                typer.echo(f"{bad} bad lines of {table} were left out", err=True)
        wanted = (_quantity(transfer, size), _quantity(rtt, duration))
        starts = [estimator.request(now, Request(remote, method, *wanted, 0, segment)) for method in Method]
        report_console().print(_table(prefix, starts, estimator.prefix(now, remote)))


def _say_refused(refused: dict[Cause, int]) -> None:
    for cause, count in refused.items():
        if count and cause is not Cause.NONE:
            typer.echo(f"{count} lines of the trace refused: {cause.name.lower()}", err=True)


def _table(prefix: str, starts: list[tuple[Cause, Start]], state: PrefixState | None) -> Table:
    known = f"{state.open} open, {state.steady} steady, {state.starting} in start-up" if state else "nothing known"
    table = Table(title=f"{prefix}: {known}", title_justify="left")
    for name in ("method", "window", "ssthresh", "pace", "from"):
        table.add_column(name, justify="left" if name in ("method", "pace", "from") else "right")
    for _, start in starts:
        gap = f", {start.gap / 1e6:.3f} ms" if start.gap else ""
        pace = "-" if start.pace is Pace.NONE else start.pace.name.lower() + gap
        ssthresh = f"{start.ssthresh:,} B" if start.ssthresh else "-"
        window = str(start.initial_window) if start.known else "standard"
        table.add_row(start.method.name.lower(), window, ssthresh, pace, start.reason)
    return table
