# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Output of a command: looked at before it measures, so that nothing measured is lost."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from downbeat_toe.refused import Refused

REPORTS = Path("build/reports")


def require_file(path: Path, option: str) -> None:
    """Refuses a file that cannot be written."""
    if path.is_dir():
        raise Refused(f"{option} {path}: a directory; give a file in it")
    if not path.parent.is_dir():
        raise Refused(f"{option} {path}: no directory {path.parent}: make it first (mkdir -p {path.parent})")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise Refused(f"{option} {path}: cannot be written; choose another place")


def require_directory(path: Path, option: str = "--reports") -> None:
    """Makes a directory for reports. Its parent must exist, but for the usual place: a mistyped path is no new tree."""
    if path.exists() and not path.is_dir():
        raise Refused(f"{option} {path}: a file; give a directory")
    if path != REPORTS and not path.exists() and not path.parent.is_dir():
        raise Refused(f"{option} {path}: no directory {path.parent}: make it first (mkdir -p {path})")
    try:
        new = [parent for parent in (path, *path.parents) if not parent.exists()]
        path.mkdir(parents=True, exist_ok=True)
        for directory in new:
            give_back(directory)
    except OSError as error:
        raise Refused(f"{option} {path}: cannot be made: {error.strerror}; choose another place") from None
    if not os.access(path, os.W_OK):
        raise Refused(f"{option} {path}: cannot be written; choose another place")


def give_back(path: Path) -> None:
    """What sudo wrote belongs to who called it: else the same command without sudo could not write there."""
    user, group = os.environ.get("SUDO_UID", ""), os.environ.get("SUDO_GID", "")
    if os.geteuid() == 0 and user.isdigit() and group.isdigit():
        with suppress(OSError):
            os.chown(path, int(user), int(group))
