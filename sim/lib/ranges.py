# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Range of a quantity on the command line. Its refusal says the range in the units that people write."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from downbeat_toe import quantities

Value = TypeVar("Value", int, float)


@dataclass(frozen=True)
class Range(Generic[Value]):
    """From `minimum` to `maximum`, both included, as `read` reads them."""

    read: Callable[[str], Value]
    minimum: str
    maximum: str

    def value(self, text: str) -> Value:
        """Raises ValueError with what to use instead."""
        try:
            value = self.read(text)
        except ValueError:
            raise ValueError(self.instead) from None
        if not self.read(self.minimum) <= value <= self.read(self.maximum):
            raise ValueError(self.instead)
        return value

    def problem(self, text: str) -> str:
        """Advice for a wrong text; empty when it is right."""
        try:
            self.value(text)
        except ValueError as error:
            return str(error)
        return ""

    @property
    def instead(self) -> str:
        return f"use {self.minimum} to {self.maximum}"


def _whole(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or len(text) > 12:
        raise ValueError(text)
    return int(text)


def whole(minimum: int, maximum: int) -> Range[int]:
    """A decimal whole number."""
    return Range(_whole, str(minimum), str(maximum))


SIZE = Range(quantities.size, "1B", "4GB")
# Quantities of a simulated path.
RATE = Range(quantities.rate, "10kb/s", "1Gb/s")
RTT = Range(quantities.duration, "100us", "10s")
SSTHRESH = Range(quantities.size, "1460B", "1GiB")
INITIAL_WINDOW = whole(1, 255)  # segments
SEED = whole(1, 2**31 - 1)  # nextpnr's limit, the smallest of all programs'
WALL_LIMIT = whole(1, 86_400)  # seconds
