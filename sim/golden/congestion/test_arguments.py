# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Arguments of policies as people write them: units, default values, and refusals that say what to write."""

from __future__ import annotations

from pathlib import Path

import pytest
from downbeat_toe.policies import ArgumentRefused, Field, Policy, find, read

from sim.golden.congestion.startup import paced, pairs
from sim.golden.congestion.steady import aimd, logistic

LAYOUT = Path(__file__).resolve().parents[3] / "build" / "rtl" / "downbeat_layout.json"
POLICIES = read(LAYOUT)


def word(family: str, name: str, text: str) -> int:
    return POLICIES[family][name].argument(text)


def test_texts_say_what_the_golden_models_take() -> None:
    assert word("steady", "aimd", "a=0.5, b=0.25") == aimd.argument(0.5, 0.25)
    assert word("startup", "paced", "n=20,gap=1.5us") == paced.argument(20, 1500)
    assert word("startup", "pairs", "gap=700.5ns, pause=9us, inverted=1") == pairs.argument(700.5, 9000, inverted=True)


def test_what_is_left_out_is_as_usual_and_nothing_is_zero() -> None:
    assert word("steady", "aimd", "a=2") == aimd.argument(2, 0.5)
    assert word("steady", "aimd", "") == word("steady", "reno", "") == 0


def test_a_text_and_back() -> None:
    policy = POLICIES["startup"]["paced"]
    assert policy.argument(policy.text(policy.argument("n=7, gap=1ms"))) == policy.argument("n=7, gap=1ms")


@pytest.mark.parametrize(
    ("family", "name", "text", "words"),
    [
        ("steady", "aimd", "a=0", "a=0 is out of range, aimd takes a from 1.525878906e-05 to 255.9999847, default 1"),
        ("steady", "aimd", "a=256", "a=256 is out of range"),
        ("steady", "aimd", "b=1", "b=1 is out of range"),
        ("steady", "aimd", "a=-1", "a=-1: write a number; a from "),
        ("steady", "aimd", "c=1", "'c=1' is not an argument, aimd takes a from"),
        ("steady", "aimd", "0x10000000000", "0x10000000000 is not an argument"),
        ("steady", "reno", "a=1", "'a=1' is not an argument, reno takes none"),
        ("steady", "reno", "1", "0x1 is not an argument, reno takes none"),
        ("startup", "paced", "n=10, gap=7", "gap=7: write a time with its unit"),
        ("startup", "paced", "gap=7us, n=0", "n=0 is out of range"),
    ],
)
def test_a_refusal_says_what_to_write(family: str, name: str, text: str, words: str) -> None:
    with pytest.raises(ArgumentRefused) as refused:
        word(family, name, text)
    assert words in str(refused.value)


def test_no_such_policy() -> None:
    with pytest.raises(ArgumentRefused, match="no congestion policy 'cubist' in this build, use reno"):
        find(POLICIES["steady"], "cubist")


def test_a_number_that_is_not_to_be_above_another() -> None:
    fields = {name: Field(name, 8 * i, 8, 0, "bytes", 1, 255, 1) for i, name in enumerate(("A", "K"))}
    policy = Policy("steady", "some", 0, 16, True, (("A", "K"),), fields)
    assert policy.argument("A=3, K=4") == 0x0403
    for text, words in (("A=5, K=4", "A is above K"), ("", "needs an argument"), ("A=1, K=0", "K=0 is out of range")):
        with pytest.raises(ArgumentRefused, match=words):
            policy.argument(text)


def test_tenths_are_written_as_they_are() -> None:
    assert word("steady", "logistic", "K=0b/s, A=0b/s, eps=1.95, gamma=0.9") == logistic.argument(1, 0) - (1 << 10)
    assert POLICIES["steady"]["logistic"].text(logistic.argument(1000, 0, 4, 0.5)).endswith("eps=4, gamma=0.5")


def test_rates_are_written_in_bits_and_kept_in_bytes() -> None:
    policy = Policy("steady", "some", 0, 44, False, (), {"K": Field("K", 0, 44, 10, "bytes/s", 1, (1 << 44) - 1, 0)})
    assert policy.argument("K=20Mb/s") == 2_500_000 << 10
    assert policy.text(2_500_000 << 10) == "K=20000000 b/s"
    with pytest.raises(ArgumentRefused, match="K=20: write a rate"):
        policy.argument("K=20")
