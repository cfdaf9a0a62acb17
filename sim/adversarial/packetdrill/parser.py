# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Reads a script: a subset of packetdrill's language, with the calls that this core has
(docs/how-to/packet-scripts.md)."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from sim.adversarial.packetdrill.options import Option, ScriptError, parsed_options
from sim.adversarial.packetdrill.packets import ERRORS
from sim.adversarial.packetdrill.script import (
    FLAGS,
    MODULUS,
    PEER_PORT,
    Call,
    Line,
    NetworkError,
    Script,
    Segment,
    Value,
    When,
)

SEGMENT_SIZE = 1460  # longer data is cut into such segments, each way
# Settings that a script may have in its first lines.
SETTINGS = {
    "tolerance_usecs": "how far a time may be off (50)",
    "mss": "payload bytes of a segment, into which lines of more are cut (1460)",
    "remote_isn": "the peer's sequence number that is 0 in the script (drawn)",
    "staging_bytes": "what the application's side takes ahead of read() (262144)",
    "open_end": "1: what the core sends behind the last line is free",
    "expected_failure": "why the core cannot do it yet: the script must fail",
}
CALLS = (
    "connect",
    "listen",
    "unlisten",
    "write",
    "read",
    "shutdown",
    "close",
    "abort",
    "state",
    "closed",
    "info",
    "acks",
    "renumber",
)

_NUMBER = r"(?:\d+\.\d*|\.\d+|\d+)"
_TIME = re.compile(rf"(?P<any>\*)|(?P<plus>\+?)(?P<first>{_NUMBER})(?:~(?P<plus2>\+?)(?P<second>{_NUMBER}))?")
_PORT = re.compile(r":(\d+)\s+")
_RANGE = r"(?P<sequence>\d+):(?P<end>\d+)\((?P<length>\d+)\)"
_SEGMENT = re.compile(
    rf"(?:\[(?P<ip>[^\]]+)\]\s+)?(?P<flags>\S+)\s+{_RANGE}(?:\s+ack\s+(?P<ack>\d+))?(?:\s+win\s+(?P<win>\d+))?"
    r"(?:\s+urg\s+(?P<urg>\d+))?(?:\s*<(?P<options>[^>]*)>)?"
)
_ICMP = re.compile(rf"icmp\s+(?P<kind>\w+(?:\s+(?!mtu\b)\w+)?)(?:\s+mtu\s+(?P<mtu>\d+))?\s+\[{_RANGE}\]")
_CALL = re.compile(r"(?P<name>\w+)\s*\((?P<arguments>[^()]*)\)(?:\s*=\s*(?P<result>.+))?")
_SETTING = re.compile(r"--(\w+)=(.+)")


def read(path: Path) -> Script:
    return parse(path.read_text(), path)


def parse(text: str, path: Path) -> Script:
    """The script; raises ScriptError with the place and what to change."""
    settings: dict[str, str] = {}
    lines: list[Line] = []
    for number, raw in enumerate(text.splitlines(), 1):
        said = re.sub(r"(//|#).*", "", raw).strip()
        try:
            if setting := _SETTING.fullmatch(said):
                if lines:
                    raise ScriptError(f"--{setting[1]} must stand before the first event")
                if setting[1] not in SETTINGS:
                    raise ScriptError(f"no setting --{setting[1]}; there are {', '.join(SETTINGS)}")
                settings[setting[1]] = setting[2].strip('"')
            elif said:
                lines += _lines(number, said, int(settings.get("mss", SEGMENT_SIZE)))
        except ScriptError as error:
            raise ScriptError(f"{path}:{number}: {error}\n    {raw.strip()}") from None
    if not lines:
        raise ScriptError(f"{path}: nothing happens in it")
    return Script(path, settings, tuple(lines))


def _lines(number: int, said: str, size: int) -> list[Line]:
    time, _, rest = said.partition(" ")
    when, rest = _when(time), rest.strip()
    direction = rest[0] if rest[:1] in ("<", ">") else ""
    rest = rest[len(direction) :].strip()
    port = PEER_PORT
    if tag := _PORT.match(rest):
        port, rest = int(tag[1]), rest[tag.end() :]
    what = _packet(rest, direction) if direction else _call(rest)
    if direction != ">" and when.latest != when.earliest:
        raise ScriptError("only what the core sends may have a range of times")
    line = Line(number, said, when, port, direction, what)
    if not isinstance(what, Segment) or what.length <= size:
        return [line]
    following = replace(when, earliest=0, latest=0, relative=True)
    # Whether PSH is set before the last depends on how far the application's bytes have come.
    pieces = what.pieces(
        size, ("p" if direction == ">" else "") + "".join(set_ for set_ in what.flags if set_ not in "FPp")
    )
    return [replace(line, what=pieces[0]), *(replace(line, what=piece, when=following) for piece in pieces[1:])]


def _when(text: str) -> When:
    match = _TIME.fullmatch(text)
    if not match:
        raise ScriptError(f"'{text}' is not a time: write +.010 (after the line before), 1.5, +.2~+.3 or *")
    if match["any"]:
        return When(0, None, relative=True)
    relative = bool(match["plus"])
    earliest = latest = _nanoseconds(match["first"])
    if match["second"]:
        if bool(match["plus2"]) != relative:
            raise ScriptError(f"'{text}': both ends of a range are relative, or neither")
        latest = _nanoseconds(match["second"])
        if latest < earliest:
            raise ScriptError(f"'{text}' ends before it begins")
    return When(earliest, latest, relative)


def _nanoseconds(text: str) -> int:
    return int(Decimal(text) * 1_000_000_000)


def _packet(text: str, direction: str) -> Segment | NetworkError:
    if text.startswith("icmp"):
        match = _ICMP.fullmatch(text)
        if not match:
            raise ScriptError("an ICMP error is: icmp KIND [SEQ:END(LENGTH)], with mtu N after the kind")
        if direction == ">":
            raise ScriptError("the core sends no ICMP errors: write <")
        kind = " ".join(match["kind"].split())
        if kind not in ERRORS:
            raise ScriptError(f"no {kind}; there are {', '.join(ERRORS)}")
        sequence, length = _range(match)
        return NetworkError(kind, int(match["mtu"] or 0), sequence, length)
    match = _SEGMENT.fullmatch(text)
    if not match:
        raise ScriptError("a segment is: FLAGS SEQ:END(LENGTH) ack N win N urg N <options>, in this order")
    flags = match["flags"]
    if flags != "-" and (set(flags) - set(FLAGS) - {"p"} or len(set(flags)) != len(flags)):
        raise ScriptError(f"flags '{flags}': each of {FLAGS} once, or - for none")
    if "p" in flags and (direction == "<" or "P" in flags):
        raise ScriptError("p is said of what the core sends: PSH or not")
    if ("." in flags) != (match["ack"] is not None):
        raise ScriptError("the flag . and ack N belong together")
    sequence, length = _range(match)
    return Segment(
        **_ip(match["ip"] or ""),
        flags="".join(flag for flag in f"p{FLAGS}" if flag in flags),
        sequence=sequence,
        length=length,
        acknowledgment=_integer(match["ack"]),
        window=_integer(match["win"]),
        urgent=_integer(match["urg"]),
        options=None if match["options"] == "..." else _options(match["options"] or "", direction),
    )


def _ip(text: str) -> dict[str, Any]:
    """The fields of the IP header in [...]."""
    said: dict[str, Any] = {"ecn": None}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = part.partition(" ")
        if part in ("noecn", "ect0", "ect1", "ce"):
            said["ecn"] = part
        elif name in ("dscp", "ttl") and value.isdecimal():
            said[name] = int(value)
        else:
            raise ScriptError(f"[{text}]: noecn, ect0, ect1 or ce; dscp N; ttl N; with commas between")
    return said


def _range(match: re.Match[str]) -> tuple[int, int]:
    sequence, end, length = int(match["sequence"]), int(match["end"]), int(match["length"])
    if sequence >= MODULUS or (sequence + length) % MODULUS != end:
        raise ScriptError(f"{sequence}:{end}({length}): it ends at {(sequence + length) % MODULUS}")
    return sequence, length


def _integer(text: str | None) -> int | None:
    return None if text is None else int(text)


def _options(text: str, direction: str) -> tuple[Option, ...]:
    options = parsed_options(text)
    if direction == "<" and any(None in option.values for option in options):
        raise ScriptError("* in an option: only of what the core sends a value may be left open")
    return options


def _call(text: str) -> Call:
    match = _CALL.fullmatch(text)
    if not match or match["name"] not in CALLS:
        raise ScriptError(f"'{text}' is neither a packet (< or >) nor a call of {', '.join(CALLS)}")
    arguments: list[Value] = []
    parameters: list[tuple[str, Value]] = []
    for part in filter(None, (part.strip() for part in match["arguments"].split(","))):
        name, separator, value = part.rpartition("=")
        if separator:
            parameters.append((name.strip(), _value(value.strip())))
        else:
            arguments.append(_value(part))
    return Call(match["name"], tuple(arguments), tuple(parameters), match["result"])


def _value(text: str) -> Value:
    return int(text) if text.isdecimal() else text
