# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Builds the wheel of sw/python (PEP 517), by Python's own library alone: an installation needs no other build tool.

The same sources make the same bytes. The setting `device` is the path of a
libdownbeat_sim.so that goes in too; such a wheel is of this platform: `make wheel`.
"""

from __future__ import annotations

import base64
import hashlib
import io
import sysconfig
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "sw" / "python"
LICENCE = "LICENSE"
LAYOUT = "downbeat_toe/downbeat_layout.json"
DATE = (1980, 1, 1, 0, 0, 0)  # the earliest of a zip


def build_wheel(wheel_directory: str, settings: Any = None, _metadata: str | None = None) -> str:
    """Writes the wheel and returns its name."""
    project = _project()
    stem = f"{project['name'].replace('-', '_')}-{project['version']}"
    device = (settings or {}).get("device")
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_") if device else "any"
    name, info = f"{stem}-py3-none-{platform}.whl", f"{stem}.dist-info"
    files = dict(_package())
    if device:
        files["downbeat_toe/native/libdownbeat_sim.so"] = (ROOT / device).read_bytes()
    files[f"{info}/licenses/{LICENCE}"] = (ROOT / LICENCE).read_bytes()
    files[f"{info}/METADATA"] = _metadata_text(project).encode()
    pure = str(not device).lower()
    kind = f"Wheel-Version: 1.0\nGenerator: downbeat\nRoot-Is-Purelib: {pure}\nTag: py3-none-{platform}\n"
    files[f"{info}/WHEEL"] = kind.encode()
    files[f"{info}/entry_points.txt"] = _entry_points(project).encode()
    files[f"{info}/RECORD"] = _record(files, f"{info}/RECORD").encode()
    with zipfile.ZipFile(Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content in files.items():
            entry = zipfile.ZipInfo(path, DATE)
            entry.external_attr, entry.compress_type = 0o100644 << 16, zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content)
    return name


def build_sdist(sdist_directory: str, _settings: Any = None) -> str:
    """Writes the sources of a wheel; returns the archive's name."""
    project = _project()
    stem = f"{project['name'].replace('-', '_')}-{project['version']}"
    own = Path(__file__).relative_to(ROOT).as_posix()
    files = {f"sw/python/{path}": content for path, content in _package()}
    files |= {path: (ROOT / path).read_bytes() for path in ("pyproject.toml", LICENCE, own)}
    files["PKG-INFO"] = _metadata_text(project).encode()
    with tarfile.open(Path(sdist_directory) / f"{stem}.tar.gz", "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for path, content in files.items():
            entry = tarfile.TarInfo(f"{stem}/{path}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return f"{stem}.tar.gz"


def _project() -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return project


def _package() -> Iterator[tuple[str, bytes]]:
    for path in sorted(SOURCES.rglob("*.py")):
        yield path.relative_to(SOURCES).as_posix(), path.read_bytes()
    yield LAYOUT, (SOURCES / LAYOUT).read_bytes()


def _metadata_text(project: dict[str, Any]) -> str:
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        f"License-Expression: {project['license']}",
        f"License-File: {LICENCE}",
        f"Requires-Python: {project['requires-python']}",
        *(f"Requires-Dist: {needed}" for needed in project["dependencies"]),
    ]
    return "\n".join(lines) + "\n"


def _entry_points(project: dict[str, Any]) -> str:
    return "[console_scripts]\n" + "".join(f"{name} = {target}\n" for name, target in project["scripts"].items())


def _record(files: dict[str, bytes], own: str) -> str:
    def digest(content: bytes) -> str:
        return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()

    rows = (f"{path},sha256={digest(content)},{len(content)}\n" for path, content in files.items())
    return "".join(rows) + f"{own},,\n"
