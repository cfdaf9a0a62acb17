# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make cubic-compare`: the core's CUBIC and ns-3's TcpCubic on the same paths; build/reports/cubic.json."""
