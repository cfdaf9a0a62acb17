# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A build for frames of 9,018 bytes: the largest passes both ways, one byte more is counted."""

from __future__ import annotations

from typing import Any

import cocotb
from scapy.layers.l2 import Dot1Q, Ether

from cocotb_tests.bench import generator
from cocotb_tests.bench.runner import run_module
from cocotb_tests.mac.mac import ASAP, AT, Mac

LARGEST = 9014  # bytes without FCS


def test_jumbo() -> None:
    run_module("GmiiMacJumbo", __name__)


def frames() -> tuple[list[bytes], list[bytes]]:
    """Those that pass, and those that do not."""
    plain = generator().randbytes(12) + b"\x08\x00" + generator().randbytes(LARGEST)
    tagged = bytes(Ether() / Dot1Q(vlan=3)) + generator().randbytes(LARGEST)
    return [plain[:LARGEST], tagged[: LARGEST + 4]], [plain[: LARGEST + 1], tagged[: LARGEST + 5]]


@cocotb.test()
async def the_largest_frame_arrives(dut: Any) -> None:
    mac = Mac(dut)
    await mac.start()
    good, too_large = frames()
    for right, wrong in zip(good, too_large, strict=True):
        mac.wire_in.put(wrong)
        mac.wire_in.put(right)
        assert (await mac.receive.receive(40_000)).data == right
    await mac.wire_done()
    assert mac.counters("receive") == {"frames": 2, "oversize": 2}


@cocotb.test()
@cocotb.parametrize(mode=[ASAP, AT])
async def the_largest_frame_leaves(dut: Any, mode: int) -> None:
    mac = Mac(dut)
    await mac.start()
    good, too_large = frames()
    for right, wrong in zip(good, too_large, strict=True):
        mac.send(wrong, mode=mode)
        mac.send(right, mode=mode)
        departed = await mac.wire_out.receive(40_000)
        assert departed.frame == right and departed.fcs_right
    counters = mac.counters("transmit")
    assert (counters["frames"], counters["oversize"]) == (2, 2)
