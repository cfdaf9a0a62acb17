# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Outputs of commands: a mistyped place is refused, and what sudo wrote belongs to who called it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from downbeat_toe import output
from downbeat_toe.refused import Refused


def test_the_usual_place_is_made_and_a_mistyped_one_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    output.require_directory(output.REPORTS)
    assert output.REPORTS.is_dir()
    output.require_directory(Path("new"))
    assert Path("new").is_dir()
    with pytest.raises(Refused, match="no directory typo"):
        output.require_directory(Path("typo/reports"))
    assert not Path("typo").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_what_sudo_wrote_is_the_caller_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.json").write_text("{}")
    monkeypatch.setenv("SUDO_UID", "1234")
    monkeypatch.setenv("SUDO_GID", "2345")
    output.give_back(tmp_path / "x.json")
    output.require_directory(tmp_path / "reports")
    for path in (tmp_path / "x.json", tmp_path / "reports"):
        assert (path.stat().st_uid, path.stat().st_gid) == (1234, 2345)
