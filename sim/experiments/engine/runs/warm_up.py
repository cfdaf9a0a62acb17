# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Which plans share their warm-up: those that differ only in flows that begin after it, and in their duration."""

from __future__ import annotations

# Words of a flow that begins after the warm-up which matter before it.
STANDING = ("label", "core", "source", "host", "ack-every", "ack-timeout", "rwnd", "estimate", "observed")


def shared(plan: str) -> str:
    """The part of a plan that decides the run until its warm-up ends; all of a plan without warm-up."""
    first, *lines = plan.splitlines()
    head = dict(word.split("=", 1) for word in first.split()[1:])
    if "warm-up" not in head:
        return plan
    kept, late = [" ".join(f"{name}={value}" for name, value in head.items() if name != "duration")], False
    for line in lines:
        kind, *words = line.split()
        if kind == "flow":
            flow = dict(word.split("=", 1) for word in words)
            late = int(flow["start"]) >= int(head["warm-up"])
            if late:
                line = "late " + " ".join(f"{name}={flow[name]}" for name in STANDING if name in flow)
        if not late or kind not in ("write", "argument"):
            kept.append(line)
    return "\n".join(kept)
