# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Refusal of a command, with the reason. Python's own library alone: make asks before set-up."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


class Refused(Exception):
    """An input or a machine that will not do; the message says what is wrong and what to change."""


@contextmanager
def explained() -> Iterator[None]:
    """Ends a command with status 2 and the sentence, where it was refused."""
    try:
        yield
    except Refused as error:
        print(error, file=sys.stderr)
        raise SystemExit(2) from None
