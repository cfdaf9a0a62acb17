# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Which modules are elaborated for TEST."""

from __future__ import annotations

import subprocess

import pytest

from scripts.check.needs import ROOT, needed


@pytest.mark.parametrize(
    ("test", "modules"),
    [
        ("congestion/steady/test_reno", ["PolicyReno"]),
        (
            "engine/test_flow_engine",
            ["FlowEngine", "FlowEngineCounted", "FlowEngineSpaced", "FlowEngineSpacedInBlockRam"],
        ),
        ("engine/test_handshake", ["FlowEngineCounted", "FlowEngineSpaced"]),
        ("rx/test_receiver", ["Receiver", "Receiver64"]),
        ("registers/test_counter_registers", ["RegisterMap"]),
    ],
)
def test_a_cocotb_test_needs_the_modules_that_it_names(
    monkeypatch: pytest.MonkeyPatch, test: str, modules: list[str]
) -> None:
    monkeypatch.delenv("SOAK", raising=False)
    assert needed(ROOT, test) == modules


def test_a_soak_needs_each_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOAK", "1")
    assert needed(ROOT, "rx/test_receiver") == ["Receiver", "Receiver16", "Receiver32", "Receiver64"]
    assert "Downbeat64" in needed(ROOT, "test_downbeat_close")


@pytest.mark.parametrize(
    "test", ["congestion/test_policies", "lint/test_verilog", "engine", "device/test_device", "nosuch"]
)
def test_unknown_needs_are_all_modules(test: str) -> None:
    found = needed(ROOT, test)
    assert found == [] or test == "engine" and "FlowEngine" in found


def test_make_elaborates_what_the_test_needs() -> None:
    """Also by a make in which $(shell) sees no exported variable."""
    command = ["make", "--dry-run", "--print-data-base", "test", "TEST=rx/test_frame_filter"]
    done = subprocess.run(command, cwd=ROOT, text=True, capture_output=True, check=False)
    assert "\nCHOSEN := Receiver Receiver64\n" in done.stdout
