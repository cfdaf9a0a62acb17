# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Each tutorial as typed, block by block: its commands run, its files work, and what it shows is printed.

In a copy of the tree that is written over it (overlayfs), with what it has built, and in a network of its own, where
servers of the machine's own have the usual ports.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from scripts.lint.tools import ROOT
from scripts.typed import Block, Terminal, blocks

PAGES = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
WALL_SECONDS = 2400.0  # a busy machine takes minutes where a quiet one takes seconds
ISOLATED = ("unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc")
# sudo passes no variables on; nobody sees a waveform.
SHIMS = {
    "sudo": '[ "$1" = -v ] || exec env -i PATH="$PATH" HOME="$HOME" TERM=dumb "$@"',
    "gtkwave": 'test -s "$1"',
}
OVERLAY = 'mount -t overlay overlay -o "lowerdir=$0,upperdir=$1/upper,workdir=$1/work" "$0" && cd "$0"'
BEGIN = f"""
{OVERLAY} || exit
mount --bind "$1/tmp" /tmp; mount -t sysfs sysfs /sys
ip link set lo up
ip link add eth1 type veth peer name eth2 address 02:00:00:00:00:02
ip link set eth1 up; ip link set eth2 up
for port in 22 80 443 5000 5001 8000 8080; do
  python3 -m http.server $port >/dev/null 2>&1 &
done
PS1='[[$?]]' exec bash --norc --noprofile -i  # a shell that is not interactive hands on no prompt
"""
COMMANDS = {"first-policy": 4, "first-run": 6, "measure-a-link": 7, "programs-over-the-core": 15, "share-estimates": 15}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_page_is_read(page: Path) -> None:
    """No command of it is passed over."""
    found = list(blocks(page.read_text()))
    assert sum(len(block.lines) for block in found if not is_of_a_site(block)) == COMMANDS[page.stem]


def is_of_a_site(block: Block) -> bool:
    """It writes into /etc, or needs systemd."""
    return any("/etc/" in line or "downbeat gateway top" in line for line in block.lines)


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    for name, text in SHIMS.items():
        shim = tmp_path / "tmp" / "bin" / name
        shim.parent.mkdir(parents=True, exist_ok=True)
        shim.write_text(f"#!/bin/bash\n{text}\n")
        shim.chmod(0o755)
    for name in ("upper", "work"):
        (tmp_path / name).mkdir()
    given = {name: os.environ[name] for name in ("HOME", "LANG", "DOWNBEAT_VENV") if name in os.environ}
    given["PATH"] = "/tmp/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    tried = [*ISOLATED, "bash", "-c", OVERLAY, str(ROOT), str(tmp_path)]
    if subprocess.run(tried, capture_output=True, check=False).returncode:
        pytest.skip("root may mount an overlay, and this is not root or has none")
    return Terminal([*ISOLATED, "bash", "-c", BEGIN, str(ROOT), str(tmp_path)], given, WALL_SECONDS)


@pytest.mark.soak
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_the_page_says_happens(page: Path, terminal: Terminal) -> None:
    times: list[float] = []
    with terminal as shell:
        for block in blocks(page.read_text()):
            if is_of_a_site(block):
                continue
            if block.file:
                shell.type(f"cat >{block.file} <<'END OF FILE'\n{block.text}END OF FILE")
            shell.heard = ""
            for line in block.lines:
                shell.type(line)
            for expected in block.said:
                shell.says(expected)
            times += [float(found) for found in re.findall(r"bytes to \S+ in ([\d.]+) s:", shell.heard)]
    if page.stem == "share-estimates":
        without, with_estimate = times
        assert with_estimate < without
