# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Quantities of an experiment's file. Each is text with its unit; a number alone is refused, zero is a time."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any

from downbeat_toe import quantities
from pydantic import BeforeValidator

MSS = 1460  # bytes of payload in a full segment: ns-3 sends no MSS option, and the simulated core assumes this
PACKET = MSS + 40  # with IPv4 and TCP headers
PPP = PACKET + 2  # bytes on a link of ns-3
WIRE = PACKET + 38  # bytes on the core's Ethernet with preamble and gap
THIRD = "third"

Reader = Callable[[str], Any]


def _read(reader: Reader, example: str) -> BeforeValidator:
    def read(value: object) -> Any:
        if not isinstance(value, str) or value.startswith("$"):
            raise ValueError(f"{value!r}: write it with its unit, as {example!r}")
        if not re.search(r"[a-zA-Z%]", value):
            raise ValueError(f"'{value}' has no unit: write it as {example!r}")
        return reader(value)

    return BeforeValidator(read)


def _time(text: str) -> int:
    return 0 if re.fullmatch(r"0+(\.0*)?\s*(ns|us|µs|ms|s)", text.strip()) else quantities.duration(text)


def _rate(text: str) -> int:
    return 0 if re.fullmatch(r"0+(\.0*)?\s*[kKMG]?(?:b/s|bps)", text.strip()) else quantities.rate(text)


def _segments(text: str) -> int:
    """Bytes of payload: a size, or so many full segments of ours."""
    found = re.fullmatch(r"(\d+)\s*(?:packets?|segments?)", text.strip())
    return int(found[1]) * MSS if found else quantities.size(text)


def _queue(text: str) -> str:
    quantities.buffer(text, product=10**9)
    return text


def _share(text: str) -> float:
    return quantities.probability(text)


def _tolerance(value: object) -> object:
    """A share of the published value as '15 %', a number in its unit, or a third of a ratio's difference from 1."""
    if isinstance(value, str) and value != THIRD:
        found = re.fullmatch(rf"{quantities.NUMBER}\s*%", value.strip())
        if found is None:
            raise ValueError(f"'{value}' is not a tolerance: write '15 %' of the value, or a number in its unit")
    elif value != THIRD and (isinstance(value, bool) or not isinstance(value, int | float) or value < 0):
        raise ValueError(f"{value} is not a tolerance: write '15 %' of the value, or a number in its unit")
    return value


Rate = Annotated[int, _read(quantities.rate, "20 Mb/s")]  # b/s
RateOrNone = Annotated[int, _read(_rate, "20 Mb/s")]  # b/s; 0 b/s: silence
Time = Annotated[int, _read(_time, "40 ms")]  # ns
Size = Annotated[int, _read(quantities.size, "30 kB")]  # bytes
Payload = Annotated[int, _read(_segments, "100 packets")]  # bytes
QueueSize = Annotated[str, _read(_queue, "50 packets")]
Share = Annotated[float, _read(_share, "1 %")]
Tolerance = Annotated[str | float, BeforeValidator(_tolerance)]


def seconds(time: int) -> float:
    return time / 1e9
