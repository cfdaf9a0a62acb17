# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`python -m downbeat_toe`: what a researcher asks of records and captures."""

from __future__ import annotations

from typing import Annotated

import typer

from downbeat_toe import experiment_command, schedule_command, trace, version
from downbeat_toe.board import command as board
from downbeat_toe.driver import command as driver
from downbeat_toe.estimator import command as estimate
from downbeat_toe.gap import command as gap
from downbeat_toe.gap import replay
from downbeat_toe.gateway import command as gateway

app = typer.Typer(no_args_is_help=True, add_completion=False)
app.command("trace")(trace.command)
app.add_typer(gap.app, name="gap")
app.command("replay")(replay.command)
app.add_typer(schedule_command.app, name="schedule")
app.add_typer(board.app, name="board")
app.add_typer(gateway.app, name="gateway")
app.command("estimate")(estimate.command)
driver.add_to(app)
app.add_typer(experiment_command.app, name="experiment")


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"downbeat {version.number()}")
        raise typer.Exit


@app.callback()
def downbeat(
    _version: Annotated[
        bool, typer.Option("--version", help="print the version", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Tools around the Downbeat TCP engine."""


if __name__ == "__main__":
    app(prog_name="downbeat")
