# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The binding's dataclasses have the members of the structures of the list."""

from __future__ import annotations

from ctypes import Structure
from dataclasses import fields

import pytest
from downbeat_toe.estimator import PrefixState, Report, Request, Start
from downbeat_toe.estimator.structures import CPrefix, CRequest, CStart
from downbeat_toe.structures import PathReport

CORE = {"flow", "generation", "closed"}  # a core's own name of a connection, and its last report


@pytest.mark.parametrize(("shown", "raw"), [(Request, CRequest), (Start, CStart), (PrefixState, CPrefix)])
def test_a_dataclass_has_each_member(shown: type, raw: type[Structure]) -> None:
    assert {each.name for each in fields(shown)} == {name for name, *_ in raw._fields_} - {"reserved"}


def test_a_report_has_each_member_and_its_connection() -> None:
    members = {name for name, *_ in PathReport._fields_} - CORE
    assert {each.name for each in fields(Report)} == members | {"connection", "remote"}
