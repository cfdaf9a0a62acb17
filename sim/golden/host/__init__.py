# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Golden models of the host interface."""
