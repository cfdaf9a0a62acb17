# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The test bench library, written once: clock, streams, frames, bounded waits, and the runner of a module."""

from cocotb_tests.bench.clock import CLOCK_NS, clocks, start
from cocotb_tests.bench.frames import Frame, FrameSink, FrameSource
from cocotb_tests.bench.ports import AXI_STREAM, SPINAL, Naming
from cocotb_tests.bench.seeded import draws, generator
from cocotb_tests.bench.stream import Beat, BrokenStreamError, StreamMonitor, StreamSink, StreamSource
from cocotb_tests.bench.wait import bounded, until, watch_idle

__all__ = [
    "AXI_STREAM",
    "CLOCK_NS",
    "SPINAL",
    "Beat",
    "BrokenStreamError",
    "Frame",
    "FrameSink",
    "FrameSource",
    "Naming",
    "StreamMonitor",
    "StreamSink",
    "StreamSource",
    "bounded",
    "clocks",
    "draws",
    "generator",
    "start",
    "until",
    "watch_idle",
]
