# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Rates, times and sizes as people write them: `20Mbps`, `20 Mb/s`, `40 ms`, `64KiB`, `1 BDP`, `50 packets`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

DECIMAL = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9}
BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30}
NANOSECONDS = {"ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6, "s": 10**9}
NUMBER = r"(\d+(?:\.\d*)?|\.\d+)"


@dataclass(frozen=True)
class Buffer:
    """A drop-tail buffer: bytes or packets, whichever is not zero; neither: one bandwidth-delay product."""

    bytes: int = 0
    packets: int = 0


def rate(text: str) -> int:
    """Bits per second; `50Mbit` and `50mbit` are tc's and iperf's way."""
    found = re.fullmatch(rf"{NUMBER}\s*([kKMG]?)(?:b/s|bps|bits?/s|bits?)?", text.strip())
    found = found or re.fullmatch(rf"{NUMBER}\s*([kmg])bits?(?:/s)?", text.strip())
    if found is None:
        raise ValueError(f"'{text}' is not a rate: write 20Mbps, 20 Mb/s, 20Mbit or 20000000")
    unit = found[2].upper() if found[2] in ("m", "g") else found[2]
    return _positive(Decimal(found[1]) * DECIMAL[unit], text)


def duration(text: str) -> int:
    """Nanoseconds."""
    found = re.fullmatch(rf"{NUMBER}\s*(ns|us|µs|ms|s)", text.strip())
    if found is None:
        raise ValueError(f"'{text}' is not a time: write it with its unit, as 40ms or 0.2 s")
    return _positive(Decimal(found[1]) * NANOSECONDS[found[2]], text)


def size(text: str) -> int:
    """Bytes: kB, MB and GB are powers of ten, KiB, MiB and GiB of two."""
    found = re.fullmatch(rf"{NUMBER}\s*(Ki|Mi|Gi|[kKMG]?)(?:B|bytes?)?", text.strip())
    if found is None:
        raise ValueError(f"'{text}' is not a size: write 8MB, 64 KiB or 8000000")
    return _positive(Decimal(found[1]) * (BINARY | DECIMAL)[found[2]], text)


def buffer(text: str, product: int) -> Buffer:
    """A size, a number of packets, or a multiple of the bandwidth-delay product, which is `product` bytes."""
    text = text.strip()
    if found := re.fullmatch(rf"{NUMBER}\s*bdp", text, re.IGNORECASE):
        return Buffer(bytes=_positive(Decimal(found[1]) * product, text))
    if found := re.fullmatch(r"(\d+)\s*(?:p|packets?)", text):
        return Buffer(packets=_positive(Decimal(found[1]), text))
    try:
        return Buffer(bytes=size(text))
    except ValueError:
        raise ValueError(f"'{text}' is not a buffer: write 1BDP, 100kB or 50 packets") from None


def probability(text: str) -> float:
    """A number from 0 up to, but without, 1; `2%` is 0.02."""
    found = re.fullmatch(rf"{NUMBER}\s*(%?)", text.strip())
    value = float(found[1]) / (100 if found[2] else 1) if found else -1.0
    if not 0 <= value < 1:
        raise ValueError(f"'{text}' is not a probability: write 0.02 or 2%")
    return value


def _positive(value: Decimal, text: str) -> int:
    if int(value) < 1:
        raise ValueError(f"'{text}' is less than one: use a positive value")
    return int(value)
