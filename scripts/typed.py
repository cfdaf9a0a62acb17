# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A page's blocks, and a terminal that takes them line by line as a reader types them."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self

PROMPT = re.compile(r"\[\[(\d+)\]\]")  # the shell's prompt has the status of the command before
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")


@dataclass(frozen=True)
class Block:
    """The reader writes a file, or types lines, which print something."""

    file: str = ""
    text: str = ""
    lines: tuple[str, ...] = ()
    said: tuple[str, ...] = ()


def blocks(page: str) -> Iterator[Block]:
    """Files (a fence with a language after a line that names one), indented commands (those with `$`, where a block has
    any; the others are what they print), and what they print (a fence without a language behind them)."""
    typed = Block()
    before = ""
    for part in re.findall(r"^```.*?^```$|^(?:    [^\n]*\n)+|^[^\n]*\n", f"{page}\n", re.DOTALL | re.MULTILINE):
        head, _, text = part.partition("\n")
        if part.startswith("    "):
            yield typed
            rows = [row[4:] for row in part.splitlines()]
            marked = tuple(row[2:] for row in rows if row.startswith("$ "))
            typed = Block(lines=marked or tuple(rows), said=tuple(row for row in rows if marked and row[:2] != "$ "))
        elif head == "```":
            typed = replace(typed, said=(*typed.said, *text.splitlines()[:-1]))
        elif named := head.startswith("```") and re.fullmatch(r"In `([^`]+)`:", before):
            yield typed
            typed = Block()
            yield Block(file=named[1], text=text[:-3])
        before = part.strip() or before
    yield typed


def plain(text: str) -> str:
    """One line; each number and each blank is as good as another."""
    return " ".join(re.sub(r"[-\d][\d.,]*", "0", re.sub(r"[━─]+", "━", ESCAPES.sub("", text))).split())


class Terminal:
    """An interactive bash while the block lasts; `command` begins it, with the prompt [[$?]]."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], limit: float) -> None:
        self.limit, self.heard = limit, ""
        self.process, self.descriptor = pty.fork()
        if self.process == 0:
            os.execvpe(command[0], list(command), dict(environment) | {"TERM": "dumb"})

    def __enter__(self) -> Self:
        self._until(PROMPT.search)
        self.type("set +H; stty -echo columns 200")  # no history in a file, no echo of what is typed
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        os.close(self.descriptor)

    def type(self, line: str) -> None:
        """The next prompt has come, and says that the line has done what it should."""
        before = self.heard
        self.heard = ""
        os.write(self.descriptor, line.encode() + b"\n")
        self._until(PROMPT.search)
        status = PROMPT.findall(self.heard)[-1]
        may_fail = "kill $(jobs" in line  # one of them may end meanwhile
        assert status == "0" or may_fail, f"{line}\nends with {status}\n{self.heard}"
        self.heard = before + self.heard

    def says(self, expected: str) -> None:
        """Now, or in some time: a program in the background says so when it is ready."""
        parts = [part for part in map(plain, expected.split("...")) if part]
        self._until(lambda heard: all(part in plain(heard) for part in parts), expected)

    def _until(self, condition: Callable[[str], object], expected: str = "a prompt") -> None:
        end = time.monotonic() + self.limit
        while not condition(self.heard):
            left = end - time.monotonic()
            assert left > 0, f"wants {expected}\nsays\n{self.heard}"
            if select.select([self.descriptor], [], [], min(left, 1.0))[0]:
                self.heard += os.read(self.descriptor, 1 << 16).decode(errors="replace")
