# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The pages of measured figures in docs/reference/figures: made from committed records, which are taken from
reports."""
