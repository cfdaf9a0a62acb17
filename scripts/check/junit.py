# SPDX-License-Identifier: BSD-2-Clause-Patent
"""JUnit XML in which each cocotb case is a test case of its own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from xml.etree import ElementTree as Xml

from scripts.check.rows import Row

# Characters that XML 1.0 cannot hold, such as the colours of a terminal.
UNPRINTABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd]")


def write_junit(path: Path, rows: Sequence[Row], seed: int, target: str) -> None:
    root = Xml.Element("testsuites", name="downbeat")
    for module, group in groupby(sorted(rows, key=lambda row: row.module), key=lambda row: row.module):
        cases = list(group)
        suite = Xml.SubElement(root, "testsuite", name=module, tests=str(len(cases)))
        suite.set("failures", str(sum(row.outcome == "failed" for row in cases)))
        suite.set("skipped", str(sum(row.outcome == "skipped" for row in cases)))
        suite.set("errors", "0")
        suite.set("time", f"{sum(row.seconds for row in cases):.3f}")
        properties = Xml.SubElement(suite, "properties")
        Xml.SubElement(properties, "property", name="seed", value=str(seed))
        for row in cases:
            _add_case(suite, row, row.rerun(seed, target))
    path.parent.mkdir(parents=True, exist_ok=True)
    Xml.indent(root)
    Xml.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def _add_case(suite: Xml.Element, row: Row, again: str) -> None:
    case = Xml.SubElement(
        suite,
        "testcase",
        classname=row.module.replace("/", "."),
        name=row.case or "module",
        time=f"{row.seconds:.3f}",
    )
    if row.outcome == "passed":
        return
    message = UNPRINTABLE.sub("", row.message)
    first = message.strip().partition("\n")[0]
    if row.outcome == "skipped":
        Xml.SubElement(case, "skipped", message=first)
    else:
        failure = Xml.SubElement(case, "failure", message=first)
        failure.text = f"{message}\n{row.log}\n{again}"
