# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Failure of a step of synthesis."""


class ToolFailed(Exception):
    """A program refused, or is not there; the message is the end of its log, or says what to do."""


class RoundsOver(ToolFailed):
    """A router was ended, since it went on and on."""
