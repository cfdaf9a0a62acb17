# SPDX-License-Identifier: BSD-2-Clause-Patent
"""One module at each width of its beats: `@each_width` above a test that takes `width`, and `run_width` in it."""

from __future__ import annotations

from typing import Any

import pytest

from cocotb_tests.bench.runner import run_module


def _widths(*quick: int, soak: tuple[int, ...] = ()) -> pytest.MarkDecorator:
    """Bytes of a beat (`beatBytes`)."""
    slow = [pytest.param(width, marks=pytest.mark.soak) for width in soak]
    return pytest.mark.parametrize("width", [*quick, *slow])


each_width = _widths(8, 64, soak=(16, 32))
# For the whole core; `make test PRESET=default,beatBytes=32` runs it at another width.
end_widths = _widths(8, 64)
# For tests of what the width does not change.
end_widths_in_soak = _widths(8, soak=(64,))


def run_width(module: str, test_module: str, width: int, **options: Any) -> None:
    """`run_module` with the build of `module` that has beats of `width` bytes; wider ones than 8 have a label."""
    wide = "" if width == 8 else str(width)
    label = "-".join(filter(None, (options.pop("label", ""), wide and f"{wide}bytes")))
    run_module(module + wide, test_module, label=label, **options)
