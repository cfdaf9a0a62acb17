# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make release`: build/release/downbeat-VERSION.tar.gz. Built twice from the same sources it has the same bytes."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

from scripts.release.archive import packed
from scripts.release.contents import BUILDS, ROOT, files, tops, version

PLACE = Path("build/release")


def main() -> int:
    os.chdir(ROOT)
    print(f"{len(BUILDS)} builds are elaborated, about a minute each; those that are up to date are kept.", flush=True)
    try:
        elaborated = {folder: elaborate(folder, build) for folder, build in BUILDS.items()}
    except subprocess.CalledProcessError:
        return 1  # it has said why
    name = f"downbeat-{version()}"
    archive = PLACE / f"{name}.tar.gz"
    found = files(elaborated)
    archive.write_bytes(packed(found, name))
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    print(f"{archive}: {len(found)} files, {archive.stat().st_size / 1e6:.1f} MB, SHA-256 {digest}")
    return 0


def elaborate(folder: str, build: str) -> Path:
    """The directory with the build's Verilog."""
    place = PLACE / "rtl" / folder
    print(f"{folder} ({build})", flush=True)
    subprocess.run(["scripts/rtl.sh", "elaborate", build, str(place), *tops(folder), "RegisterMap"], check=True)
    return place


if __name__ == "__main__":
    sys.exit(main())
