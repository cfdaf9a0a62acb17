# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make bench NAME=latency` in small: what no correct core can be faster than, and that a load is what it is called."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from sim.bench.latency import widths
from sim.bench.latency.cases import BYTE_NS, HEADERS, MEASURES, BenchFailed, Case, run, spread
from sim.lib import build

SEED = int(os.environ.get("SEED") or 1)
FCS, BEAT = 4, 8  # bytes
MAX_CLOCKS = {"receive": 140, "send": 170, "turn": 178}  # 64 bytes of payload, the core alone

pytestmark = pytest.mark.soak  # a core with its MAC for these alone, which takes two minutes to be compiled


def measured(measure: str, payload: int, flows: int, load: str, samples: int = 40) -> dict[str, Any]:
    return run(Case(measure, payload, flows, load, samples), SEED, build.latency() / "latency_bench")


@pytest.mark.parametrize("payload", [64, 1460])
def test_no_byte_is_delivered_before_its_frame_is_known_to_be_right(payload: int) -> None:
    """The FCS is the last of the frame, and the far end's clock is 50 ppm fast."""
    wire_ns = BYTE_NS * (HEADERS + payload + FCS) * (1 - 50e-6)
    assert measured("receive", payload, 1, "idle")["ns"]["min"] > wire_ns


@pytest.mark.parametrize("payload", [64, 1460])
def test_no_segment_leaves_before_its_last_byte_is_there(payload: int) -> None:
    """The checksum over the payload stands in front of it (RFC 9293 3.1)."""
    assert measured("send", payload, 1, "idle")["ns"]["min"] > (payload // BEAT) * 8


def test_an_ack_lets_data_go_only_when_its_fcs_has_come() -> None:
    assert measured("turn", 1460, 1, "idle")["ns"]["min"] > BYTE_NS * (60 + FCS) * (1 - 50e-6)


@pytest.mark.parametrize("measure", MEASURES)
def test_a_load_is_what_it_is_called(measure: str) -> None:
    """A full wire has no space between frames; behind the first few, of a wire half full half is used."""
    idle, half, full = (measured(measure, 1460, 8, load)["wire_share"] for load in ("idle", "half", "full"))
    assert idle < half < full
    assert idle < 0.4
    assert 0.4 < half < 0.65
    assert full > 0.9


def test_percentiles_are_values_that_were_there() -> None:
    assert spread([4.0, 1.0, 3.0, 2.0]) == {"min": 1.0, "median": 2.0, "p99": 4.0, "max": 4.0}


def test_the_core_alone_takes_longer_than_its_beats_of_a_frame_and_no_longer_than_it_did() -> None:
    beats = -(-(HEADERS + 64) // BEAT)
    clocks = widths.measure(BEAT)
    assert all(beats < clocks[name] <= limit for name, limit in MAX_CLOCKS.items()), clocks


def test_a_bench_that_fails_is_reported(tmp_path: Path) -> None:
    program = tmp_path / "latency_bench"
    program.write_text("#!/bin/sh\necho the core reset a connection >&2\nexit 2\n")
    program.chmod(0o755)
    with pytest.raises(BenchFailed, match=r"receive 64 1 idle .*: the core reset a connection"):
        run(Case("receive", 64, 1, "idle", 1), SEED, program)
