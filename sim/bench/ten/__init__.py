# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The MAC and the core at 10 Gb/s, at their XGMII pins."""
