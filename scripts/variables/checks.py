# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Kinds of values. A check takes a variable's text and says what to use instead; empty when the text is right."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable
from pathlib import Path

from downbeat_toe import quantities

from sim.lib import ranges
from sim.ns3.settings import LARGEST_BUFFER

Check = Callable[[str], str]

LISTED = 50  # names that a refusal lists; of a longer list it names the nearest


def whole(minimum: int, maximum: int) -> Check:
    """A decimal whole number."""
    numbers = ranges.whole(minimum, maximum)
    return lambda text: "" if not numbers.problem(text) else f"use a whole number from {minimum} to {maximum}"


def power_of_two(minimum: int, maximum: int) -> Check:
    powers = [1 << bits for bits in range(maximum.bit_length()) if minimum <= 1 << bits]
    return lambda text: "" if text in map(str, powers) else f"use a power of two, {minimum} to {maximum}"


def seconds(maximum: int, minimum: Callable[[], int] = lambda: 0) -> Check:
    """A positive decimal number, of at least so much."""

    def check(text: str) -> str:
        fits = re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text) and 0 < float(text) <= maximum
        if not fits:
            return f"use seconds, more than 0 and at most {maximum}"
        return "" if float(text) >= minimum() else f"too short to measure anything; use {minimum()} seconds or more"

    return check


def within(quantity: ranges.Range[int], what: str, example: str) -> Check:
    """A quantity with its unit."""

    def check(text: str) -> str:
        if not quantity.problem(text):
            return ""
        return f"use {what} from {quantity.minimum} to {quantity.maximum}, as {example}"

    return check


def share(text: str) -> str:
    """A probability, without 1."""
    try:
        quantities.probability(text)
    except ValueError:
        return "use a share from 0 up to, but without, 1, as 0.02 or 2%"
    return ""


def buffer(text: str) -> str:
    """A queue's size. The program knows the path, and so what a multiple of the bandwidth-delay product is."""
    try:
        queue = quantities.buffer(text, product=1)
    except ValueError:
        queue = quantities.Buffer(bytes=LARGEST_BUFFER + 1)
    fits = max(queue.bytes, queue.packets) <= LARGEST_BUFFER
    return "" if fits else "use a size up to 4GB, as 1BDP, 100kB or 50packets"


def argument(text: str) -> str:
    """The form alone: the policy itself says which names and numbers it takes."""
    pair = r"\s*\w+\s*=\s*[^=,]+"
    fits = re.fullmatch(rf"0x[0-9a-fA-F]{{1,32}}|{pair}(,{pair})*,?\s*", text)
    return "" if fits else "use NAME=VALUE, as a=0.5, b=0.3, or bits, as 0x1"


def switch(text: str) -> str:
    return "" if text in ("0", "1") else "use 0 or 1"


def among(names: Callable[[], Iterable[str]], several: str = "") -> Check:
    """One of the names, or several with that separator between them."""

    def check(text: str) -> str:
        known = list(names())
        words = [word.strip() for word in text.split(several)] if several else [text]
        wrong = [word for word in words if word not in known]
        if not wrong:
            return ""
        near = difflib.get_close_matches(wrong[0], known) if len(known) > LISTED else []
        return f"there is no {wrong[0]}; nearest: {', '.join(near)}" if near else f"use {', '.join(known)}"

    return check


def readable(text: str) -> str:
    """A file with something in it."""
    path = Path(text)
    if path.is_dir():
        return "this is a directory, use a file"
    if not path.is_file():
        return "no such file"
    size = path.stat().st_size
    if size == 0:
        return "the file is empty"
    return "" if size <= ranges.SIZE.value(ranges.SIZE.maximum) else f"the file is larger than {ranges.SIZE.maximum}"


def schedule(text: str) -> str:
    instead = readable(text)
    return f"{instead}; downbeat schedule writes one" if instead else ""


def capture(text: str) -> str:
    """A capture that is to be written."""
    path = Path(text)
    if path.suffix not in (".pcap", ".pcapng"):
        return "use a file's name that ends in .pcapng"
    return _parent(path)


def _parent(path: Path) -> str:
    return "" if path.parent.is_dir() else f"no such directory: {path.parent}"


def directory(text: str) -> str:
    return "" if Path(text).is_dir() else "no such directory"


def new_directory(text: str) -> str:
    """A directory that is made where there is none."""
    path = Path(text)
    if path.is_dir():
        return ""
    return "this is a file, use a directory" if path.exists() else _parent(path)


def policy_name(text: str) -> str:
    return "" if re.fullmatch("[a-z][a-z0-9]{0,31}", text) else "use lower-case letters and digits, a letter first"
