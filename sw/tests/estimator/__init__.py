# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Tests of the estimator, with its golden model."""
