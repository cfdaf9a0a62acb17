# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Writes the headers and Python modules of the list: `python -m sw.api`, a part of `make generate`."""

from __future__ import annotations

from sw.api import c, limits, python
from sw.api.common import COMMON
from sw.api.driver import DRIVER
from sw.api.estimator import ESTIMATOR
from sw.api.model import ROOT
from sw.api.simulation import SIMULATION

INTERFACES = (COMMON, DRIVER, ESTIMATOR, SIMULATION)


def files() -> dict[str, str]:
    """The text of each generated file by its path from the root."""
    headers = {limits.HEADER: limits.header()} | {each.header: c.header(each) for each in INTERFACES}
    return headers | {each.module: python.Module(each).text() for each in INTERFACES}


if __name__ == "__main__":
    for name, text in files().items():
        (ROOT / name).write_text(text)
