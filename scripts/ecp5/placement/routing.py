# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Routes an annealed design: all of it by router2, then what is late by router1.

router2 solves crowded designs, but does not count what a wire's branches add to its delay: by nextpnr's database up to
0.3 ns each, by wires that take nothing else and so look like the quickest. Where it held all paths to be in time some
were a fifth too long. router1 counts branches, and begins with what is routed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from scripts.failure import RoundsOver, ToolFailed

# Rounds of router2: designs that it has routed took it 62 at most; of one that it did not 45,000 wires were in conflict after
# ten.
CROWDED = 120
# Rounds of router1, a thousand connections each: a core with 1,014 that were late took it 335.
ROUNDS = 1000
ROUTING = re.compile(r'(\s*"ROUTING": )"(?:[^;"]*;[^;"]*;1;?){6,}"(,?\n)')


def route(
    nextpnr: Callable[..., None],
    log: Path,
    clocks: Path,
    design: Path,
    options: Sequence[str | Path],
    result: Sequence[str | Path],
) -> None:
    """Routes `design`, for the periods in `clocks` (SDC); `result` are the options by which nextpnr leaves what is
    wanted of it.

    Where router1 goes on and on, the design stays as router2 has left it; where router2 does, it is refused.
    """
    routed, opened = design.with_suffix(".routed"), design.with_suffix(".opened")
    given = [*options, "--no-pack", "--no-place", "--sdc", clocks]
    try:
        nextpnr(log, "--json", design, *given, "--write", routed, rounds=CROWDED)
    except RoundsOver:
        raise ToolFailed(
            f"wires are still in conflict after {CROWDED} rounds of router2 ({log}): the design is too crowded for the device;"
            " fewer policies, flows or another seed may help"
        ) from None
    last = [log.with_suffix(".late.log"), "--json", opened, *given, *result]
    try:
        reopen(routed, opened, late=True)
        nextpnr(*last, rounds=ROUNDS)
    except RoundsOver:
        print("  paths can't all be in time: as router2 has left them", flush=True)
        reopen(routed, opened, late=False)
        nextpnr(*last)
    for made in (routed, opened):
        made.unlink(missing_ok=True)


def reopen(routed: Path, opened: Path, late: bool) -> None:
    """The design as nextpnr has routed and written it, for router1: to have `late` paths up, or nothing.

    nextpnr goes by a design's settings, not by its options. With nothing to route router1 looks at no path: a net is
    left open.
    """
    wanted: list[tuple[re.Pattern[str], str]] = [
        (re.compile(r'(\s*"router": )"router2"(,?\n)'), r'\1"router1"\2'),
        (re.compile(r'(\s*"router/tmg_ripup": )"[01] "(,?\n)'), rf'\1"{late:d} "\2'),
        (ROUTING, r'\1" "\2'),
    ]
    with routed.open() as lines, opened.open("w") as changed:
        for line in lines:  # a hundred megabytes and more
            if wanted and (found := next((each for each in wanted if each[0].fullmatch(line)), None)):
                line = found[0].sub(found[1], line)
                wanted.remove(found)
            changed.write(line)
    if wanted:
        raise ToolFailed(
            f"{routed} is not as nextpnr 0.11 writes a routed design: nothing is like {wanted[0][0].pattern}"
        )
