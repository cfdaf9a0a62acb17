# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Packet-trace scripts, in the manner of packetdrill, against the Verilated core in virtual time:
docs/how-to/packet-scripts.md."""
