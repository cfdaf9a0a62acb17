# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A build with Reno alone (preset `lean`) pays for nothing that other policies need; the default build pays for all of
it."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LEAN = Path("build/lean/rtl")
WINDOWS, RENO_WORD, SPACING = 2 * 48, 32, 56
PRIOR = 2 * 31 + RENO_WORD  # before the last reduction
GROWTH = 1 + 31  # whether it is limited, and the largest flight
OPENING = 8 + 1  # the initial window, and whether the SYN was lost: restarts need them
STAGES = ("protocol", "recovery", "measure", "congestion", "transmit")


@dataclass(frozen=True)
class Build:
    engine: str
    port: str
    command: dict[str, dict[str, int]]

    @classmethod
    def at(cls, place: Path) -> Build:
        layout = json.loads((place / "downbeat_layout.json").read_text())
        engine, port = ((place / f"{module}.v").read_text() for module in ("FlowEngine", "CommandPort"))
        return cls(engine, port, layout["bundles"]["Command"]["fields"])

    def memory_bits(self, stage: str) -> int:
        found = re.findall(rf"reg \[(\d+):0\] {stage}_(?:memory|priors) \[", self.engine)
        return sum(int(high) + 1 for high in found)

    def register_bits(self) -> int:
        return sum(int(width) + 1 for width in re.findall(r"^ +reg +\[(\d+):0\] +\w+;", self.engine, re.MULTILINE))


@pytest.fixture(scope="module")
def lean() -> Build:
    command = ["scripts/rtl.sh", "elaborate", "lean", str(LEAN), "FlowEngine", "CommandPort"]
    subprocess.run(command, cwd=ROOT, check=True)
    return Build.at(ROOT / LEAN)


@pytest.fixture(scope="module")
def full() -> Build:
    return Build.at(ROOT / "build" / "rtl")


def test_the_stages_keep_what_reno_needs(lean: Build, full: Build) -> None:
    """Nothing to choose between, no other policy's policy_state; no probe is ever sent, and nobody compares round
    trips."""
    assert lean.memory_bits("congestion") == WINDOWS + RENO_WORD + SPACING + PRIOR + GROWTH + OPENING
    assert lean.memory_bits("measure") == 0
    for stage in STAGES:
        assert lean.memory_bits(stage) < full.memory_bits(stage), stage
    assert lean.register_bits() < full.register_bits()


def test_a_connection_is_kept_in_212_bytes_with_reno_alone_and_in_332_with_every_policy(
    lean: Build, full: Build
) -> None:
    """The words of the engine's stages; side memories (probe log, gap window, intervals) besides."""
    for build, bytes_ in ((lean, 212), (full, 332)):
        widths = {stage: build.memory_bits(stage) for stage in STAGES}
        assert sum(widths.values()) <= 8 * bytes_, widths


@pytest.mark.parametrize("family", ["startup", "steady"])
def test_there_is_nothing_to_say(lean: Build, full: Build, family: str) -> None:
    """No argument; a policy's number is the same in every build."""
    assert lean.command[f"parameters_{family}Argument"]["width"] == 1
    assert lean.command[f"parameters_{family}"]["width"] == full.command[f"parameters_{family}"]["width"]
    assert full.command[f"parameters_{family}Argument"]["width"] > 1


@pytest.mark.parametrize("what", ["policies_valid", "policies_payload"])
def test_policies_cannot_be_changed(lean: Build, full: Build, what: str) -> None:
    assert what not in lean.engine + lean.port
    assert what in full.engine and what in full.port


def test_nothing_is_calculated_beside_the_engine(lean: Build) -> None:
    assert not re.search(r"^module +\w*(Calculator|ProbeLog)", lean.engine, re.MULTILINE)
    assert "Calculators" not in lean.engine
