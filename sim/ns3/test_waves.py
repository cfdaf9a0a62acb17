# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The committed views name signals that exist, and `make waves` explains what is missing."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from sim.lib import build, verilated
from sim.ns3.__main__ import growth

VIEWS = build.ROOT / "sim" / "lib" / "waves"


@pytest.mark.parametrize(
    ("view", "pattern"),
    [("downbeat.gtkw", r"^TOP\.(\w+)\.(\w+)"), ("downbeat.sucl", r"^variable_add TOP\.(\w+)\.(\w+)")],
)
def test_views_name_signals_of_the_core(view: str, pattern: str) -> None:
    verilog = verilated.verilog().read_text()
    top = verilog[verilog.index(f"module {verilated.TAPS[verilated.TAP]} (") :]
    named = re.findall(pattern, (VIEWS / view).read_text(), re.MULTILINE)
    assert len(named) > 40
    assert {scope for scope, _ in named} == {verilated.TAPS[verilated.TAP]}
    missing = [name for _, name in named if not re.search(rf"\b{name}\b", top)]
    assert not missing, f"{view} names signals that are gone: {missing}"


def test_the_view_of_gtkwave_has_the_widths_of_the_core() -> None:
    """GTKWave leaves out a signal whose width is another."""
    verilog = verilated.verilog().read_text()
    top = verilog[verilog.index(f"module {verilated.TAPS[verilated.TAP]} (") :]
    named = re.findall(r"^TOP\.\w+\.(\w+)(\[\d+:0\])?$", (VIEWS / "downbeat.gtkw").read_text(), re.MULTILINE)
    assert len(named) > 40
    wrong = [
        f"{name}{width}"
        for name, width in named
        if not re.search(rf"\b(?:wire|reg) +{re.escape(width)} *{name}\b", top)
    ]
    assert not wrong, f"downbeat.gtkw has other widths than the Verilog: {wrong}"


def test_waves_says_what_to_do(tmp_path: Path) -> None:
    """Without a viewer on PATH, or without waves: a way on, and a failure."""
    for tool in ("bash", "dirname", "cat"):
        (tmp_path / tool).symlink_to(str(shutil.which(tool)))
    command = ["scripts/waves.sh"]
    done = subprocess.run(
        command, cwd=build.ROOT, env={"PATH": str(tmp_path)}, text=True, capture_output=True, check=False
    )
    assert done.returncode == 1
    assert "make sim WAVES=1" in done.stderr or "apt-get install -y gtkwave" in done.stderr


def test_a_run_says_how_large_its_waves_will_be(tmp_path: Path) -> None:
    waves = tmp_path / "sim.fst"
    assert growth(waves, 1000, 4000) == "" and growth(None, 1000, 4000) == ""
    waves.write_bytes(bytes(2_500_000))
    assert growth(waves, 0, 4000) == ""
    assert growth(waves, 1000, 4000) == "; waves 2.5 MB, about 10 MB at the end"
