# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make sim STARTUP=liss`, iss, miss, js, spand, resume: connections over ns-3 that start with estimates of earlier
ones.

The core's path reports feed the estimator (sw/estimator), and the later connections begin with its estimates. Beside it
the same connections begin as Reno does. One table, one plot.
"""

from __future__ import annotations

import html
import json
import os
import shutil
from pathlib import Path
from typing import Any

from downbeat_toe import pages
from plotly.subplots import make_subplots
from rich.table import Table

from sim.experiments.engine.plan.lines import plan
from sim.experiments.engine.runs.program import built_policies, program, runner
from sim.experiments.engine.schema.load import load
from sim.ns3.settings import Refused, Settings
from sim.ns3.shared_summary import mean, sentences

PRESET = "sim"
EARLIER = 3  # connections, endless but with SPAND and Careful Resume
LATER = 4
APART = 2.0  # s between two of the later ones
LEAD = 20.0  # s that the earlier ones have
MARKS = (1, 5)  # s since establishment
ACCESS = 500_000  # ns, of each access link

# SPAND and Careful Resume learn from transfers that have ended.
ENDED = {"spand": "2 MB", "resume": "8 MB"}


def text(wanted: Settings, method: str) -> str:
    """The experiment of one seed: the method and Reno."""
    earlier = f'transfer = "{ENDED[method]}"' if method in ENDED else ""
    later = f'transfer = "{wanted.size} B"\n' if method == "spand" else ""
    queue = f"{wanted.buffer.packets} packets" if wanted.buffer.packets else f"{wanted.buffer.bytes} B"
    starts = "\n".join(_later(number, later) for number in range(LATER))
    return f"""
name = "shared"
title = "Starts with shared estimates"
source = "make sim STARTUP={method}"

[axes]
method = [{{ name = "reno", estimate = "" }}, {{ name = "{method}", estimate = "{method}" }}]

[topology]
kind = "dumbbell"
access = {{ rate = "1 Gb/s", delay = "{ACCESS / 1e6:g} ms" }}

[topology.link]
rate = "{wanted.rate} b/s"
delay = "{wanted.rtt // 2 - 2 * ACCESS} ns"
loss = "{100 * wanted.loss:f} %"
queue = {{ size = "{queue}" }}

[run]
duration = "{LEAD + LATER * APART + MARKS[-1]:g} s"
marks = [{", ".join(f'"{mark} s"' for mark in MARKS)}]
sample = "100 ms"
preset = "{PRESET}"
sack = true

[[flow]]
label = "earlier"
to = 1
host = "peer"
count = {EARLIER}
observed = true
start = {{ uniform = ["0 s", "1 s"] }}
{earlier}

{starts}
"""


def _later(number: int, more: str) -> str:
    return f"""[[flow]]
label = "later-{number}"
to = 1
host = "peer"
observed = true
estimate = "$method.estimate"
start = "{LEAD + number * APART:g} s"
{more}"""


def check(startup: str, given: dict[str, str]) -> None:
    """Refuses variables that change nothing."""
    taken = ["RATE", "RTT", "BUFFER", "LOSS", "SEED", *(["SIZE"] if startup == "spand" else [])]
    for name, value in given.items():
        if name not in (*taken, "STARTUP", "REPORTS"):
            raise Refused(f"{name}={value}: STARTUP={startup} takes {', '.join(taken)}: leave {name} out")


def run(wanted: Settings, method: str, work: Path, jobs: int = 1) -> dict[str, Any]:
    """Results of both runs, for programs."""
    if wanted.rtt <= 4 * ACCESS:
        raise Refused(f"RTT={wanted.rtt / 1e6:g}ms: the access links of STARTUP={method} have 2ms of it, use more")
    work.mkdir(parents=True, exist_ok=True)
    path = work / "shared.toml"
    path.write_text(text(wanted, method))
    try:
        known = built_policies(PRESET)
        file = load(path, known)
        plans = {cell.names["method"]: plan(cell.experiment, known, wanted.seed) for cell in file.cells}
        done = runner(jobs).all(program(file), list(plans.values()), lambda *_: None)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    results = dict(zip(plans, done, strict=True))
    data: dict[str, Any] = {
        "method": method,
        "settings": wanted.as_json(),
        "runs": {name: _figures(one) for name, one in results.items()},
    }
    return data | {"summary": sentences(data, MARKS)}


def _figures(one: dict[str, Any]) -> dict[str, Any]:
    later = [flow for flow in one["flows"] if flow["label"].startswith("later")]
    if failed := [flow["failure"] for flow in one["flows"] if flow["failure"]]:
        raise Refused(f"a connection failed: {failed[0]}")
    return {
        "connections": [
            {
                **{f"bytes_in_{mark}_s": flow["at_marks"][index] for index, mark in enumerate(MARKS)},
                "losses": flow["losses"],
                "retransmissions": flow["retransmissions"],
                # A start at its ssthresh has no start-up, and ends it with the window that it begins with.
                "exit_window": (flow["exit_before"] or flow["start_window"]) if flow["exit"] else None,
                "told_window": flow["start_window"],
                "told_ssthresh": flow["start_ssthresh"],
                "start_jump": flow["start_jump"],
                "told": flow["start_reason"] or "none",
            }
            for flow in later
        ],
        "dropped": sum(link["dropped"] for link in one["links"]),
        "seconds": one["samples"]["seconds"],
        "progress": [
            [sample[number] for number, flow in enumerate(one["flows"]) if flow["label"].startswith("later")]
            for sample in one["samples"]["progress"]
        ],
    }


def table(data: dict[str, Any]) -> Table:
    method = data["method"]
    wide = Table(title=f"{LATER} connections started by {method}, beside {EARLIER} earlier ones", title_justify="left")
    wide.add_column("", no_wrap=True)
    for head in (*(f"kB in {mark} s" for mark in MARKS), "losses", "resent", "exit, segments"):
        wide.add_column(head, justify="right")
    for name, one in data["runs"].items():
        rows = one["connections"]
        for number, row in enumerate(rows):
            wide.add_row(f"{name} {number}", *_cells(row))
        wide.add_row(f"{name}, mean", *_cells({key: mean(rows, key) for key in rows[0] if key != "told"}))
    return wide


def reasons(data: dict[str, Any]) -> list[str]:
    """The estimator's reason for the start of each later connection."""
    method = data["method"]
    return [f"{method} {number}: " + row["told"] for number, row in enumerate(data["runs"][method]["connections"])]


def _cells(row: dict[str, Any]) -> list[str]:
    exit_window = row["exit_window"]
    left = "-" if exit_window is None or exit_window != exit_window else f"{exit_window:.1f}"
    return [
        *(f"{row[f'bytes_in_{mark}_s'] / 1e3:.0f}" for mark in MARKS),
        f"{row['losses']:g}",
        f"{row['retransmissions']:g}",
        left,
    ]


def write(data: dict[str, Any], wanted: Settings, directory: Path) -> Path:
    """The report for programs and the page."""
    directory.mkdir(parents=True, exist_ok=True)
    name = f"sim-{data['method']}"
    (directory / f"{name}.json").write_text(json.dumps(data, indent=2) + "\n")
    figure = make_subplots(rows=1, cols=1)
    for number, (run_name, one) in enumerate(data["runs"].items()):
        for each in range(LATER):
            start = LEAD + each * APART
            x = [time - start for time in one["seconds"] if time >= start]
            y = [
                sample[each] / 1e6
                for time, sample in zip(one["seconds"], one["progress"], strict=True)
                if time >= start
            ]
            line = {"color": pages.COLOURS[number], "width": 1.2, "dash": pages.DASHES[each]}
            figure.add_scatter(x=x, y=y, line=line, mode="lines", name=f"{run_name} {each}")
    pages.finish(figure, row_height=420)
    figure.update_xaxes(title_text="time since the connection was opened, s")
    figure.update_yaxes(title_text="acknowledged, MB")
    words = f"{wanted.rate / 1e6:g} Mb/s, {wanted.rtt / 1e6:g} ms; later connections start with estimates of the earlier ones."
    heads = ["", "reason", *(f"kB in {mark} s" for mark in MARKS), "losses", "resent", "exit, segments", "start window"]
    rows = [
        [
            f"{run_name}\N{NO-BREAK SPACE}{number}",
            row["told"],
            *(row[f"bytes_in_{mark}_s"] / 1e3 for mark in MARKS),
            row["losses"],
            row["retransmissions"],
            "-" if row["exit_window"] is None else row["exit_window"],
            row["told_window"] or "-",
        ]
        for run_name, one in data["runs"].items()
        for number, row in enumerate(one["connections"])
    ]
    said = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in data["summary"])
    body = f"{said}<p>{html.escape(words)}</p>{pages.plot(figure)}{pages.table(heads, rows, left=2)}"
    path = directory / f"{name}.html"
    path.write_text(
        pages.page(f"Starts by {data['method']}", body, command=again(wanted, data["method"]), seed=wanted.seed)
    )
    return path


def again(wanted: Settings, method: str) -> str:
    """The make line that repeats it, without what `check` refuses."""
    left_out = dict.fromkeys(
        ("STEADY", "SSTHRESH", "INITIAL_WINDOW", "TAP", *(() if method == "spand" else ("SIZE",))), ""
    )
    return wanted.command(STARTUP=method, **left_out)


def work_directory(root: Path) -> Path:
    return root / str(os.getpid())
