# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Columns of NAME.parquet beside the axes: the numbers, words and lists that flow_record.cpp prints of a connection.

Times are s, sizes bytes, windows segments.
"""

from __future__ import annotations

from collections.abc import Mapping

WORDS = ("label", "failure", "exit", "start_reason")
NUMBERS = (
    *("opened", "established", "seconds", "window", "rtt", "smallest_rtt"),
    *("exit_time", "exit_before", "exit_after", "estimate", "last_estimate"),
    *("start_window", "start_ssthresh", "segment_size"),
)
COUNTS = (
    *("acknowledged", "total", "received", "segments"),
    *("retransmissions", "losses", "timeouts"),
)
LISTS: Mapping[str, str] = {"at_marks": "count", **dict.fromkeys(("at_sizes", "begun", "done", "intervals"), "number")}
RUN = ("seed", "connection")  # seed of the run, and number of the connection in it
TAKEN = frozenset((*WORDS, *NUMBERS, *COUNTS, *LISTS, *RUN))
