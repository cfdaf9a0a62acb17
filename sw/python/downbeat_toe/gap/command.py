# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`downbeat gap CAPTURE`, `downbeat gap live`, `downbeat gap selftest`."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from downbeat_toe.gap import capture_command, live_command


class CaptureFirst(TyperGroup):
    """What is no other command's name is a capture: `downbeat gap x.pcapng` is `downbeat gap capture x.pcapng`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] != "--help":
            args = ["capture", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=CaptureFirst,
    no_args_is_help=True,
    help="Compares gaps between frames with their schedule. `gap x.pcapng` is `gap capture x.pcapng`.",
)
app.command("capture")(capture_command.capture)
app.command("live")(live_command.live)
app.command("selftest")(live_command.selftest)
