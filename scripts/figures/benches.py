# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Reports of `make sim` and of the benches in sim/bench."""

from __future__ import annotations

from pydantic import Field

from scripts.figures.schema import Shown


class Sim(Shown):
    """`make sim`."""

    bytes: int
    segments: int
    retransmissions: int
    sha256_equal: bool
    goodput_bps: int
    golden: Golden
    comparison: Comparison | None  # COMPARE=0
    wall_clock: SimClock


class Golden(Shown):
    events: int
    equal: bool


class Comparison(Shown):
    sender: str
    goodput_bps: int


class SimClock(Shown):
    segments_per_second: int
    segments_per_core_second: int


class Speed(Shown):
    runs: list[SpeedRun]
    lines: tuple[LineShare, ...] = ()


class LineShare(Shown):
    line_gbps: float
    beat_bytes: int
    clock_mhz: float
    connections: int
    share: float


class SpeedRun(Shown):
    tap: str
    beat_bytes: int = 8
    link_rate: int  # b/s
    connections: int
    segments_per_cpu_second: float
    clocks_per_segment: float


class Latency(Shown):
    cases: list[LatencyCase]
    # By the bytes of a beat; the core alone.
    receive_clocks: dict[int, int] = Field(default_factory=dict)
    send_clocks: dict[int, int] = Field(default_factory=dict)
    turn_clocks: dict[int, int] = Field(default_factory=dict)


class LatencyCase(Shown):
    measure: str
    payload: int  # bytes
    flows: int
    load: str
    core_ps: int  # the period of the core's clock
    ns: Spread


class Spread(Shown):
    median: float
    max: float


class Events(Shown):
    cases: list[EventCase]


class EventCase(Shown):
    load: str
    policies: str
    order: str
    flows: int
    events: int
    clocks: int
    rate: float  # events a clock
    segments: int | None = None  # only where connections send
    calculations: int


class Gap(Shown):
    cases: list[GapCase]


class GapCase(Shown):
    """A field that a case does not measure is missing from its report."""

    case: str
    frames: int
    grants: int | None = None
    late: int | None = None
    unexpected: int | None = None
    error_ns: Range | None = None
    max_lateness_ns: float | None = None
    max_sent_gap_error_ns: float | None = None
    max_measured_gap_error_ns: float | None = None
    rate_error: float | None = None
    rate_seconds: float | None = None


class Range(Shown):
    min: float
    max: float


class Selftest(Shown):
    """`downbeat gap selftest`: the errors of gaps, without their signs."""

    arrivals: GapErrors = Field(alias="arrivals against departures")
    departures: GapErrors = Field(alias="departures against schedule")


class GapErrors(Shown):
    gap_error_ns: Distances


class Distances(Shown):
    p50: float = Field(alias="distance_p50")
    p99: float = Field(alias="distance_p99")
    p999: float = Field(alias="distance_p99.9")


class LinuxPacing(Shown):
    """Minimum and maximum over several runs of the same measurement. No report: written by hand."""

    p50_ns: tuple[float, float]
    p99_ns: tuple[float, float]
    p999_ns: tuple[float, float]


class Pacing(Shown):
    order: list[PacerOrder]


class PacerOrder(Shown):
    """Clocks of the pacer alone, minimum and maximum where they differ."""

    flows: int
    grants: int
    clocks_booking_to_grant: int
    clocks_time_to_grant: tuple[int, int]
    clocks_between_grants: tuple[int, int]


class Scale(Shown):
    """Keys are the names of the runs."""

    window: LargeWindow = Field(alias="16 MiB window, 0 losses")
    window_3_losses: LargeWindow = Field(alias="16 MiB window, 3 losses")
    window_6_losses: LargeWindow = Field(alias="16 MiB window, 6 losses")


class LargeWindow(Shown):
    bytes: int
    window: int  # the largest that was offered, bytes
    most_in_flight: int  # bytes
    lost: int
    retransmissions: int


class Host(Shown):
    """Counts of what was run and of what was as it must be; rows of programs say no more."""

    duration: int  # seconds of random calls
    calls: list[CallsRow]
    fuzz_calls: int
    fuzz_differences: list[str]
    programs: list[ProgramRow]
    socket_costs: list[SocketCosts]


class CallsRow(Shown):
    name: str
    same: bool


class ProgramRow(Shown):
    program: str
    role: str
    equal: bool


class SocketCosts(Shown):
    way: str
    connects_per_s: float
    requests_per_s: float
    bytes_per_s: float
    request_us: dict[str, float]  # by process
