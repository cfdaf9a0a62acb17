# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What a step of synthesis fails with."""


class ToolFailed(Exception):
    """A program refused, or is not there; the message is the end of its log, or says what to do."""
