# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make sim STARTUP=all`, `STEADY=all`: the same transfer by each policy of the build; one table, one plot."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from downbeat_toe import pages
from downbeat_toe.policies import Policy
from plotly.subplots import make_subplots
from rich.table import Table

from sim.ns3.golden import Comparison
from sim.ns3.network import Transfer
from sim.ns3.settings import NANOSECONDS_PER_SECOND, SEGMENT_BYTES, Refused, Settings, policy_settings

ALL = "all"
NO_SSTHRESH = "1GiB"  # no window is larger: start-up ends when its policy or a loss says so
SPANS = (1, 5)  # seconds
NAMES = {"startup": "Start-up", "steady": "Steady"}


@dataclass(frozen=True)
class Run:
    policy: str
    argument: str
    received: dict[int, int]  # bytes, by seconds since the connection was made
    losses: int
    retransmissions: int
    exit_window: int | None  # bytes; None: start-up did not end
    exit_seconds: float | None
    finish_seconds: float
    failure: str
    windows: tuple[list[float], list[float]]  # s, kB
    arrivals: tuple[list[float], list[float]]  # s, kB


def check(family: str, everybody: dict[str, str], given: dict[str, str]) -> None:
    """Refuses variables that only a run of one policy can have; `given` are those that the user set."""
    if list(everybody.values()).count(ALL) > 1:
        raise Refused("STARTUP=all STEADY=all: use one of them, with the other named or left out")
    for name in (f"{family.upper()}_ARGUMENT", "PCAP", "WAVES", "COMPARE"):
        if name in given:
            raise Refused(f"{name}={given[name]}: not with {family.upper()}=all, name a policy")


def chosen(wanted: Settings, policy: Policy) -> Settings:
    """The run's settings, and the policy's argument: one that fits the path, the usual one, or none."""
    fitting = _fitting(wanted, policy)
    argument = policy.argument(fitting) if fitting else usual(policy)
    return replace(wanted, **policy_settings(policy, argument))


def usual(policy: Policy) -> int:
    """Nothing where a policy needs nothing; all its usual values otherwise."""
    if not policy.needed:
        return 0
    word = sum(field.default << field.offset for field in policy.fields.values())
    if problem := policy.problem(word):
        raise Refused(f"{policy.name}: its usual argument is none: {problem}")
    return word


def _fitting(wanted: Settings, policy: Policy) -> str:
    """Text of an argument that fits this path: its rate, its window of segments over one round trip, a receiver that delays
    ACKs."""
    segments = max(1, min(wanted.bandwidth_delay_product // SEGMENT_BYTES, 65535))
    texts = {
        "paced": f"n={segments}, gap={wanted.rtt / segments:.3f}ns",
        # Half of the window is left before the next drop; an earlier connection had all of it.
        "miss": f"m=1, next={wanted.rtt * (segments // 2 + 1.5):.0f}ns, maxWindow=65535",
        "resume": f"saved={max(segments, 2)}, maxJump=65535, rtt={wanted.rtt}ns",
        "logistic": f"K={wanted.rate}b/s, A={wanted.rate}b/s",
        "hoe": "inverted=1",
        "spm": "inverted=1",
    }
    return texts.get(policy.name, "")


def measure(settings: Settings, policy: Policy, core: Transfer, golden: Comparison) -> Run:
    live = [row for row in core.events if row["live"] == "1"]
    begun = next((index for index, row in enumerate(live) if row["congestion"] == "established"), None)
    rows = [] if begun is None else live[begun:]
    start = int(rows[0]["time_ns"]) if rows else 0
    series = [(int(sample["time_ns"]) - start, int(sample["received_bytes"])) for sample in core.series]
    exit_row = exit_event(rows)
    failure = core.result["failure"] or golden.mismatch
    argument = settings.startup_argument if policy.family == "startup" else settings.steady_argument
    return Run(
        policy=policy.name,
        argument=policy.text(argument),
        received={
            span: max((count for time, count in series if time <= span * NANOSECONDS_PER_SECOND), default=0)
            for span in SPANS
        },
        losses=core.result["queue_drops"] + core.result["random_losses"],
        retransmissions=core.result["retransmissions"],
        exit_window=None if exit_row is None else int(exit_row["cwnd_fixed"]) >> 16,
        exit_seconds=None if exit_row is None else (int(exit_row["time_ns"]) - start) / NANOSECONDS_PER_SECOND,
        finish_seconds=core.result["finish_time_ns"] / NANOSECONDS_PER_SECOND,
        failure=str(failure),
        windows=(
            [(int(row["time_ns"]) - start) / NANOSECONDS_PER_SECOND for row in rows],
            [float(row["cwnd"]) / 1e3 for row in rows],
        ),
        arrivals=([time / NANOSECONDS_PER_SECOND for time, _ in series], [count / 1e3 for _, count in series]),
    )


def exit_event(rows: Sequence[dict[str, str]]) -> dict[str, str] | None:
    """The last event of start-up: the one before the first loss, or the one that brought cwnd to ssthresh for good.

    A policy may raise ssthresh when cwnd has reached it, as SPM does by its estimate; start-up then goes on.
    """
    reached = None
    for before, row in pairwise(rows):
        if row["congestion"] in ("loss", "timeout"):
            return reached or before
        steady = int(row["cwnd_fixed"]) >= int(row["ssthresh_fixed"])
        reached = (reached or row) if steady else None
    return reached


def report(wanted: Settings, family: str, runs: Sequence[Run]) -> dict[str, Any]:
    """The figures, for programs."""
    ideal = wanted.bandwidth_delay_product
    return {
        "family": family,
        "settings": wanted.as_json(),
        "ideal_window": ideal,
        "policies": [
            {
                "name": run.policy,
                "argument": run.argument,
                **{f"bytes_in_{span}_s": run.received[span] for span in SPANS},
                "losses": run.losses,
                "retransmissions": run.retransmissions,
                "exit_window": run.exit_window,
                "exit_window_to_ideal": None if run.exit_window is None else round(run.exit_window / ideal, 4),
                "exit_seconds": run.exit_seconds,
                "finish_seconds": run.finish_seconds,
                "failure": run.failure,
            }
            for run in runs
        ],
    }


def table(wanted: Settings, family: str, runs: Sequence[Run]) -> Table:
    other = wanted.steady_text if family == "startup" else wanted.startup_text
    ideal = wanted.bandwidth_delay_product / 1e3
    title = f"{NAMES[family]} policies, each with {other}; ideal window {ideal:.0f} kB, seed {wanted.seed}"
    wide = Table(title=title, title_justify="left")
    wide.add_column("", no_wrap=True)
    for head in (*(f"kB in\n{span} s" for span in SPANS), "lost", "resent", "exit\nkB", "to\nideal", "at s", "end s"):
        wide.add_column(head, justify="right")
    for run in runs:
        left = ["-"] * 3
        if run.exit_window is not None and run.exit_seconds is not None:
            share = run.exit_window / wanted.bandwidth_delay_product
            left = [f"{run.exit_window / 1e3:.0f}", f"{share:.2f}", f"{run.exit_seconds:.3f}"]
        received = [f"{run.received[span] / 1e3:.0f}" for span in SPANS]
        name = run.policy + (" FAILED" if run.failure else "")
        wide.add_row(name, *received, str(run.losses), str(run.retransmissions), *left, f"{run.finish_seconds:.2f}")
    for run in runs:
        if run.failure:
            wide.caption = f"{run.policy}: {run.failure}"
    return wide


def winner(family: str, runs: Sequence[Run], seed: int) -> str:
    """The first to the end, the last, what they lost, and that it is one seed."""
    runs = sorted(runs, key=lambda run: run.finish_seconds)
    first, last = (f"{run.policy} ({run.finish_seconds:.2f} s, {run.losses} lost)" for run in (runs[0], runs[-1]))
    ends = f"{NAMES[family]} policies: {first} ends first, {last} last."
    return f"{ends} This is one seed: another one (SEED={seed + 1}) may say otherwise."


def plot(path: Path, wanted: Settings, family: str, runs: Sequence[Run], command: str) -> None:
    """One page: windows and received bytes of all."""
    figure = make_subplots(rows=2, shared_xaxes=True, vertical_spacing=0.06, subplot_titles=["cwnd", "received"])
    for number, run in enumerate(runs):
        line = pages.line(number)
        for row, (times, values) in enumerate((run.windows, run.arrivals), 1):
            x, y = pages.thinned(times, values)
            named: dict[str, Any] = {"name": run.policy, "legendgroup": run.policy, "showlegend": row == 1}
            figure.add_scatter(x=x, y=y, line=line, mode="lines", row=row, col=1, **named)
    pages.finish(figure, row_height=380)
    figure.add_hline(y=wanted.bandwidth_delay_product / 1e3, line_dash="dot", annotation_text="ideal", row=1, col=1)
    figure.update_yaxes(title_text="kB")
    figure.update_xaxes(title_text="time since the connection was made, s", row=2)
    other = wanted.steady_text if family == "startup" else wanted.startup_text
    words = (
        f"{wanted.rate / 1e6:g} Mb/s, {wanted.rtt / 1e6:g} ms, {wanted.size:,} bytes, loss {wanted.loss:g}. "
        f"Each {NAMES[family].lower()} policy with {other}; the table has the argument of each."
    )
    said = "".join(f"<p>{html.escape(each)}</p>" for each in (winner(family, runs, wanted.seed), words))
    heads = [
        "policy",
        "argument",
        *(f"kB in {span} s" for span in SPANS),
        "lost",
        "resent",
        "exit, kB",
        "exit, s",
        "end, s",
    ]
    rows = [
        [
            run.policy + (" FAILED" if run.failure else ""),
            run.argument or "-",
            *(run.received[span] / 1e3 for span in SPANS),
            run.losses,
            run.retransmissions,
            "-" if run.exit_window is None else run.exit_window / 1e3,
            "-" if run.exit_seconds is None else run.exit_seconds,
            run.finish_seconds,
        ]
        for run in runs
    ]
    body = f"{said}{pages.plot(figure)}{pages.table(heads, rows)}"
    path.write_text(pages.page(f"{NAMES[family]} policies", body, command=command, seed=wanted.seed))
