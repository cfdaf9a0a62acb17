# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Tests of `downbeat gap` and `downbeat replay`."""
