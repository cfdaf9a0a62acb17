# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Each row of a block is a published value or a plot of its own, and a wrong row is named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from downbeat_toe.refused import Refused

from sim.experiments.engine.schema import rows
from sim.experiments.engine.schema.checks import Policies
from sim.experiments.engine.schema.load import load

Tiny = Callable[..., Path]
BLOCK = """
[[published]]
figure = "2"
metric = "throughput"
of = { rate = "4 Mb/s" }
tolerance = "10 %"
rows = [
  { quantity = "all",      value = 3.9 },
  { quantity = "of a",     value = 2,    label = "a",          tolerance = 0.1 },
  { quantity = "doubling", value = 1,    over.rate = "2 Mb/s",    tolerance = "5 %", full = true },
]
"""


def test_a_row_has_its_blocks_keys_and_its_own() -> None:
    block: dict[str, Any] = {"figure": "2", "tolerance": 1, "of": {"a": "1"}}
    own: list[dict[str, Any]] = [
        {"quantity": "x"},
        {"quantity": "y", "tolerance": 2, "of": {"b": "2"}, "over": {"a": "2"}},
    ]
    read = rows.read("published", [block, {**block, "rows": own}], full=True)
    assert [row.keys for row in read] == [block, block | own[0], block | own[1] | {"of": {"a": "1", "b": "2"}}]
    assert [row.place for row in read] == ["published.1", "published.2.rows.1", "published.2.rows.2"]


def test_rows_of_the_full_form_alone_are_left_out_of_the_quick_one() -> None:
    own = [{"quantity": "x"}, {"quantity": "y", "full": True}]
    assert [row.number for row in rows.read("published", [{"rows": own}], full=False)] == [1]
    assert not rows.read("published", [{"full": True, "rows": own[:1]}], full=False)


def test_rows_are_published_values_in_the_files_order(tiny: Tiny, policies: Policies) -> None:
    published = load(tiny(more=BLOCK), policies, True).experiment.published
    assert [each.quantity for each in published[1:]] == ["all", "of a", "doubling"]
    assert [each.tolerance for each in published[1:]] == ["10 %", 0.1, "5 %"]
    assert all(each.of == {"rate": "4 Mb/s"} for each in published) and published[3].over == {"rate": "2 Mb/s"}


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("value = 3.9", "valu = 3.9", "published.2.rows.1.valu: no such key; do you mean value?"),
        ("value = 3.9", "value = 'x'", "published.2.rows.1.value: Input should be a valid number"),
        ("value = 3.9", "between = [1, 2]", "published.2.rows.1: value and tolerance go together"),
        ('quantity = "all", ', "", "published.2.rows.1.quantity: missing"),
        ('metric = "throughput"', 'metric = "speed"', "published.2.metric: Input should be 'packets_at'"),
        ("rows =", "row =", "published.2.row: no such key; do you mean rows?"),
        ('over.rate = "2', 'over.rate = "3', "published.2.rows.3: axis rate has no '3 Mb/s'"),
        ('label = "a"', 'label = "b"', "'of a': no flow has the label 'b'"),
        ('quantity = "all",', 'quantity = "all", explained = "$notes.why",', "$notes.why: no such axis"),
    ],
)
def test_a_wrong_row_is_named(old: str, new: str, says: str, tiny: Tiny, policies: Policies) -> None:
    assert old in BLOCK
    path = tiny(more=BLOCK.replace(old, new))
    with pytest.raises(Refused) as refused:
        load(path, policies, full=True)
    assert f"{path}: {says}" in str(refused.value).replace("the file: ", "")
    assert str(refused.value).count("published.2.metric") <= 1, "a block's fault is named once"


@pytest.mark.parametrize("wrong", ["3", "[]", "[3]", '{ quantity = "x" }'])
def test_rows_are_a_list_of_tables(wrong: str, tiny: Tiny, policies: Policies) -> None:
    with pytest.raises(Refused, match=r"tiny\.toml: published\.2\.rows: use a list of tables"):
        load(tiny(more=f'[[published]]\nfigure = "2"\nrows = {wrong}\n'), policies)


def test_rows_share_a_text_by_its_name(tiny: Tiny, policies: Policies) -> None:
    notes = '[notes]\nwhy = "Two flows collide."\n'
    path = tiny(("value = 2\n", 'value = 2\nexplained = "$notes.why"\n'), more=notes)
    assert load(path, policies).experiment.published[0].explained == "Two flows collide."


def test_plots_share_keys_too(tiny: Tiny, policies: Policies) -> None:
    more = '[[plot]]\nx = "rate"\nrows = [{ title = "a", metric = "packets" }, { title = "b", metric = "window" }]\n'
    assert [(each.title, each.x) for each in load(tiny(more=more), policies).experiment.plot] == [
        ("a", "rate"),
        ("b", "rate"),
    ]
    with pytest.raises(Refused, match=r"plot\.1\.rows\.2: no axis 'speed'"):
        load(tiny(more=more.replace('"window" }', '"window", x = "speed" }')), policies)
