# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Experiments as files: sim/experiments/NAME.toml, their schema, and what runs them over ns-3 with the Verilated
core."""
