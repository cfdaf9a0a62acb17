# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A schedule, as `downbeat schedule` writes it, for `gap_bench launch`: lines "id bytes instant", bytes with FCS, 2^-16
ns.

python -m sim.bench.gap.given SCHEDULE.csv | gap_bench launch
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from downbeat_toe import schedule_file
from downbeat_toe.refused import Refused
from downbeat_toe.schedule import SHORTEST, require_space

START = 1_000_000  # ns of the bench's time at which the first frame leaves
FCS = 4
LARGEST = 1514  # bytes without FCS, of the bench's MAC
RATE = 10**9  # bits a second of its wire


def lines(launches: Iterable[int], length: int) -> Iterator[str]:
    """A schedule of frames of one length (bytes without FCS) at these times (ns)."""
    return _lines((launch, length) for launch in launches)


def read(path: Path) -> list[str]:
    """A schedule from a file. Refuses frames that the bench's wire cannot carry."""
    planned = schedule_file.read(path)
    if (longest := int(planned.length.max())) > LARGEST:
        raise Refused(f"{path}: a frame has {longest} bytes; the bench's MAC sends {LARGEST} at most")
    require_space(planned, RATE, "no option: the bench has 1 Gb/s")
    before = int(planned.launch[0])
    return list(_lines(zip((planned.launch - before).tolist(), planned.length.tolist(), strict=True)))


def _lines(frames: Iterable[tuple[int, int]]) -> Iterator[str]:
    for number, (launch, length) in enumerate(frames):
        yield f"{number} {max(length, SHORTEST) + FCS} {START + launch << 16}"


if __name__ == "__main__":
    try:
        with contextlib.suppress(BrokenPipeError):
            print(*read(Path(sys.argv[1])), sep="\n")
    except Refused as error:
        sys.exit(str(error))
