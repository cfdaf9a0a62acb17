# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make packetdrill GOOGLE=folder`: packetdrill's own scripts of Linux's recovery and slow start, judged by what leaves
and when.

A script is put into this runner's words: calls of sockets become the core's, segments longer than the MSS several;
sysctls and what `%{ }%` asks of Linux are left out. The connection has Linux's policies. google.toml has the scripts
that the core does otherwise, each with its cause.
"""

from __future__ import annotations

import re
import sys
import tomllib
from decimal import Decimal
from pathlib import Path

from downbeat_toe.library import load

from sim.adversarial.packetdrill.options import ScriptError
from sim.adversarial.packetdrill.parser import parse
from sim.adversarial.packetdrill.runner import ScriptFailedError, run
from sim.lib import build, verilated

CAUSES = Path(__file__).parent / "google.toml"
PARTS = ("cubic", "cwnd_moderation", "fast_recovery", "fast_retransmit", "limited_transmit", "sack", "slow_start")
# Growth of an ACK of several segments matters in some parts, in the others Linux does not count what duplicates did.
STARTUPS = {"cubic": "hystart", "slow_start": "hystart"}
TOLERANCE = 4000  # us: packetdrill's own
_NUMBER = r"\d*\.?\d+"
_LINE = re.compile(rf"(\+?)({_NUMBER})(?:~\+?({_NUMBER}))?(?:\.\.\.\+?{_NUMBER})?\s+(.*)")
_CALL = re.compile(r"(\w+)\((.*)\)\s*=\s*(-?\w+).*")
_SILENT = {"socket", "bind", "accept", "setsockopt", "getsockopt", "fcntl"}


def translated(text: str, startup: str = "standard") -> str:
    """The script in this runner's language; raises ScriptError at what it does not have."""
    text = re.sub(r"//.*", "", text)
    text = re.sub(r"%\{.*?\}%|`[^`]*`", "%", text, flags=re.DOTALL)
    settings = dict(re.findall(r"^--(\w+)=(\S+)", text, flags=re.MULTILINE))
    syn = re.search(r"<\s+S\S*\s.*mss (\d+).*", text)
    size = int(syn[1]) - (12 if "TS val" in syn[0] else 0) if syn else 1460
    lines = [f"--tolerance_usecs={settings.get('tolerance_usecs', TOLERANCE)}", f"--mss={size}", "--open_end=1"]
    passed = Decimal(0)  # s, of lines that are left out
    for raw in text.splitlines():
        said = raw.strip()
        if not said or said.startswith(("--", "%")):
            continue
        match = _LINE.fullmatch(said)
        if not match:
            raise ScriptError(f"'{said}' is no line of packetdrill")
        relative, first, last, what = match.groups()
        words = _words(what, startup)
        if not words:
            passed += Decimal(first) if relative else 0
            continue
        add = passed if relative else Decimal(0)
        times = [f"{relative}{Decimal(time) + add}" for time in (first, last) if time]
        lines.append(f"{'~'.join(times)} {words}")
        passed = Decimal(0)
    return "\n".join(lines)


def _words(what: str, startup: str) -> str:
    """A line without its time; empty: nothing is left of it."""
    if what.startswith("<"):
        return what
    if what.startswith(">"):
        return _expected(what)
    if what.startswith("%"):
        return ""
    match = _CALL.fullmatch(what)
    if not match:
        raise ScriptError(f"'{what}' is no call")
    name, arguments, result = match.groups()
    if name in _SILENT:
        return ""
    match name:
        case "listen" | "connect":
            return f"{name}(startup={startup}, steady=cubic)"
        case "write" | "send" | "sendto":
            return f"write({result})"
        case "read" | "recv":
            return f"read({result})"
        case "close":
            return "close()"
        case "shutdown" if "SHUT_WR" in arguments:
            return "shutdown()"
        case _:
            raise ScriptError(f"no call {name} here")


def _expected(what: str) -> str:
    """A segment that must leave; its PSH, and options of a SYN or with a time, are free."""
    _, flags, rest = what.split(None, 2)
    if "S" not in flags:
        flags = "p" + flags.replace("P", "")
    if "S" in flags or "TS val" in rest:
        rest = re.sub(r"<.*>", "<...>", rest)
    return f"> {flags} {rest}"


def attempt(text: str, path: Path, **arguments: object) -> str:
    """The first thing that the core did otherwise; empty: nothing."""
    try:
        script = translated(text, STARTUPS.get(path.parent.name, "standard"))
        run(parse(script, path), **arguments)  # type: ignore[arg-type]
    except (ScriptError, ScriptFailedError) as error:
        return str(error)
    return ""


def main(folder: Path, seed: int) -> int:
    paths = [path for part in PARTS for path in sorted(folder.glob(f"**/{part}/*.pkt"))]
    if not paths:
        print(f"GOOGLE={folder}: no script in a folder {', '.join(PARTS)}", file=sys.stderr)
        return 2
    try:
        library = load(verilated.library() / "libdownbeat_sim.so")
    except build.BuildFailed as error:
        print(error, file=sys.stderr)
        return 2
    causes: dict[str, str] = tomllib.loads(CAUSES.read_text())
    wrong = 0
    for path in paths:
        name = f"{path.parent.name}/{path.stem}"
        failure = attempt(path.read_text(), path, library=library, seed=seed)
        cause = causes.get(name, "")
        wrong += bool(failure) != bool(cause)
        print(f"{'otherwise' if failure else 'as Linux '} {name}" + (f": {cause}" if cause else ""))
        if failure and not cause:
            print(failure, file=sys.stderr)
        if cause and not failure:
            print(f"{name} passes now: take it out of {CAUSES.name}", file=sys.stderr)
    print(f"{len(paths)} scripts, {len(causes)} known to be otherwise, {wrong} not as {CAUSES.name} says")
    return 1 if wrong else 0
