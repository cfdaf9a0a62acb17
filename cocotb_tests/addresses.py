# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Addresses of the core and its peer in every test that has both."""

CORE_MAC, CORE_IP = "02:00:00:00:00:01", "10.0.0.1"
PEER_MAC, PEER_IP = "02:00:00:00:00:02", "10.0.0.2"

# The VLANs that a build may belong to (VID, PCP), and who has none: a place of the table may be empty.
VLANS = ((100, 5), (0, 0), (4094, 7))


def vlan_pins(prefix: str = "vlans_") -> dict[str, int]:
    """The table at a module's ports."""
    fields = ("identifier", "priority")
    return {f"{prefix}{place}_{name}": vlan[at] for place, vlan in enumerate(VLANS) for at, name in enumerate(fields)}
