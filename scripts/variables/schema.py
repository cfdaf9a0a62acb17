# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Every variable of every target, and its values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scripts.variables import checks, names
from scripts.variables.checks import Check, among, whole, within
from sim.bench.__main__ import BENCHES
from sim.experiments.names import EXPERIMENTS
from sim.lib import ranges

LARGEST_COUNT = 10**9


@dataclass(frozen=True)
class Variable:
    """One variable, as these targets take it."""

    name: str
    targets: Sequence[str]
    check: Check


TESTS = ("test", "soak")
FPGA = ("fmax", "bitstream")
BUILDS = ("rtl", "generate", "synth", "fmax", "bitstream", "driver")
NETWORK = (
    "sim",
    "interop",
    "litex",
    "matrix",
    "packetdrill",
    "policies",
    "gap",
    "fuzz",
    "bench",
    "experiment",
    "experiments",
)
SEED = whole(int(ranges.SEED.minimum), int(ranges.SEED.maximum))

VARIABLES = (
    # tests
    Variable("TEST", TESTS, names.test),
    Variable("CASE", (*TESTS, "lint", "bench"), names.case),
    Variable("SEED", (*TESTS, "lint", "mutants", *NETWORK, *FPGA), SEED),
    Variable("JOBS", (*TESTS, "lint", "mutants", "gap", "bench", "experiment", "experiments", "fmax"), whole(1, 256)),
    Variable("JOBS", ("matrix",), whole(0, 256)),
    Variable("WAVES", (*TESTS, "sim", "interop", "matrix", "fuzz", "packetdrill", "bench"), checks.switch),
    Variable("FST", ("waves",), checks.readable),
    Variable("N", ("mutants", "bench"), whole(1, 10_000_000)),
    # builds
    Variable("PRESET", (*TESTS, "lint", "rtl", "generate", "formal", "synth", "fmax", "driver"), names.build_name),
    Variable("MODULE", ("synth",), among(names.modules, several=" ")),
    Variable("MODULE", ("fmax",), among(names.modules)),
    Variable("FLOWS", ("synth", "bitstream"), checks.power_of_two(4, 32768)),
    Variable("POLICIES", ("bitstream",), names.policy_choice),
    Variable("TARGET", ("synth",), among(lambda: ("ecp5", "xcup"))),
    Variable("GRADE", ("fmax",), among(lambda: ("6", "7", "8", "8_5G"))),
    Variable("ESTIMATE", ("fmax",), checks.switch),
    Variable("GUARD", ("fmax",), checks.switch),
    Variable("BOARD", ("bitstream",), among(names.boards)),
    Variable("PROGRAM", ("bitstream",), checks.switch),
    # policies
    Variable("POLICY", ("policies",), among(names.policies)),
    Variable("EVENTS", ("policies",), whole(1, LARGEST_COUNT)),
    Variable("AREA", ("policies",), checks.switch),
    Variable("POLICY_PATH", (*BUILDS, *NETWORK, *TESTS), checks.directory),
    Variable("POLICY_PATH", ("new-policy",), checks.new_directory),
    Variable("KIND", ("new-policy",), among(lambda: ("startup", "steady"))),
    Variable("NAME", ("new-policy",), checks.policy_name),
    Variable("STARTUP", ("sim",), among(names.starts)),
    Variable("STEADY", ("sim",), among(lambda: [*names.policies("steady"), "all"])),
    Variable("STARTUP_ARGUMENT", ("sim",), checks.argument),
    Variable("STEADY_ARGUMENT", ("sim",), checks.argument),
    # a transfer and its path
    Variable("FILE", ("sim",), checks.readable),
    Variable("SIZE", ("sim", "interop", "litex", "matrix", "bench"), within(ranges.SIZE, "a size", "8MB or 64KiB")),
    Variable("RATE", ("sim",), within(ranges.RATE, "a rate", "20Mbps")),
    Variable("RTT", ("sim",), within(ranges.RTT, "a time", "40ms")),
    Variable("BUFFER", ("sim",), checks.buffer),
    Variable("LOSS", ("sim", "matrix"), checks.share),
    Variable("DROP", ("interop",), checks.share),
    Variable("REORDER", ("matrix",), checks.share),
    Variable("DUP", ("matrix",), checks.share),
    Variable("CORRUPT", ("matrix",), checks.share),
    Variable("SSTHRESH", ("sim",), within(ranges.SSTHRESH, "a size", "64KiB")),
    Variable("INITIAL_WINDOW", ("sim",), whole(1, 255)),
    Variable("TAP", ("sim", "bench"), among(lambda: ("frame", "header"))),
    Variable("COMPARE", ("sim",), checks.switch),
    Variable("PCAP", ("sim", "interop", "matrix", "packetdrill"), checks.capture),
    Variable("WALL_LIMIT", ("sim", "interop", "litex", "matrix"), whole(1, int(ranges.WALL_LIMIT.maximum))),
    Variable("CONGESTION", ("interop", "matrix"), names.congestion),
    Variable("APP", ("interop",), among(lambda: ("all", "transfers", "web", "iperf3", "nmap", "stalled"))),
    Variable("PEER", ("matrix",), among(lambda: ("ns3", "linux"))),
    Variable("ROLE", ("matrix",), among(lambda: ("sender", "receiver"))),
    Variable("CELLS", ("matrix",), whole(0, 1_000_000)),
    Variable("SCHEDULE", ("gap",), checks.schedule),
    Variable("SCRIPT", ("packetdrill",), names.script),
    Variable("SO", ("packetdrill",), checks.switch),
    Variable("GOOGLE", ("packetdrill",), checks.directory),
    Variable("BEAT_BYTES", ("fuzz", "matrix"), checks.power_of_two(8, 64)),
    Variable("FRAMES", ("fuzz", "bench"), whole(1, LARGEST_COUNT)),
    # benches and experiments
    Variable("NAME", ("bench",), among(lambda: BENCHES)),
    Variable("NAME", ("experiment",), among(lambda: EXPERIMENTS)),
    Variable("CONNECTIONS", ("bench",), whole(1, LARGEST_COUNT)),
    Variable("PART", ("bench",), among(lambda: ("connections", "flood", "blind"))),
    Variable("DURATION", ("bench", "experiments"), checks.seconds(100_000)),
    Variable("DURATION", ("experiment",), checks.seconds(100_000, names.minimum_seconds)),
    Variable("RUNS", ("experiment", "experiments"), whole(1, 100_000)),
    Variable("FULL", ("experiment", "experiments"), checks.switch),
    Variable("VARY", ("experiment", "experiments"), checks.switch),
    Variable("STARTUP", ("experiment", "experiments"), among(lambda: names.policies("startup"))),
    Variable("STEADY", ("experiment", "experiments"), among(lambda: names.policies("steady"))),
)
