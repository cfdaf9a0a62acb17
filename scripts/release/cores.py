# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Files of a release for tools: a FuseSoC core (CAPI2) for each build, and a file list."""

from __future__ import annotations

VENDOR = "downbeat:network"


def name(folder: str) -> str:
    """Without vendor's version: `downbeat:network:downbeat-lean`; the build `default` has no suffix."""
    return f"{VENDOR}:{_stem(folder)}"


def file_name(folder: str) -> str:
    return f"{_stem(folder)}.core"


def core(folder: str, version: str, tops: tuple[str, ...]) -> str:
    """A target for each top, and one that lints; `default` is the core with registers on AXI4-Lite alone."""
    main = "DownbeatAxi" if "DownbeatAxi" in tops else tops[0]
    filesets = "".join(
        f"  {top.lower()}:\n    files: [{folder}/{top}.v]\n    file_type: verilogSource\n" for top in tops
    )
    targets = "".join(
        f"\n  {'default' if top == main else top.lower()}:\n    filesets: [{top.lower()}]\n    toplevel: {top}\n"
        for top in tops
    )
    return f"""CAPI=2:
# SPDX-License-Identifier: BSD-2-Clause-Patent
name: {name(folder)}:{version}
description: TCP offload engine with paced, timestamped departures (build {folder})

filesets:
{filesets}  waivers:
    files: [scripts/lint/waivers.vlt]
    file_type: vlt

targets:{targets}
  lint:
    filesets: [waivers, {main.lower()}]
    toplevel: {main}
    flow: lint
    flow_options:
      tool: verilator
      verilator_options: [-Wall]
"""


def file_list(folder: str) -> str:
    return f"""// SPDX-License-Identifier: BSD-2-Clause-Patent
// The core and what Verilator need not say of it, for tools that take file lists: verilator -f downbeat.f
scripts/lint/waivers.vlt
{folder}/Downbeat.v
"""


def _stem(folder: str) -> str:
    return "downbeat" if folder == "default" else f"downbeat-{folder}"
