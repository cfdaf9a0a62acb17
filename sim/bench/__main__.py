# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make bench NAME=name`: what the core does and costs, measured in simulation."""

from __future__ import annotations

import sys

from sim.lib.named import choose

BENCHES = {
    "speed": ("sim.bench.speed", "segments a second that the core alone simulates, by both taps"),
    "latency": ("sim.bench.latency", "nanoseconds from wire to application and back, by load and flows"),
    "events": ("sim.bench.events", "events a clock that the engine takes, by order of flows and by policies"),
    "pacing": ("sim.bench.pacing", "the pacer alone: order among 16 to 65,536 flows, rates for ten seconds"),
    "scale": ("sim.bench.scale", "65,536 connections at once; 16 MiB in flight"),
    "wire": ("sim.bench.wire", "line rate through MAC and parser, the launch gate compared with its model"),
    "ten": (
        "sim.bench.ten",
        "10 Gb/s at the XGMII pins: launches, stamps, gaps, line rate, the core's share of the link",
    ),
    "netlist": ("scripts.ecp5.netlist", "the ECP5 netlist of TCP's board passes the system test"),
    "logistic": ("sim.bench.logistic", "the logistic window compared with the exact equation, a million requests"),
    "host": (
        "sim.host",
        "rings of the host half: bytes, wrong values, programs of the system, instructions and clocks",
    ),
    "gateway": ("sim.bench.gateway", "the gateway: messages a second, answers, fuzzed messages, a poisoner"),
    "estimator": ("sim.bench.estimator", "path reports a second and memory of the shared estimator"),
    "upsets": ("cocotb_tests.upsets", "each bit of each memory of flows' state flipped in turn, under traffic"),
    "recovery": ("sim.bench.recovery", "a lost tail, reordering, a spike of delay; short connections a second"),
    "churn": ("sim.adversarial.churn", "connections opened and closed in every order, a SYN flood, blind attacks"),
}

if __name__ == "__main__":
    sys.exit(choose("bench", BENCHES))
