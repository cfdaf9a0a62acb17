# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Mistakes drawn in the C++ of the host half, as those of the Verilog are in the core's."""
