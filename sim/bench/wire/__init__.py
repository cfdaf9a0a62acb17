# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The MAC at its pins: line rate, and the launch gate against the model of the 64-bit tap."""
