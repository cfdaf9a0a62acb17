# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Tests of libdownbeat, the daemon and the preloaded library."""
