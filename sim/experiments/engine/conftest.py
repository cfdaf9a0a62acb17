# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A small experiment as a dictionary, its file, and policies as a build would have them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from downbeat_toe.policies import Field, Policy

from sim.experiments.engine.schema.checks import Policies

TINY = """
name = "tiny"
title = "Two Renos"
source = "no paper"

[axes]
rate = ["2 Mb/s", "4 Mb/s"]

[topology]
kind = "dumbbell"
link = { rate = "$rate", delay = "10 ms", queue = { size = "20 packets" } }
access = { rate = "100 Mb/s", delay = "1 ms" }

[run]
duration = "2 s"
sample = "100 ms"
marks = ["1 s"]
sizes = ["30 kB", "60 kB"]
packet = "1000 B"

[[flow]]
label = "a"
to = 1
count = 2
start = { uniform = ["0 s", "100 ms"] }

[[published]]
figure = "1"
quantity = "packets in the first second, twice the rate"
metric = "packets_at"
mark = "1 s"
statistic = "sum"
of = { rate = "4 Mb/s" }
over = { rate = "2 Mb/s" }
value = 2
tolerance = "20 %"

[[table]]
title = "By rate"
rows = ["rate"]

[[table.column]]
title = "30 kB, s"
metric = "seconds_to"
size = "30 kB"

[[table.column]]
title = "packets to 2 Mb/s's"
metric = "packets"
over = { rate = "2 Mb/s" }
"""


@pytest.fixture
def policies() -> Policies:
    def policy(family: str, name: str, number: int, **fields: Field) -> Policy:
        return Policy(family, name, number, 16, False, (), fields)

    a = Field("a", 0, 16, 8, "", 1, 65535, 256)
    return {
        "startup": {name: policy("startup", name, number) for number, name in enumerate(("standard", "hoe"))},
        "steady": {"reno": policy("steady", "reno", 0), "aimd": policy("steady", "aimd", 1, a=a)},
    }


@pytest.fixture
def tiny(tmp_path: Path) -> Callable[..., Path]:
    """Writes tiny.toml with each pair of texts replaced."""

    def write(*changes: tuple[str, str], more: str = "") -> Path:
        text = TINY
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / "tiny.toml"
        path.write_text(text + more)
        return path

    return write
