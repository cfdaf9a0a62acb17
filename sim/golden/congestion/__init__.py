# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The congestion seam, its policies and the congestion stage's own rules; `replay` runs them over a recorded list."""
