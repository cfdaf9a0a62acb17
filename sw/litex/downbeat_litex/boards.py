# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Boards of litex-boards, and the PHY of LiteEth that fits a board's device and pins."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from typing import Any

from downbeat_litex.verilog import CoreRefused

# Beginning of a device's name, and LiteEth's module with its RGMII.
RGMII = {
    "LFE5U": "ecp5rgmii",
    "xc6s": "s6rgmii",
    "xc7": "s7rgmii",
    "xcku": "usrgmii",
    "xczu": "usrgmii",
    "GW5": "gw5rgmii",
    "Ti": "titaniumrgmii",
}
WITH_OWN_CLOCK = ("ecp5rgmii", "gw5rgmii")  # their transmit clock may come from elsewhere


def platform_of(board: str) -> Any:
    """Raises CoreRefused for a board that litex-boards does not have."""
    import litex_boards.platforms as platforms

    known = [module.name for module in pkgutil.iter_modules(platforms.__path__)]
    if board not in known:
        near = difflib.get_close_matches(board, known, n=3)
        raise CoreRefused(f"board {board}: litex-boards has no such platform{hint(near)}")
    return importlib.import_module(f"litex_boards.platforms.{board}").Platform()


def hint(near: list[str]) -> str:
    return f"; do you mean {' or '.join(near)}?" if near else ""


def kind_of(pads: Any) -> str:
    """The kind of PHY by its pins: rgmii, gmii, mii or rmii."""
    names = {name for name, *_ in pads.layout}
    if "rx_ctl" in names:
        return "rgmii"
    if "rx_data" in names and len(pads.rx_data) == 8:
        return "gmii"
    return "rmii" if "crs_dv" in names else "mii"


def phy_of(platform: Any, board: str, wanted: str, number: int, transmit_clock: Any) -> Any:
    """A PHY of LiteEth on the board's pins `eth` of that number. `wanted`: rgmii or gmii, empty: what the pins are.

    `transmit_clock`, 125 MHz, goes to PHYs that take one; the others use the clock that they receive. Raises
    CoreRefused."""
    if wanted not in ("", "rgmii", "gmii"):
        raise CoreRefused(
            f"phy {wanted}: use rgmii or gmii{hint(difflib.get_close_matches(wanted, ['rgmii', 'gmii']))}"
        )
    pads = platform.request("eth", number, loose=True)
    clocks = platform.request("eth_clocks", number, loose=True)
    if pads is None or clocks is None:
        raise CoreRefused(f"board {board}: it has no Ethernet pins eth {number}")
    kind = kind_of(pads)
    if kind not in ("rgmii", "gmii") or wanted not in ("", kind):
        raise CoreRefused(
            f"board {board}: the pins of eth {number} are {kind.upper()}, "
            + (f"not {wanted.upper()}" if wanted else "and the core's MAC wants RGMII or GMII")
        )
    if kind == "gmii":
        from liteeth.phy.gmii import LiteEthPHYGMII

        return LiteEthPHYGMII(clocks, pads)
    family = next((module for start, module in RGMII.items() if platform.device.startswith(start)), None)
    if family is None:
        raise CoreRefused(f"board {board}: LiteEth has no RGMII for {platform.device}")
    phy = importlib.import_module(f"liteeth.phy.{family}").LiteEthPHYRGMII
    return phy(clocks, pads, tx_clk=transmit_clock) if family in WITH_OWN_CLOCK else phy(clocks, pads)
