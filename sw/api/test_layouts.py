# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Each ctypes structure has the size, the offsets and the sizes of members that the compiler gives the C structure."""

from __future__ import annotations

from ctypes import Structure
from pathlib import Path

import pytest
from downbeat_toe import library
from downbeat_toe.driver import structures as driver
from downbeat_toe.estimator import structures as estimator

from sw.api.layouts import of_compiler, of_ctypes

STRUCTURES: dict[str, dict[str, type[Structure]]] = {
    "downbeat_sim_core.h": {
        "downbeat_event": library.Event,
        "downbeat_start_values": library.StartValues,
        "downbeat_parameters": library.Parameters,
        "downbeat_sim_options": library.Options,
        "downbeat_sim_info": library.Info,
        "downbeat_flow_report": library.FlowReport,
        "downbeat_sim_counters": library.Counters,
    },
    "downbeat.h": {
        "downbeat_options": driver.Options,
        "downbeat_item": driver.CItem,
        "downbeat_span": driver.Span,
        "downbeat_device_info": driver.DeviceInfo,
        "downbeat_estimate": driver.Estimate,
        "downbeat_connection_info_t": driver.ConnectionInfo,
        "downbeat_statistics": driver.Statistics,
    },
    "downbeat_estimator.h": {
        "downbeat_address": estimator.CAddress,
        "downbeat_estimator_options": estimator.COptions,
        "downbeat_path_report": estimator.CReport,
        "downbeat_question": estimator.CQuestion,
        "downbeat_host_start": estimator.CStart,
        "downbeat_prefix_state": estimator.CPrefix,
    },
}


@pytest.mark.parametrize("header", STRUCTURES)
def test_ctypes_has_the_layout_of_the_compiler(header: str, tmp_path: Path) -> None:
    compiled = of_compiler(header, STRUCTURES[header], tmp_path)
    assert {name: of_ctypes(structure) for name, structure in STRUCTURES[header].items()} == compiled


def test_a_member_that_was_moved_by_hand_is_refused(tmp_path: Path) -> None:
    first, second, *rest = library.Info._fields_

    class Moved(Structure):
        _fields_ = (first, *rest, second)

    compiled = of_compiler("downbeat_sim_core.h", {"downbeat_sim_info": Moved}, tmp_path)
    assert of_ctypes(Moved) != compiled["downbeat_sim_info"]
