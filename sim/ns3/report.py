# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Results of a run: sim.json for programs, a table for people."""

from __future__ import annotations

from typing import Any

from rich.table import Table

from sim.golden.policies import title
from sim.ns3.golden import Comparison
from sim.ns3.network import Transfer
from sim.ns3.settings import NANOSECONDS_PER_SECOND, Settings, sha256

# The network's receiver has neither SACK nor timestamps, so RACK, tail loss probes and PRR have no part.
RECOVERY = "NewReno, F-RTO"
BOTH = (
    "Recovery: both are NewReno (RFC 6582) without SACK, limited transmit and PRR; the core alone takes back a spurious "
    "timeout (F-RTO, RFC 5682). ns-3 takes RTT samples by its timer, the core from stamps at the wire."
)
# Differences of a policy to TcpLinuxReno's form of the same; for other policies the titles of their models suffice.
ALIKE = {
    "standard": "On an ACK of two segments the core adds one segment (RFC 5681, equation 2). ",
    "reno": "The core adds one segment for each window of bytes acknowledged (RFC 3465 without its L). With delayed ACKs of "
    "two segments both grow by one segment a round trip, out of step by part of a round. ",
}
THEIRS = {
    "startup": "TcpLinuxReno adds one segment for each segment acknowledged: it doubles its window in a round trip.",
    "steady": "TcpLinuxReno adds one segment for each window of segments, counted by ACKs.",
}


def differences(settings: Settings) -> list[str]:
    """Reasons why the core's curve differs from TcpLinuxReno's: the two policies that ran, with their arguments."""

    def sentence(name: str, family: str, policy: str, text: str) -> str:
        return f"{name}: {text}, {title(family, policy)}. {ALIKE.get(policy, '')}{THEIRS[family]}"

    return [
        sentence("Start-up", "startup", settings.startup, settings.startup_text),
        sentence("Steady state", "steady", settings.steady, settings.steady_text),
        BOTH,
    ]


def measure(settings: Settings, transfer: Transfer) -> dict[str, Any]:
    """The figures that do not depend on the machine; nothing but counts when the transfer did not end."""
    result = transfer.result
    finish, half = result["finish_time_ns"], result["half_time_ns"]
    done = result["bytes"] >= settings.size and finish > half
    rtt = sorted(result["rtt_ms"])
    goodput = 8 * result["bytes"] * NANOSECONDS_PER_SECOND / finish if done else 0.0
    second = 8 * (result["bytes"] - result["half_bytes"]) * NANOSECONDS_PER_SECOND / (finish - half) if done else 0.0
    return {
        "bytes": result["bytes"],
        "goodput_bps": round(goodput),
        "goodput_second_half_bps": round(second),
        "utilisation": round(goodput / settings.ideal_goodput, 4),
        "utilisation_second_half": round(second / settings.ideal_goodput, 4),
        "losses": result["queue_drops"] + result["random_losses"],
        "queue_drops": result["queue_drops"],
        "random_losses": result["random_losses"],
        "segments": result["segments"],
        "retransmissions": result["retransmissions"],
        "finish_seconds": finish / NANOSECONDS_PER_SECOND if done else None,
        "rtt_ms": {"minimum": rtt[0], "median": rtt[len(rtt) // 2], "maximum": rtt[-1], "samples": len(rtt)}
        if rtt
        else None,
    }


def report(
    settings: Settings, contents: bytes, core: Transfer, golden: Comparison, reno: Transfer | None
) -> dict[str, Any]:
    """All of sim.json."""
    received = core.received()
    result = core.result
    wall, core_wall = result["wall_seconds"], result["core_wall_seconds"]
    core_share = round(core_wall / wall, 3) if wall else 0.0
    speed = round(result["segments"] / wall) if wall else 0
    failure = result["failure"] or (
        "" if not golden.mismatch else f"cwnd differs from the golden model {golden.mismatch}"
    )
    # Behind the header tap there are no bytes to compare, but as many as were sent.
    equal = sha256(received) == sha256(contents) if settings.tap == "frame" else None
    if not failure and len(received) != len(contents):
        failure = f"{len(received)} bytes received of {len(contents)}"
    if not failure and equal is False:
        failure = f"SHA-256 differs: {_first_difference(contents, received)}"
    return {
        "passed": not failure,
        "failure": failure,
        "tap": settings.tap,
        "sha256_equal": equal,
        "sha256": sha256(contents),
        **measure(settings, core),
        "ideal_goodput_bps": round(settings.ideal_goodput),
        "golden": {"events": golden.events, "equal": not golden.mismatch, "mismatch": golden.mismatch},
        "seed": settings.seed,
        "settings": settings.as_json(),
        "ns3_settings": result["settings"],
        "core": result["sender"],
        "recovery": RECOVERY,
        "comparison": None
        if reno is None
        else {
            "sender": "ns3::TcpLinuxReno",
            "failure": reno.result["failure"],
            **measure(settings, reno),
            "differences": differences(settings),
        },
        # The rest depends on the machine and its load.
        "segments_per_wall_second": speed,
        "core_share": core_share,
        "ns3_share": round(1 - core_share, 3),
        "wall_clock": {
            "seconds": round(wall, 3),
            "core_seconds": round(core_wall, 3),
            "segments_per_second": speed,
            "segments_per_core_second": round(result["segments"] / core_wall) if core_wall else 0,
            "clocks_per_core_second": round(int(result["sender"]["clocks"]) / core_wall) if core_wall else 0,
        },
    }


def table(data: dict[str, Any]) -> Table:
    reno = data["comparison"]
    wide = Table(title="Downbeat core over ns-3", title_justify="left")
    wide.add_column("", no_wrap=True)
    wide.add_column("core", justify="right")
    if reno:
        wide.add_column("ns-3 TcpLinuxReno", justify="right")
    columns = [data, reno] if reno else [data]
    for name, text in (
        ("goodput", lambda figures: _rate(figures["goodput_bps"])),
        ("  second half", lambda figures: _rate(figures["goodput_second_half_bps"])),
        ("utilisation", lambda figures: f"{100 * figures['utilisation']:.1f} %"),
        ("  second half", lambda figures: f"{100 * figures['utilisation_second_half']:.1f} %"),
        ("losses (queue + random)", lambda figures: f"{figures['queue_drops']} + {figures['random_losses']}"),
        ("retransmissions", lambda figures: str(figures["retransmissions"])),
        ("RTT min / median / max", _rtt),
        ("finish time", lambda figures: f"{figures['finish_seconds']:.3f} s" if figures["finish_seconds"] else "-"),
    ):
        wide.add_row(name, *(text(figures) for figures in columns))
    wide.add_section()
    wall = data["wall_clock"]
    for name, value in (
        ("start-up", data["settings"]["startup_text"]),
        ("steady state", data["settings"]["steady_text"]),
        ("recovery", data["recovery"]),
        _contents(data),
        ("cwnd and golden model", _golden(data["golden"])),
        ("ideal goodput", _rate(data["ideal_goodput_bps"])),
        ("wall time", f"{wall['seconds']:.1f} s"),
        ("segments per wall second", str(data["segments_per_wall_second"])),
        ("share of core / ns-3", f"{100 * data['core_share']:.0f} % / {100 * data['ns3_share']:.0f} %"),
        ("seed", str(data["seed"])),
    ):
        wide.add_row(name, value, *([""] if reno else []))
    return wide


def _contents(data: dict[str, Any]) -> tuple[str, str]:
    if data["sha256_equal"] is None:  # by the header tap, which carries zeros
        return "bytes counted, not compared", f"{data['bytes']} of {data['settings']['size']}"
    if data["bytes"] < data["settings"]["size"]:
        return "transfer", f"INCOMPLETE: {data['bytes']:,} of {data['settings']['size']:,} bytes"
    return "SHA-256", "equal" if data["sha256_equal"] else "NOT EQUAL"


def stall(data: dict[str, Any], command: str) -> str:
    """A failed run in words: which flow, its last event, the counters, the seed, and how to see the waves."""
    core = data["core"]
    at = int(core.get("last_event_ns", 0)) / 1e6
    lines = [
        f"Failed: {data['failure']}",
        f"  flow {core.get('flow')} in state {core.get('state')}; {core.get('bytes_acknowledged')} bytes acknowledged and "
        f"{data['bytes']} received of {data['settings']['size']}",
        f"  last event: {core.get('last_event')} ({core.get('last_event_congestion')}) at {at:.3f} ms",
        "  counters: "
        + ", ".join(
            f"{name} {value}" for name, value in core.items() if value != "0" and not name.startswith("last_event")
        ),
        f"  losses: {data['queue_drops']} in the queue, {data['random_losses']} random; "
        f"retransmissions: {data['retransmissions']}",
        f"  seed {data['seed']}; with waves: {command}; make waves",
    ]
    return "\n".join(lines)


def _golden(golden: dict[str, Any]) -> str:
    if golden["events"] == 0:
        return "not compared"
    return f"{golden['events']} events equal" if golden["equal"] else "NOT EQUAL"


def _first_difference(sent: bytes, received: bytes) -> str:
    for position, (ours, theirs) in enumerate(zip(sent, received, strict=False)):
        if ours != theirs:
            return f"first at byte {position} of {len(sent)}"
    return f"{len(received)} bytes received of {len(sent)}"


def _rate(bps: float) -> str:
    return f"{bps / 1e6:.3f} Mb/s"


def _rtt(figures: dict[str, Any]) -> str:
    rtt = figures["rtt_ms"]
    return f"{rtt['minimum']:.1f} / {rtt['median']:.1f} / {rtt['maximum']:.1f} ms" if rtt else "-"
