# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What a script says: lines of times, segments, ICMP errors and calls, all in the script's own numbers."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path

MODULUS = 1 << 32
FLAGS = "FSRP.UEW"
PEER_PORT = 4000
Value = int | str | None


class ScriptError(Exception):
    """A script that cannot be read; the text names the file, the line and what to change."""


@dataclass(frozen=True)
class When:
    """When a line happens: ns from the start, or from the line before; `latest` None: at any time from `earliest` on."""

    earliest: int
    latest: int | None
    relative: bool


@dataclass(frozen=True)
class Option:
    """A TCP option: `nop`, `eol`, `sackOK`, `mss 1460`, `wscale 5`, `TS val 1 ecr 2`, `sack 1:2 5:6`, `raw fd04beef`; None: any value."""

    name: str
    values: tuple[int | None, ...] = ()
    raw: bytes = b""

    def __str__(self) -> str:
        shown = ["*" if value is None else str(value) for value in self.values]
        if self.name == "TS":
            return f"TS val {shown[0]} ecr {shown[1]}"
        if self.name == "sack":
            return " ".join(["sack", *(f"{left}:{right}" for left, right in zip(shown[::2], shown[1::2], strict=True))])
        return " ".join([self.name, *shown, *([self.raw.hex()] if self.raw else [])])


@dataclass(frozen=True)
class Segment:
    """A TCP segment. In an expectation None means: whatever it is."""

    ecn: str | None  # noecn, ect0, ect1, ce
    flags: str  # of FLAGS, in that order; in an expectation p: PSH or not
    sequence: int
    length: int
    acknowledgment: int | None
    window: int | None  # as on the wire
    urgent: int | None
    options: tuple[Option, ...] | None

    @property
    def end(self) -> int:
        return (self.sequence + self.length) % MODULUS

    def differences(self, came: Segment) -> list[str]:
        """What is not as expected, in words."""
        if "p" in self.flags:
            return replace(self, flags=came.flags if self.flags[1:] == came.flags.replace("P", "") else self.flags[1:]).differences(came)
        return [
            f"{field.name} {_shown(getattr(came, field.name))}, not {_shown(expected)}"
            for field in fields(self)
            if (expected := getattr(self, field.name)) is not None and not _agree(expected, getattr(came, field.name))
        ]

    def pieces(self, size: int, before_last: str) -> list[Segment]:
        """The same data in segments of `size` bytes. FIN goes with the last; `before_last` are the flags of the others."""
        starts = range(0, max(self.length, 1), size)
        return [
            replace(
                self,
                sequence=(self.sequence + start) % MODULUS,
                length=min(size, self.length - start),
                flags=self.flags if start == starts[-1] else before_last,
            )
            for start in starts
        ]

    def __str__(self) -> str:
        words = [f"[{self.ecn}]"] if self.ecn not in (None, "noecn") else []
        words += [self.flags or "-", f"{self.sequence}:{self.end}({self.length})"]
        for name, value in (("ack", self.acknowledgment), ("win", self.window), ("urg", self.urgent)):
            words += [name, str(value)] if value is not None else []
        if self.options != ():
            words.append("<...>" if self.options is None else f"<{','.join(map(str, self.options))}>")
        return " ".join(words)


@dataclass(frozen=True)
class Unreachable:
    """An ICMP destination unreachable about a segment of the core's."""

    code: str  # of packets.UNREACHABLE
    mtu: int
    sequence: int
    length: int

    def __str__(self) -> str:
        mtu = f" mtu {self.mtu}" if self.mtu else ""
        end = (self.sequence + self.length) % MODULUS
        return f"icmp unreachable {self.code}{mtu} [{self.sequence}:{end}({self.length})]"


@dataclass(frozen=True)
class Call:
    """What the application does, or a check of what it sees; `result` None: success is expected."""

    name: str
    arguments: tuple[Value, ...]
    parameters: tuple[tuple[str, Value], ...]
    result: str | None

    def __str__(self) -> str:
        said = [*map(str, self.arguments), *(f"{name}={value}" for name, value in self.parameters)]
        return f"{self.name}({', '.join(said)})" + (f" = {self.result}" if self.result is not None else "")


@dataclass(frozen=True)
class Line:
    """One thing that happens or must happen."""

    number: int
    text: str
    when: When
    port: int  # the peer's: which connection is meant
    direction: str  # "<" to the core, ">" from it, "" a call
    what: Segment | Unreachable | Call


@dataclass(frozen=True)
class Script:
    path: Path
    options: dict[str, str]
    lines: tuple[Line, ...]


def _agree(expected: object, came: object) -> bool:
    if isinstance(expected, tuple) and isinstance(came, tuple):
        return len(expected) == len(came) and all(map(_same_option, expected, came))
    return expected == came


def _same_option(expected: Option, came: Option) -> bool:
    if (expected.name, expected.raw, len(expected.values)) != (came.name, came.raw, len(came.values)):
        return False
    slack = (1, 0) if expected.name == "TS" else (0,) * len(expected.values)  # a tick may end between two segments
    pairs = zip(expected.values, came.values, slack, strict=True)
    return all(wanted is None or value is None or abs(wanted - value) <= ticks for wanted, value, ticks in pairs)


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return f"<{','.join(map(str, value))}>"
    return "none" if value is None else str(value)
