# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`downbeat experiment run FILE...`: the papers' experiments, which need the source tree and its simulation."""

from __future__ import annotations

import importlib.util
import os
import sys

import typer

from downbeat_toe.refused import Refused, explained

PROGRAM = "sim.experiments"

app = typer.Typer(no_args_is_help=True, add_completion=False)


@app.callback()
def experiment() -> None:
    """The papers' experiments with the Verilated core in ns-3."""


@app.command(
    "run", context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
)
def run(context: typer.Context) -> None:
    """Runs sim/experiments/papers/*/NAME.toml, or your own files."""
    with explained():
        if not _is_there():
            raise Refused("downbeat experiment needs the source tree: call scripts/tools/downbeat in it")
        if importlib.util.find_spec("pyarrow") is None:
            raise Refused("downbeat experiment needs all Python packages, make sim installs a part: make setup")
    os.execv(sys.executable, [sys.executable, "-m", PROGRAM, "run", *context.args])


def _is_there() -> bool:
    try:
        return importlib.util.find_spec(PROGRAM) is not None
    except ModuleNotFoundError:
        return False
