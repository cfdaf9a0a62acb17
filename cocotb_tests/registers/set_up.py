# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Registers that software writes before a core may run."""

from __future__ import annotations

from cocotb_tests.addresses import PEER_IP, PEER_MAC
from cocotb_tests.core.core import ADDRESSES, ip_number, mac_number
from cocotb_tests.registers.bus import Registers


async def set_up(registers: Registers, *, knows_peer: bool = True) -> None:
    """Addresses, secret, `enable`; and a static entry for the peer, unless the core shall ask for it."""
    await registers.write("localMacHigh", ADDRESSES["local_mac"] >> 32)
    await registers.write("localMacLow", ADDRESSES["local_mac"] & 0xFFFFFFFF)
    await registers.write("localIp", ADDRESSES["local_ip"])
    await registers.write("localNetmask", ADDRESSES["local_netmask"])
    await registers.write("localGateway", ADDRESSES["local_gateway"])
    for part in range(4):
        await registers.write(f"secret{part}", ADDRESSES["secret"] >> 32 * part & 0xFFFFFFFF)
    await registers.write("control", enable=1)
    if knows_peer:
        await registers.write("neighbourIp", ip_number(PEER_IP))
        await registers.write("neighbourHigh", mac=mac_number(PEER_MAC) >> 32)
        await registers.write("neighbourMacLow", mac_number(PEER_MAC) & 0xFFFFFFFF)
        while await registers.field("status", "neighbourWaits"):
            pass
