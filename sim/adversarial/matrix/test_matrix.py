# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A small part of the matrix, and the harness itself: what it draws, that it is the same again, and that it judges."""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from downbeat_toe import quantities

from sim.adversarial.matrix import linux, network
from sim.adversarial.matrix.cells import Axes, Cell, covering, every
from sim.adversarial.matrix.report import story
from sim.lib import build

SEED = int(os.environ.get("SEED", "1"))
WALL_LIMIT = 300
CELLS = 8
HARD = Cell("receiver", 0.05, 0.1, 0.05, 0.01, SEED, "")


def run(cells: Sequence[Cell], work: Path, size: int | None = None) -> list[dict[str, Any]]:
    program = build.matrix() / "downbeat_matrix"
    results, _ = network.run(program, cells, network.Wanted(size, jobs=1, wall_limit=WALL_LIMIT), work, lambda: None)
    return results


@pytest.mark.parametrize("role", Axes().role)
def test_transfers_over_bad_paths_are_byte_exact_and_never_idle(tmp_path: Path, role: str) -> None:
    results = run(covering(every(Axes(role=(role,), seed=(SEED,))), CELLS), tmp_path)
    failed = [result for result in results if result["failures"]]
    assert not failed, "\n".join(map(story, failed))
    assert all(result["sha256_equal"] and result["bytes"] >= 256_000 for result in results)
    assert len({result["loss"] for result in results}) == len(Axes().loss)
    assert max(result["longest_idle_rto"] for result in results) > 0.9, (
        "no timer ever expired: that is not what was to be seen"
    )


@pytest.mark.parametrize("role", Axes().role)
def test_the_path_does_what_its_shares_say_both_ways(tmp_path: Path, role: str) -> None:
    (result,) = run([replace(HARD, role=role)], tmp_path, 300_000)
    for way in ("to_core", "from_core"):
        frames = result["frames"][way]
        copies = frames["frames"] + frames["duplicated"]
        # Five standard deviations: what a draw gives once in a million.
        for name, share, of in (
            ("dropped", HARD.loss, copies),
            ("reordered", HARD.reorder, copies),
            ("duplicated", HARD.dup, frames["frames"]),
            ("corrupted", HARD.corrupt, copies),
        ):
            assert abs(frames[name] - share * of) <= 5 * (share * of) ** 0.5, (way, name, frames)
    refused = sum(count for name, count in result["counters"].items() if name.startswith("receive_"))
    assert refused == result["frames"]["to_core"]["corrupted"], "the core refuses each damaged frame and no other"


def test_a_cell_alone_is_the_same_as_after_others(tmp_path: Path) -> None:
    def figures(result: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in result.items() if name != "wall_seconds"}

    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    among = run([replace(HARD, role="sender"), HARD], first, 100_000)[1]
    (alone,) = run([HARD], second, 100_000)
    assert figures(among) == figures(alone)
    assert figures(alone) != figures(run([replace(HARD, seed=SEED + 1)], _sub(second), 100_000)[0])


def _sub(path: Path) -> Path:
    (path / "other").mkdir()
    return path / "other"


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"failure": "no progress"}, "no progress"),
        ({"idle_beyond_rto_seconds": 0.002}, "with data outstanding"),
        ({"longest_answer_seconds": 0.6}, "for an acknowledgment"),
        ({"wrong_checksums": 1}, "wrong checksums"),
        ({"late_arrivals": 1}, "the harness is wrong"),
    ],
)
def test_a_failure_names_the_line_that_replays_it(changed: dict[str, Any], words: str) -> None:
    said = {"failure": "", "longest_idle_seconds": 1.002, "longest_idle_at": 2.0, "longest_idle_rto": 1.002}
    cell = replace(HARD, role="sender")
    assert not network.judged(cell, b"abc", b"abc", said, None)["failures"]
    result = network.judged(cell, b"abc", b"abc", said | changed, 3)
    assert words in result["failures"][0]
    again = f"make matrix ROLE=sender LOSS=0.05 REORDER=0.1 DUP=0.05 CORRUPT=0.01 SEED={SEED} SIZE=3"
    assert again in story(result)
    assert "first at byte 1 of 3" in network.judged(cell, b"abc", b"adc", said, None)["failures"][0]


def test_the_line_that_replays_a_cell_makes_the_same_cell() -> None:
    for cell in every(Axes()):
        words = dict(word.split("=") for word in cell.command(None).split()[2:])
        loss, reorder, dup, corrupt = (
            quantities.probability(words[name]) for name in ("LOSS", "REORDER", "DUP", "CORRUPT")
        )
        assert str(Cell(words["ROLE"], loss, reorder, dup, corrupt, int(words["SEED"]), "")) == str(cell)


def test_twenty_cells_hold_every_pair_of_values_of_the_linux_axes() -> None:
    axes = Axes(seed=(1,), congestion=linux.CONGESTION_CONTROLS)
    chosen = covering(every(axes), linux.CELLS)
    assert len(set(chosen)) == linux.CELLS

    def pairs(cells: Sequence[Cell]) -> set[object]:
        return {pair for cell in cells for pair in itertools.combinations(vars(cell).items(), 2)}

    missing = pairs(every(axes)) - pairs(chosen)
    assert not missing
