# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The acceptance test of RFC 9293 3.10.7.4 (table 6), from the RFC's text. Nothing of it is taken from the core."""

from __future__ import annotations


def acceptable(sequence: int, length: int, expected: int, window: int) -> bool:
    """Whether a segment passes at a receiver with RCV.NXT = expected and RCV.WND = window; plain numbers, no wrap."""
    first, last = sequence - expected, sequence + length - 1 - expected
    if not length:
        return first == 0 if window == 0 else 0 <= first < window
    return window > 0 and (0 <= first < window or 0 <= last < window)


def passes(sequence: int, length: int, expected: int, window: int, edge_is_inside: bool) -> bool:
    """The same. Linux and BSD also take an empty segment at the window's right edge: what a sender that has filled the
    window, and cannot know that the filling was refused, must send."""
    at_edge = not length and sequence == expected + window
    return acceptable(sequence, length, expected, window) or edge_is_inside and at_edge
