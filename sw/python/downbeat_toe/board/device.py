# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Access of a host to a board: registers by name, its time, its PHYs (docs/how-to/boards.md)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Self

from downbeat_toe.board.bone import Bone, Line
from downbeat_toe.refused import Refused

REGION = 0x1000  # byte address of the board's own registers
MAGIC = int.from_bytes(b"DnBb")
PHY_STATES = (
    "no PHY answers",
    "no link",
    "refused: the other end does not offer 1000BASE-T full duplex",
    "up, 1000 Mb/s",
)


class Registers:
    """A region of 4 KiB, by the names in its JSON."""

    def __init__(self, bone: Bone, base: int, described: dict[str, Any]) -> None:
        self.bone = bone
        self.names: dict[str, Any] = described["registers"]
        self._base = base

    def at(self, name: str) -> int:
        return self._base + int(self.names[name]["offset"])

    def read(self, name: str) -> int:
        return self.bone.read(self.at(name))[0]

    def field(self, name: str, field: str) -> int:
        place = self.names[name]["fields"][field]
        return self.read(name) >> int(place["offset"]) & (1 << int(place["width"])) - 1

    def write(self, name: str, *words: int, **fields: int) -> None:
        """Words from this register on, or the register's fields."""
        places = self.names[name]["fields"]
        made = sum(value << int(places[field]["offset"]) for field, value in fields.items())
        self.bone.write(self.at(name), *(words or (made,)))


def described(build: Path, *names: str) -> Any:
    """What a build's directory says in the first of these files that it has."""
    for file in (build / f"{name}.json" for name in names):
        if file.exists():
            return json.loads(file.read_text())
    raise Refused(
        f"{build}: no {' and no '.join(names)}.json in it; make bitstream writes it, or name another (--build)"
    )


class Board(Registers):
    def __init__(self, line: Line, described: dict[str, Any]) -> None:
        super().__init__(Bone(line), REGION, described)
        if self.read("boardMagic") != MAGIC:
            raise Refused(
                "what answers is not a Downbeat board, or of another build: make bitstream, make bitstream PROGRAM=1"
            )
        inside, wanted = self.read("boardContents"), int(self.names["boardContents"]["fields"]["value"]["reset"])
        if inside != wanted:
            raise Refused(
                f"the board has '{_letters(inside)}' inside, the build '{_letters(wanted)}': name its build (--build)"
            )

    @classmethod
    def of_build(cls, line: Line, build: Path) -> Self:
        """Of any contents."""
        return cls(line, described(build, "probe_registers", "traffic_registers"))

    @property
    def name(self) -> str:
        return "".join(_letters(self.read(f"boardName{i}")) for i in range(4))

    def now(self) -> int:
        low = self.read("boardTimeLow")
        return self.read("boardTimeHigh") << 32 | low

    # ---- PHYs

    def phys(self) -> list[str]:
        return [PHY_STATES[self.read(f"phy{port}")] for port in range(self.read("boardPorts"))]

    def mdio_read(self, phy: int, register: int) -> int:
        self.write("mdio", phy=phy, register=register)
        return self._mdio_response()

    def mdio_write(self, phy: int, register: int, data: int) -> None:
        self.write("mdio", phy=phy, register=register, data=data, write=1)
        self._mdio_response()

    def _mdio_response(self) -> int:
        while self.field("mdioResponse", "busy"):
            pass
        return self.field("mdioResponse", "data")


def _letters(word: int) -> str:
    return word.to_bytes(4, "big").rstrip(b"\0").decode("ascii", "replace")
