# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Golden model of the path reports."""
