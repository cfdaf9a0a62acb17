# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The golden hash against the published vectors of HalfSipHash-2-4 (key 00 01 ... 07, message 00 01 ... n-1)."""

from __future__ import annotations

import pytest

from sim.golden.flow.half_siphash import state

KEY = int.from_bytes(bytes(range(8)), "little")


@pytest.mark.parametrize(("length", "hashed"), [(0, "a9359f5b"), (1, "27475ab8"), (2, "fa62a603"), (3, "8afee704")])
def test_published_vectors(length: int, hashed: str) -> None:
    v = state(KEY, bytes(range(length)), rounds=2, final_rounds=4)
    assert (v[1] ^ v[3]).to_bytes(4, "little").hex() == hashed
