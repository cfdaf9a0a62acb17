# SPDX-License-Identifier: BSD-2-Clause-Patent
"""SipHash-2-4 (Aumasson and Bernstein, 2012) with 64 bits of output."""

from __future__ import annotations

MASK = (1 << 64) - 1


def _rotate(word: int, bits: int) -> int:
    return (word << bits | word >> (64 - bits)) & MASK


def _round(v: list[int]) -> None:
    for a, b, first in ((0, 1, 13), (2, 3, 16)):
        v[a] = (v[a] + v[b]) & MASK
        v[b] = _rotate(v[b], first) ^ v[a]
    v[0] = _rotate(v[0], 32)
    for a, b, second in ((2, 1, 17), (0, 3, 21)):
        v[a] = (v[a] + v[b]) & MASK
        v[b] = _rotate(v[b], second) ^ v[a]
    v[2] = _rotate(v[2], 32)


def siphash(key: int, message: bytes) -> int:
    """`key` is 128 bits, its first byte the least significant."""
    halves = key & MASK, key >> 64
    constants = 0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573
    v = [constant ^ halves[index % 2] for index, constant in enumerate(constants)]
    padded = message + bytes(7 - len(message) % 8) + bytes([len(message) & 0xFF])
    for at in range(0, len(padded), 8):
        word = int.from_bytes(padded[at : at + 8], "little")
        v[3] ^= word
        for _ in range(2):
            _round(v)
        v[0] ^= word
    v[2] ^= 0xFF
    for _ in range(4):
        _round(v)
    return v[0] ^ v[1] ^ v[2] ^ v[3]
