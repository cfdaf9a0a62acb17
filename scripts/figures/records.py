# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Records of measurements: what pages show of each report, an entry for each command that was run."""

from __future__ import annotations

import functools
import hashlib
import json
import re
import shlex
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic

from downbeat_toe.refused import Refused as Refused
from pydantic import ValidationError

from scripts.figures.kinds import Kind, Model

ROOT = Path(__file__).resolve().parents[2]
REPORTS = ROOT / "build" / "reports"
PAGES = ROOT / "docs" / "reference" / "figures"
RECORDS = PAGES / "records"
CORE = ROOT / "rtl" / "downbeat"
APART = ("bench", "board", "builds")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
LINE, ROW = 120, 800  # characters of a line in a record's file; of a line that is one row


@dataclass(frozen=True)
class Entry(Generic[Model]):
    """Figures of one command. `commit` belongs to figures that an older page had; no page shows it."""

    command: str
    date: str | None
    commit: str | None
    figures: Model
    rtl: str | None = None  # `rtl_hash` at that time

    @property
    def is_of_this_rtl(self) -> bool:
        return self.rtl == rtl_hash()


def core_sources() -> list[Path]:
    """Without test benches and lists of builds."""
    return [path for path in sorted(CORE.rglob("*.scala")) if path.relative_to(CORE).parts[0] not in APART]


def code(scala: str) -> str:
    """The text without comments, and with a space for each run of white space."""
    return " ".join(COMMENT.sub("", scala).split())


@functools.cache
def rtl_hash() -> str:
    """The code of the core: a comment changes no figure."""
    digest = hashlib.sha256()
    for path in core_sources():
        digest.update(f"{path.relative_to(CORE)}\n{code(path.read_text())}\n".encode())
    return digest.hexdigest()[:16]


def measured_rtl(report: Path) -> str | None:
    """The core's hash, if no source of it is younger than the report."""
    since = report.stat().st_mtime
    return rtl_hash() if all(path.stat().st_mtime <= since for path in core_sources()) else None


def read(file: Path, model: type[Model], value: Any) -> Model:
    """`value`, which is from `file`, by its schema."""
    try:
        return model.model_validate_json(json.dumps(value))
    except ValidationError as refused:
        first = refused.errors()[0]
        field = ".".join(map(str, first["loc"])) or "all of it"
        raise Refused(f"{_short(file)}: {field}: {first['msg']}") from None


def rows(value: Any, depth: int = 0) -> str:
    """JSON with a row of a table on each line, so that a difference shows the rows that have changed."""
    flat = json.dumps(value)
    if not isinstance(value, (dict, list)) or not value or depth + len(flat) <= LINE:
        return flat
    pad, end = "\n" + " " * (depth + 1), "\n" + " " * depth
    if isinstance(value, dict):
        return (
            "{"
            + ",".join(f"{pad}{json.dumps(name)}: {rows(each, depth + 1)}" for name, each in value.items())
            + f"{end}}}"
        )
    return (
        "["
        + ",".join(pad + (json.dumps(each) if _is_row(each) else rows(each, depth + 1)) for each in value)
        + f"{end}]"
    )


def _is_row(value: Any) -> bool:
    text = json.dumps(value)
    return len(text) <= ROW and "[" not in text


class Records:
    """The records in a folder, and the reports from which they are taken."""

    def __init__(self, records: Path = RECORDS, reports: Path = REPORTS) -> None:
        self._records, self._reports = records, reports

    def entries(self, kind: Kind[Model]) -> list[Entry[Model]]:
        """None if there is no such record."""
        file = self._records / f"{kind.name}.json"
        return [self._entry(file, kind, each) for each in json.loads(file.read_text())] if file.exists() else []

    def report(self, kind: Kind[Model]) -> Model | None:
        """The report in build/reports, None if there is none."""
        file = self._reports / kind.file
        return read(file, kind.model, json.loads(file.read_text())) if file.exists() else None

    def take(self, kind: Kind[Any]) -> str:
        """Puts the report in the place of the entry of the same command; the command."""
        file = self._reports / kind.file
        figures = self.report(kind)
        if figures is None:
            raise Refused(f"{_short(file)}: there is no such report; {kind.command} makes it")
        shown = figures.model_dump(mode="json")
        command: str = (
            kind.command.format(**{name: shlex.quote(str(value)) for name, value in shown.items()})
            if "{" in kind.command
            else kind.command
        ) + figures.options
        date = time.strftime("%Y-%m-%d", time.localtime(file.stat().st_mtime))
        old = self.entries(kind)
        for each in old:
            figures = figures.added_to(each.figures) if each.command == command else figures
        new = Entry(command, date, None, figures, measured_rtl(file))
        kept = [new if each.command == command else each for each in old]
        self.write(kind, kept if new in kept else [*old, new])
        return command

    def write(self, kind: Kind[Model], entries: list[Entry[Model]]) -> None:
        values = [
            {
                "command": each.command,
                "date": each.date,
                "commit": each.commit,
                **({"rtl": each.rtl} if each.rtl else {}),
                "figures": each.figures.model_dump(mode="json"),
            }
            for each in entries
        ]
        self._records.mkdir(parents=True, exist_ok=True)
        (self._records / f"{kind.name}.json").write_text(rows(values) + "\n")

    @staticmethod
    def _entry(file: Path, kind: Kind[Model], value: Any) -> Entry[Model]:
        for field in ("command", "date", "figures"):
            if field not in value:
                raise Refused(f"{_short(file)}: {field}: Field required")
        figures = read(file, kind.model, value["figures"])
        return Entry(value["command"], value["date"], value.get("commit"), figures, value.get("rtl"))


def _short(file: Path) -> Path:
    return file.relative_to(ROOT) if file.is_relative_to(ROOT) else file
