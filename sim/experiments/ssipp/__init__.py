# SPDX-License-Identifier: BSD-2-Clause-Patent
"""SSIPP against receivers that delay ACKs: ns-3's TCP and Linux's."""
