# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Contents to send where the user gives no file."""

from __future__ import annotations

import random

BLOCK = 1 << 20  # bytes, a multiple of a draw's four: blocks join to the same bytes as one long draw


def generated(seed: str, size: int) -> bytes:
    """`size` bytes that the seed decides. A text seed is spread over the whole state; small numbers are not.

    They are drawn in blocks, as Python draws less than 256 MiB at once.
    """
    draw = random.Random(seed)
    return b"".join(draw.randbytes(min(BLOCK, size - begin)) for begin in range(0, size, BLOCK))
