# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Contents of a script: lines of times, segments, ICMP errors and calls, all in the script's own numbers."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path

from sim.adversarial.packetdrill.options import Option

MODULUS = 1 << 32
FLAGS = "FSRP.UEW"
PEER_PORT = 4000
USUAL_TTL = 64
Value = int | str | None


@dataclass(frozen=True)
class When:
    """When a line happens: ns from the start, or from the line before; `latest` None: at any time from `earliest`
    on."""

    earliest: int
    latest: int | None
    relative: bool


@dataclass(frozen=True)
class Segment:
    """A TCP segment. In an expectation None means: whatever it is."""

    ecn: str | None  # noecn, ect0, ect1, ce
    flags: str  # letters of FLAGS, in that order; in an expectation p: PSH or not
    sequence: int
    length: int
    acknowledgment: int | None
    window: int | None  # as on the wire
    urgent: int | None
    options: tuple[Option, ...] | None
    dscp: int | None = None  # differentiated services
    ttl: int | None = None

    @property
    def end(self) -> int:
        return (self.sequence + self.length) % MODULUS

    def differences(self, came: Segment) -> list[str]:
        """The differences from the expectation, in words."""
        if "p" in self.flags:
            bare = self.flags[1:]
            pushed = bare == came.flags.replace("P", "")
            return replace(self, flags=came.flags if pushed else bare).differences(came)
        return [
            f"{field.name} {_shown(getattr(came, field.name))}, not {_shown(expected)}"
            for field in fields(self)
            if (expected := getattr(self, field.name)) is not None and not _agree(expected, getattr(came, field.name))
        ]

    def pieces(self, size: int, before_last: str) -> list[Segment]:
        """The same data in segments of `size` bytes. FIN goes with the last; `before_last` are the flags of the
        others."""
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
        header = [self.ecn] if self.ecn not in (None, "noecn") else []
        header += [f"dscp {self.dscp}"] if self.dscp else []
        header += [f"ttl {self.ttl}"] if self.ttl not in (None, USUAL_TTL) else []
        words = [f"[{','.join(header)}]"] if header else []
        words += [self.flags or "-", f"{self.sequence}:{self.end}({self.length})"]
        for name, value in (("ack", self.acknowledgment), ("win", self.window), ("urg", self.urgent)):
            words += [name, str(value)] if value is not None else []
        if self.options != ():
            words.append("<...>" if self.options is None else f"<{','.join(map(str, self.options))}>")
        return " ".join(words)


@dataclass(frozen=True)
class NetworkError:
    """An ICMP error about a segment of the core's."""

    kind: str  # a key of packets.ERRORS
    mtu: int
    sequence: int
    length: int

    def __str__(self) -> str:
        mtu = f" mtu {self.mtu}" if self.mtu else ""
        end = (self.sequence + self.length) % MODULUS
        return f"icmp {self.kind}{mtu} [{self.sequence}:{end}({self.length})]"


@dataclass(frozen=True)
class Call:
    """A call of the application, or a check of its view; `result` None: success is expected."""

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
    what: Segment | NetworkError | Call


@dataclass(frozen=True)
class Script:
    path: Path
    options: dict[str, str]
    lines: tuple[Line, ...]


def _agree(expected: object, came: object) -> bool:
    if isinstance(expected, tuple) and isinstance(came, tuple):
        return len(expected) == len(came) and all(
            expected_option.agrees(option) for expected_option, option in zip(expected, came, strict=True)
        )
    return expected == came


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return f"<{','.join(map(str, value))}>"
    return "none" if value is None else str(value)
