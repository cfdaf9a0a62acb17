# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Hsiao's code: one flip of a codeword is corrected, two are detected."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import cocotb
import pytest
from cocotb.triggers import Timer

from cocotb_tests.bench import generator
from cocotb_tests.bench.runner import run_module
from sim.golden.secded import Decoded, Secded

MODULES = ("SecdedNarrow", "SecdedWide")
PAIRS = 2000


@pytest.mark.parametrize("width", [1, 2, 11, 57, 130])
def test_each_single_flip_is_corrected_and_each_double_one_detected(width: int) -> None:
    code = Secded(width)
    word = generator().getrandbits(width)
    codeword = code.encode(word)
    bits = range(width + code.check_bits)
    assert code.decode(codeword) == Decoded(word, corrected=False, uncorrectable=False)
    for bit in bits:
        read = code.decode(codeword ^ 1 << bit)
        assert (read.word, read.corrected, read.uncorrectable) == (word, True, False), bit
    for one, other in combinations(bits, 2):
        read = code.decode(codeword ^ 1 << one ^ 1 << other)
        assert (read.corrected, read.uncorrectable) == (False, True), (one, other)


def test_no_two_columns_are_alike_and_all_are_odd() -> None:
    """So the sum of two is even and not zero: each pair of flips is detected at each width up to that of the columns."""
    columns = Secded(1013).columns
    assert len(set(columns)) == len(columns) and all(column.bit_count() % 2 for column in columns)


@pytest.mark.parametrize("module", MODULES)
def test_secded(module: str) -> None:
    run_module(module, __name__, label=module)


@cocotb.test()
async def rtl_and_model_agree(dut: Any) -> None:
    """The code is linear: words of one bit say what all words are. All single flips, and pairs."""
    code = Secded(len(dut.word))
    length = code.width + code.check_bits
    draw = generator()
    pairs = list(combinations(range(length), 2))
    flips = [0, *(1 << bit for bit in range(length))]
    flips += [1 << one | 1 << other for one, other in draw.sample(pairs, min(PAIRS, len(pairs)))]
    cases = [(word, 0) for word in (0, *(1 << bit for bit in range(code.width)))]
    cases += [(draw.getrandbits(code.width), flip) for flip in flips]
    for word, flip in cases:
        dut.word.value, dut.flips.value = word, flip
        await Timer(1, "ns")
        codeword = code.encode(word)
        read = code.decode(codeword ^ flip)
        assert int(dut.check.value) == codeword >> code.width
        assert (int(dut.read.value), bool(dut.corrected.value), bool(dut.uncorrectable.value)) == (
            (read.word, read.corrected, read.uncorrectable)
        ), (hex(word), hex(flip))
