# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The payload memory: movers, buffers and placement, against memories of Python."""
