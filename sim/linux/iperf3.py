# SPDX-License-Identifier: BSD-2-Clause-Patent
"""iperf3 both ways: what it counted is what the core counted, stream by stream."""

from __future__ import annotations

import functools
import json
import subprocess
from typing import Any

from sim.linux import namespace, tools
from sim.linux.program import ended, started
from sim.linux.visit import Setting, Visit, core_failures

PORT = 5201
BLOCK = "16K"  # that iperf3 writes at once


def linux_starts(setting: Setting, streams: int, reverse: bool) -> Visit:
    """`iperf3 -c` on Linux, the server on the core."""
    tools.require("iperf3", "iperf3")
    starts = ["iperf3", "-c", namespace.CORE_IP, "-p", str(PORT), "-J", "-n", str(len(setting.contents)), "-l", BLOCK]
    starts += ["-P", str(streams)] + ["-R"] * reverse
    with namespace.interface() as name, started(setting.core(name, PORT, "--iperf3=server")) as process:
        said = tools.run(starts, setting.wall_limit).stdout
        core = ended(process, setting.time_limit)
    return _visit(setting, "iperf3", "core", streams, reverse, _parsed(said), core, [])


def core_starts(setting: Setting, streams: int, reverse: bool) -> Visit:
    """`iperf3 -s` on Linux, the client on the core."""
    tools.require("iperf3", "iperf3")
    output = setting.work / "iperf3.json"
    serves = ["iperf3", "-s", "-1", "-B", namespace.LINUX_IP, "-p", str(PORT), "-J"]
    job = ["--iperf3=client", f"--peer-ip={namespace.LINUX_IP}", f"--bytes={len(setting.contents)}"]
    job += [f"--connections={streams}", f"--reverse={int(reverse)}"]
    core: dict[str, Any] = {}
    failures = []
    with namespace.interface() as name:
        try:
            with tools.serving(serves, output) as server, started(setting.core(name, PORT, *job)) as process:
                core = ended(process, setting.time_limit)
                server.wait(0 if core_failures(core) else tools.GRACE_SECONDS)  # one test, and then it ends by itself
        except (tools.NotStarted, subprocess.TimeoutExpired) as error:
            failures.append(str(error))
    return _visit(setting, "core", "iperf3", streams, reverse, _parsed(output.read_bytes()), core, failures)


VISITS = (
    functools.partial(linux_starts, streams=1, reverse=False),
    functools.partial(linux_starts, streams=1, reverse=True),
    functools.partial(linux_starts, streams=2, reverse=False),
    functools.partial(core_starts, streams=1, reverse=False),
    functools.partial(core_starts, streams=2, reverse=True),
)


def _parsed(said: bytes) -> dict[str, Any]:
    try:
        parsed: dict[str, Any] = json.loads(said)
    except ValueError:
        return {"error": f"no JSON from iperf3: {said[:200].decode(errors='replace')}"}
    return parsed


def _visit(
    setting: Setting,
    client: str,
    server: str,
    streams: int,
    reverse: bool,
    said: dict[str, Any],
    core: dict[str, Any],
    failures: list[str],
) -> Visit:
    failures = failures + core_failures(core)
    core_sends = (client == "core") != reverse
    if "error" in said:
        failures.append(f"iperf3: {said['error']}")
    by_iperf3 = _bytes(said, "receiver" if core_sends else "sender")
    by_core = [
        stream["sent" if core_sends else "received"] for stream in (core.get("application") or {}).get("streams", [])
    ]
    if len(by_core) != streams or by_iperf3 != by_core:
        failures.append(f"bytes on each stream: {by_iperf3} by iperf3, {by_core} by the core")
    if sum(by_core) < len(setting.contents):
        failures.append(f"{sum(by_core)} bytes, not {len(setting.contents)}")
    figures = {
        "client": client,
        "server": server,
        "direction": "core to linux" if core_sends else "linux to core",
        "streams": streams,
        "reverse": reverse,
        "bytes": sum(by_core),
        "bytes_by_iperf3": by_iperf3,
        "bytes_by_core": by_core,
        "seconds": (core.get("application") or {}).get("seconds"),
        "version": said.get("start", {}).get("version"),
    }
    options = (f" -P {streams}" if streams > 1 else "") + (" -R" if reverse else "")
    summary = f"{sum(by_core)} bytes {figures['direction']}"
    return Visit(
        f"iperf3{options}, {'the core' if client == 'core' else 'Linux'} as client", figures, failures, core, summary
    )


def _bytes(said: dict[str, Any], side: str) -> list[int]:
    return [int(stream[side]["bytes"]) for stream in said.get("end", {}).get("streams", [])]
