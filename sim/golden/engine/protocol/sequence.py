# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Sequence numbers of TCP: 32 bits, which wrap (RFC 9293 3.4)."""

from __future__ import annotations

MODULUS = 1 << 32


def since(number: int, origin: int) -> int:
    """Bytes from `origin` up to `number`, signed."""
    return (number - origin + MODULUS // 2) % MODULUS - MODULUS // 2
