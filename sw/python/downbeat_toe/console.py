# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Places of reports."""

from __future__ import annotations

import shutil
import sys

from rich.console import Console


def report_console() -> Console:
    """As wide as the terminal, and where there is none (a file, a pipe) wide enough for every table."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 160  # Rich takes a dumb one for 80
    return Console(highlight=False, width=width)
