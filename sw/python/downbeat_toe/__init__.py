# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Downbeat's Python side: running the simulations and reading their reports."""
