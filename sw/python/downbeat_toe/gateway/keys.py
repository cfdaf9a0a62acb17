# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The site's key file: at most two keys, the newest last, and reporters that are denied."""

from __future__ import annotations

import os
import re
import secrets
from pathlib import Path

from downbeat_toe.gateway.wire import derive
from downbeat_toe.refused import Refused

MOST = 2  # valid at once
LINE = re.compile(r"key \d{1,3} [0-9a-fA-F]{64}|deny \d+")


def new(file: Path) -> int:
    """Makes the file with one key. The key's number."""
    if file.exists():
        raise Refused(f"{file} is there already: use rotate to add a key")
    _write(file, [f"key 1 {secrets.token_hex(32)}"])
    return 1


def rotate(file: Path) -> tuple[int, int | None]:
    """Adds a key; the oldest goes if two are there. The new key's number, and the one that went."""
    lines = _lines(file)
    held = [line for line in lines if line.startswith("key ")]
    numbers = [int(line.split()[1]) for line in held]
    number = next(n for n in (numbers[-1] + step for step in range(1, 256)) if n % 256 not in numbers) % 256
    gone = numbers[0] if len(held) == MOST else None
    kept = [line for line in lines if gone is None or line != held[0]]
    _write(file, [*kept, f"key {number} {secrets.token_hex(32)}"])
    return number, gone


def issue(file: Path, reporter: int) -> str:
    """The line that the host gets: its own key, of the site's newest."""
    if not 1 <= reporter < 1 << 32:
        raise Refused(f"reporter {reporter}: use a number from 1 to {(1 << 32) - 1}, another for each host")
    number, site = [(words[1], words[2]) for words in _words(file) if words[0] == "key"][-1]
    return f"host {number} {reporter} {derive(bytes.fromhex(site), reporter).hex()}"


def deny(file: Path, reporter: int) -> None:
    if ["deny", str(reporter)] not in _words(file):
        _write(file, [*_lines(file), f"deny {reporter}"])


def listed(file: Path) -> list[str]:
    """Contents of the file, without the keys themselves."""
    return [" ".join(words[:2]) for words in _words(file)]


def _words(file: Path) -> list[list[str]]:
    return [line.split() for line in _lines(file) if line.split()]


def _lines(file: Path) -> list[str]:
    try:
        lines = [line.partition("#")[0].strip() for line in file.read_text().splitlines()]
    except OSError as error:
        raise Refused(f"{file}: {error.strerror}: make one by downbeat gateway keys new {file}") from None
    except UnicodeDecodeError:
        raise Refused(f"{file}: no key file, which is text: make one by downbeat gateway keys new") from None
    for number, line in enumerate(lines, 1):
        words = line.split()
        if words and not LINE.fullmatch(" ".join(words)):
            raise Refused(f"{file}:{number}: use 'key ID 64-HEX-DIGITS' or 'deny REPORTER'")
    if not any(line.startswith("key ") for line in lines):
        raise Refused(f"{file}: no key: make one by downbeat gateway keys new")
    return [line for line in lines if line]


def _write(file: Path, lines: list[str]) -> None:
    fresh = file.with_name(f"{file.name}.new")
    if not file.parent.is_dir():
        raise Refused(f"{file}: no directory {file.parent}: make it first (mkdir -p {file.parent})")
    try:
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    except OSError as error:
        raise Refused(f"{fresh} cannot be written: {error.strerror}") from None
    with os.fdopen(descriptor, "w") as stream:
        stream.write("".join(f"{line}\n" for line in lines))
    if file.exists():  # who may read it stays: the gateway's group
        before = file.stat()
        os.chown(fresh, before.st_uid, before.st_gid)
        fresh.chmod(before.st_mode & 0o777)
    fresh.replace(file)
