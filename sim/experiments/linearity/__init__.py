# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Sent gap against received gap over a dumbbell of ns-3, our MAC at both ends (thesis, figures 4-6 to 4-9)."""
