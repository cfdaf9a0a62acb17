# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make experiment NAME=cubic`: the core's CUBIC and ns-3's TcpCubic on the same paths; build/reports/cubic.json."""
