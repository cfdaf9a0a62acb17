# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Westwood's rate estimates in the RTL, and Astart beside other start-up policies, over ns-3."""
