# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Who the core and its peer are in every test that has both."""

CORE_MAC, CORE_IP = "02:00:00:00:00:01", "10.0.0.1"
PEER_MAC, PEER_IP = "02:00:00:00:00:02", "10.0.0.2"
