# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Downbeat in a LiteX SoC: `add_downbeat(soc, phy=...)`, beside LiteX's `add_ethernet` (docs/how-to/litex.md)."""

from downbeat_litex.core import DownbeatCore
from downbeat_litex.soc import add_downbeat

__all__ = ["DownbeatCore", "add_downbeat"]
