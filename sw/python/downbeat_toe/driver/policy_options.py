# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The options of a command that choose a connection's policies, and what the policies are given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from downbeat_toe import policies
from downbeat_toe.refused import Refused
from downbeat_toe.structures import Parameters

Startup = Annotated[str | None, typer.Option(help="start-up policy")]
Steady = Annotated[str | None, typer.Option(help="steady policy")]
StartupArgument = Annotated[
    str, typer.Option(help='of the start-up policy, as "n=10, gap=1ms"; without it paced paces nothing')
]
SteadyArgument = Annotated[str, typer.Option(help='of the steady policy, as "a=0.5, b=0.3"')]

WORD = (1 << 64) - 1


@dataclass(frozen=True)
class Policies:
    """Names, None: the core's first; arguments as the core has their bits, 0: none."""

    startup: str | None
    steady: str | None
    startup_argument: int
    steady_argument: int

    @classmethod
    def of(cls, startup: str | None, steady: str | None, startup_argument: str, steady_argument: str) -> Policies:
        """Refused: there is no such policy, or it does not take its argument."""
        return cls(
            startup,
            steady,
            _argument("startup", startup or "", startup_argument),
            _argument("steady", steady or "", steady_argument),
        )

    def parameters(self) -> Parameters:
        """Of a connection, for the library."""
        made = Parameters(_bytes(self.startup), _bytes(self.steady))
        made.startup_argument[:] = self.startup_argument & WORD, self.startup_argument >> 64
        made.steady_argument[:] = self.steady_argument & WORD, self.steady_argument >> 64
        return made

    def words(self) -> list[str]:
        """As downbeat-run takes them."""
        given = {
            "--startup": self.startup,
            "--steady": self.steady,
            "--startup-argument": f"{self.startup_argument:#x}" if self.startup_argument else None,
            "--steady-argument": f"{self.steady_argument:#x}" if self.steady_argument else None,
        }
        return [word for name, value in given.items() if value for word in (name, value)]


def _argument(family: str, name: str, text: str) -> int:
    known = policies.read(policies.OWN)[family]
    if not text and name.isdecimal():
        return 0  # of a core with other policies
    try:
        return policies.find(known, name).argument(text)
    except policies.ArgumentRefused as error:
        raise Refused(str(error)) from None


def _bytes(text: str | None) -> bytes | None:
    return text.encode() if text else None
