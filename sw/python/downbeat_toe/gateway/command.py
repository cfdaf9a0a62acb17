# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`downbeat gateway`: what the site knows, who speaks, what a new connection would get and why; keys; a bench."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from downbeat_toe.console import report_console
from downbeat_toe.gateway import admin, keys
from downbeat_toe.gateway.bench import command as bench
from downbeat_toe.gateway.process import Site, program
from downbeat_toe.quantities import size
from downbeat_toe.refused import Refused, explained

app = typer.Typer(no_args_is_help=True, help="The site's performance gateway: its hosts share estimates of paths.")
key_app = typer.Typer(no_args_is_help=True, help="The site's key file.")
app.add_typer(key_app, name="keys")
app.command("bench")(bench)

Admin = Annotated[Path, typer.Option("--admin", help="the performance gateway's admin socket")]
ADMIN = Path("/run/downbeat-gateway/admin.sock")
Most = Annotated[int, typer.Option(help="rows", min=1, max=1000)]


@app.command()
def show(most: Most = 20, socket: Admin = ADMIN) -> None:
    """The prefixes, the most recently used first."""
    with explained():
        found = admin.ask(socket, f"/show?most={most}")
    table = Table("prefix", "window/B", "RTT/ms", "reports", "reporters", "LISS n x w/B", "saved/B", "queries")
    for row in found["rows"]:
        spand, liss, resume = (row.get(name, {}) for name in ("spand", "liss", "resume"))
        table.add_row(
            row["prefix"],
            _number(spand, "window_bytes"),
            _number(spand, "rtt_s", 1000),
            _number(spand, "reports"),
            _number(spand, "reporters"),
            f"{liss['connections']:.4g} x {liss['oldest_window_bytes']:.6g}" if liss else "",
            _number(resume, "window_bytes"),
            str(row["all_queries"]),
        )
    report_console().print(table)
    print(f"{found['prefixes']} prefixes, {found['bytes'] / 1e6:.1f} MB")


@app.command()
def top(most: Most = 20, socket: Admin = ADMIN) -> None:
    """The reporters, the busiest first."""
    with explained():
        found = admin.ask(socket, f"/top?most={most}")
    names = ("reporter", "reports", "queries", "refused", "sessions", "silent_s")
    table = Table(*names)
    for row in found["rows"]:
        table.add_row(*(f"{row[name]:.9g}" for name in names))
    report_console().print(table)


@app.command()
def explain(
    prefix: str,
    transfer: Annotated[str | None, typer.Option(help="what the connection will send, as 30kB")] = None,
    segment: Annotated[int, typer.Option(help="segment size in bytes", min=64, max=65535)] = 1460,
    socket: Admin = ADMIN,
) -> None:
    """What a new connection to PREFIX would start with, and which reporters say so."""
    with explained():
        try:
            sent = size(transfer) if transfer else 0
        except ValueError as error:
            raise Refused(str(error)) from None
        found = admin.ask(socket, f"/explain?prefix={prefix}&bytes={sent}&mss={segment}")
    for line in explanation(found, sent, segment):
        print(line)


def explanation(found: dict[str, Any], transfer: int, segment: int) -> list[str]:
    """The answer of /explain in words. Both sizes in bytes; `transfer` 0: not known."""
    lines = []
    if spand := found.get("spand"):
        how = "lower median of" if found["aggregate"] == "median" else "mean over"
        window, sent = spand["window_bytes"] / segment, f"{transfer} bytes" if transfer else "a size that is not known"
        lines.append(f"SPAND   initial window {found['spand_window']} segments for {sent}, paced over a round trip")
        lines.append(
            f"        W = {window:.1f} segments, {how} {spand['reporters']} reporters, {spand['reports']} reports; "
            f"RTT {1000 * spand['rtt_s']:.1f} ms; {spand['segments_per_ack']:.2f} segments per ACK"
        )
    if liss := found.get("liss"):
        lines.append(
            f"LISS    ssthresh {found['liss_ssthresh']:.1f} segments: {liss['connections']:.2f} connections, "
            f"oldest window {liss['oldest_window_bytes'] / segment:.1f}"
        )
    if resume := found.get("resume"):
        lines.append(
            f"Resume  saved window {resume['window_bytes']:.0f} bytes at {1000 * resume['rtt_s']:.1f} ms: "
            f"a jump of at most {resume['window_bytes'] / 2:.0f} bytes after reconnaissance"
        )
    if not found["known"]:
        lines.append(f"nothing is known of {found['prefix']}: standard slow start")
    for row in found["rows"]:
        said = [f"{name} {json.dumps(row[name])}" for name in ("spand", "liss", "resume") if name in row]
        lines.append(f"  reporter {row['reporter']}: {'; '.join(said)}")
    return lines


@app.command()
def demo() -> None:
    """Starts a performance gateway on loopback, reports a transfer as host 1, asks as host 2, and shows the answer."""
    with explained(), Site() as site:
        for reporter, mode in ((1, "once"), (2, "ask")):
            line = keys.issue(site.keys, reporter)
            run = [str(program("gateway-bench")), mode, site.uri, "192.0.2.0/24"]
            done = subprocess.run(run, text=True, capture_output=True, check=False, input=line)
            if done.returncode:
                print(done.stderr.strip())
                raise typer.Exit(1)
            print(f"host {reporter}: {done.stdout.strip()}")
        for text in explanation(site.ask("/explain?prefix=192.0.2.0/24&bytes=30000&mss=1460"), 30000, 1460):
            print(text)


@key_app.command("new")
def new_key(file: Path) -> None:
    """A new key file with one key."""
    with explained():
        print(f"key {keys.new(file)} is in {file}")


@key_app.command("rotate")
def rotate_key(file: Path) -> None:
    """A further key; hosts with the one before stay valid until the next rotation. Then: systemctl reload downbeat-gateway."""
    with explained():
        number, gone = keys.rotate(file)
    print(f"key {number} is in {file}" + (f"; key {gone} is not valid any more" if gone is not None else ""))


@key_app.command("issue")
def issue_key(file: Path, reporter: int) -> None:
    """The key of one host, derived from the site's newest: give it to that host alone."""
    with explained():
        print(keys.issue(file, reporter))


@key_app.command("deny")
def deny_reporter(file: Path, reporter: int) -> None:
    """This reporter is refused from now on, with every key."""
    with explained():
        keys.deny(file, reporter)


@key_app.command("list")
def list_keys(file: Path) -> None:
    """Keys and denied reporters, without secrets."""
    with explained():
        print("\n".join(keys.listed(file)))


def _number(part: dict[str, Any], name: str, factor: float = 1) -> str:
    return f"{factor * part[name]:.6g}" if name in part else ""
