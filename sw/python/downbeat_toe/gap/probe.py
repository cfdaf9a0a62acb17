# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The frame that `downbeat replay` sends: Ethernet, no IP, numbered.

    destination 6 | source 6 | EtherType 0x88b5 | "DnBt" | flow 4 | number in its flow 8 | launch 8 (ns) | zeros

All big-endian. 0x88b5 is IEEE 802's first EtherType for experiments in a local network: a switch carries it, a router
does not.
"""

from __future__ import annotations

import struct

from downbeat_toe.refused import Refused
from downbeat_toe.schedule import SHORTEST, Schedule

ETHER_TYPE = 0x88B5
MAGIC = b"DnBt"
HEAD = struct.Struct(">6s6sH4sIQQ")


class Frame:
    """A frame of one length (with space for what it carries, whatever is asked), whose numbers are written in place."""

    def __init__(self, destination: bytes, source: bytes, length: int) -> None:
        self._ends = (destination, source)
        self.bytes = bytearray(max(length, SHORTEST))

    def number(self, flow: int, sequence: int, launch: int) -> bytearray:
        HEAD.pack_into(self.bytes, 0, *self._ends, ETHER_TYPE, MAGIC, flow, sequence, launch)
        return self.bytes


def flow_numbers(schedule: Schedule) -> dict[str, int]:
    """Each flow's number on the wire: its name."""
    for flow in schedule.flows():
        if not (flow.isascii() and flow.isdigit() and int(flow) < 2**32):
            raise Refused(
                f"{schedule.source}: flow '{flow}' is not a number from 0 to 2^32 - 1, which is what a frame of replay carries"
            )
    return {flow: int(flow) for flow in schedule.flows()}


def parse(payload: memoryview) -> tuple[str, int] | None:
    """Flow and number, from what follows the EtherType."""
    if len(payload) < HEAD.size - 14 or payload[:4] != MAGIC:
        return None
    flow, sequence = struct.unpack_from(">IQ", payload, 4)
    return (str(flow), sequence) if sequence < 2**63 else None
