# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The help texts of all commands and their options."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
from downbeat_toe.__main__ import app
from typer.testing import CliRunner


def _texts(command: Any, name: str) -> Iterator[tuple[str, str]]:
    yield name, command.help or ""
    for parameter in command.params:
        yield f"{name} {parameter.name}", getattr(parameter, "help", None) or ""
    for word, each in getattr(command, "commands", {}).items():
        yield from _texts(each, f"{name} {word}")


TEXTS = dict(_texts(typer.main.get_command(app), "downbeat"))


def test_the_version_is_the_projects() -> None:
    version = tomllib.loads((Path(__file__).resolve().parents[2] / "pyproject.toml").read_text())["project"]["version"]
    assert CliRunner().invoke(app, ["--version"]).output == f"downbeat {version}\n"


@pytest.mark.parametrize("word", ["looks?", "begin"])
def test_help_says_refresh_and_start(word: str) -> None:
    assert TEXTS["downbeat top every"] == "time between refreshes"
    assert not {name for name, text in TEXTS.items() if re.search(rf"\b{word}\b", text)}
