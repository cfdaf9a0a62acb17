# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Options of a segment as the RFCs read them, in whole numbers, and SACK blocks to try it with."""

from __future__ import annotations

import random
from collections.abc import Sequence

SEND_BUFFER = 1 << 16  # bytes, of the default configuration


def after(one: int, other: int) -> int:
    """Bytes from `other` up to `one`; negative if it is before (RFC 9293 3.4)."""
    return (one - other + (1 << 31)) % (1 << 32) - (1 << 31)


def sack_fields(acknowledgment: int, edges: Sequence[int]) -> dict[str, int]:
    """The segment's SACK fields: the blocks in the send buffer beyond the acknowledgment (RFC 2018 3), and whether the
    first block reports a duplicate (RFC 2883 4)."""
    blocks = list(zip(edges[::2], edges[1::2], strict=True))
    inside: list[tuple[int, int] | None] = []
    for left, right in blocks:
        begin, length = after(left, acknowledgment), after(right, left)
        inside.append((begin, begin + length) if length > 0 and begin > 0 and begin + length <= SEND_BUFFER else None)
    duplicate = False
    if blocks and after(blocks[0][1], blocks[0][0]) > 0:
        duplicate = after(blocks[0][1], acknowledgment) <= 0
    if len(inside) > 1 and inside[0] and inside[1] and inside[1][0] <= inside[0][0] and inside[0][1] <= inside[1][1]:
        inside[0], duplicate = None, True
    fields = {"options_duplicateSack": int(duplicate)}
    for number in range(4):
        block = inside[number] if number < len(inside) else None
        fields[f"options_sack_{number}_valid"] = int(block is not None)
        if block:
            fields[f"options_sack_{number}_left"], fields[f"options_sack_{number}_right"] = block
    return fields


def any_edges(draw: random.Random, acknowledgment: int, blocks: int) -> list[int]:
    """Edges of blocks, most of them good, the others a little or far off, some within another one."""
    near = [-SEND_BUFFER, -1, 0, 1, 2, SEND_BUFFER - 1, SEND_BUFFER, SEND_BUFFER + 1, 1 << 17, 1 << 31, (1 << 31) - 1]
    edges: list[int] = []
    for _ in range(blocks):
        left = draw.choice([draw.randrange(1, SEND_BUFFER), draw.randrange(1, SEND_BUFFER), draw.choice(near)])
        right = draw.choice([left + draw.randrange(1, 3000), draw.randrange(left, left + 70000), draw.choice(near)])
        if edges and draw.random() < 0.4:
            left, right = (
                edges[0] - acknowledgment - draw.randrange(-1, 3),
                edges[1] - acknowledgment + draw.randrange(-1, 3),
            )
        edges += [acknowledgment + left, acknowledgment + right]
    return [edge % (1 << 32) for edge in edges]
