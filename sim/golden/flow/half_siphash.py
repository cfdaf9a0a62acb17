# SPDX-License-Identifier: BSD-2-Clause-Patent
"""HalfSipHash (Aumasson and Bernstein): SipHash on 32-bit words with a 64-bit key."""

from __future__ import annotations

from dataclasses import dataclass

MASK = 0xFFFFFFFF


def _rotate(word: int, bits: int) -> int:
    return (word << bits | word >> (32 - bits)) & MASK


def _round(v: list[int]) -> None:
    v[0] = (v[0] + v[1]) & MASK
    v[1] = _rotate(v[1], 5) ^ v[0]
    v[0] = _rotate(v[0], 16)
    v[2] = (v[2] + v[3]) & MASK
    v[3] = _rotate(v[3], 8) ^ v[2]
    v[0] = (v[0] + v[3]) & MASK
    v[3] = _rotate(v[3], 7) ^ v[0]
    v[2] = (v[2] + v[1]) & MASK
    v[1] = _rotate(v[1], 13) ^ v[2]
    v[2] = _rotate(v[2], 16)


def state(key: int, message: bytes, *, rounds: int, final_rounds: int) -> list[int]:
    """The four words after the last round; `key` is 64 bits, its first byte the least significant."""
    k0, k1 = key & MASK, key >> 32
    v = [k0, k1, 0x6C796765 ^ k0, 0x74656462 ^ k1]
    padded = message + bytes(3 - len(message) % 4) + bytes([len(message) & 0xFF])
    for at in range(0, len(padded), 4):
        word = int.from_bytes(padded[at : at + 4], "little")
        v[3] ^= word
        for _ in range(rounds):
            _round(v)
        v[0] ^= word
    v[2] ^= 0xFF
    for _ in range(final_rounds):
        _round(v)
    return v


@dataclass(frozen=True)
class TupleHash:
    """The hash of a 4-tuple in the flow lookup: two words of HalfSipHash-1-3's last state."""

    first: int
    second: int


def tuple_hash(key: int, remote_ip: int, remote_port: int, local_port: int, *vlan: int) -> TupleHash:
    message = remote_ip.to_bytes(4, "little") + local_port.to_bytes(2, "little") + remote_port.to_bytes(2, "little")
    v = state(key, message + bytes(vlan), rounds=1, final_rounds=3)
    return TupleHash(first=v[0], second=v[2])
