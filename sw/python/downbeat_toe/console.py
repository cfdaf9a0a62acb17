# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Places of reports."""

from __future__ import annotations

import sys

from rich.console import Console


def report_console() -> Console:
    """As wide as the terminal, and where there is none (a file, a pipe) wide enough for every table."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else 160)
