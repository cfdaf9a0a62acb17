# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Builds kept by content: build/sim/PART/HASH, the newest few of each part; `build/sim/PART/current` leads to the
newest."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILDS = ROOT / "build" / "sim"
KEPT = 4  # builds of a part that stay; the oldest goes first


class BuildFailed(Exception):
    """A compiler refused something; its own words are the message."""


def cached(part: str, key: str, make: Callable[[Path], object], kept: int = KEPT) -> Path:
    """The directory of the part with that content, made unless it is there."""
    home = BUILDS / part
    home.mkdir(parents=True, exist_ok=True)
    place = home / key
    # Two makes may want the same at once: the second finds it built.
    with (home / f"{key}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / "done").exists():
            shutil.rmtree(place, ignore_errors=True)
            _prune(home, kept)
            place.mkdir()
            make(place)
        (place / "done").touch()
    return place


def _prune(home: Path, kept: int) -> None:
    with (home / "prune.lock").open("w") as lock:  # nobody looks at a build while another removes it
        fcntl.flock(lock, fcntl.LOCK_EX)
        builds = sorted(home.glob("*/done"), key=lambda done: done.stat().st_mtime, reverse=True)
        for done in builds[kept:]:
            shutil.rmtree(done.parent, ignore_errors=True)
            (home / f"{done.parent.name}.lock").unlink(missing_ok=True)


def point(link: Path, place: Path) -> None:
    """The link leads to the place, at every instant to the old or to the new one."""
    if link.is_symlink() and link.resolve() == place:
        return
    fresh = link.with_name(f"{link.name}.{os.getpid()}")
    fresh.symlink_to(place.name)
    fresh.replace(link)


def run(place: Path, *command: str) -> None:
    """In that directory; what the command says is kept in its build.log, and shown if it fails."""
    done = subprocess.run(command, cwd=place, text=True, capture_output=True, check=False)
    (place / "build.log").open("a").write(f"{' '.join(command)}\n{done.stdout}{done.stderr}\n")
    if done.returncode:
        tail = "\n".join((done.stdout + done.stderr).splitlines()[-40:])
        raise BuildFailed(f"{command[0]} failed (all of it in {place.relative_to(ROOT)}/build.log):\n{tail}")


def content(*parts: object) -> str:
    """A name for texts, and for lists of things as text."""
    texts = [part if isinstance(part, str) else "\n".join(map(str, part)) for part in parts]  # type: ignore[call-overload]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]
