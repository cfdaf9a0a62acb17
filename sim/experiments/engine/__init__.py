# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Experiments as files, run over ns-3 with the Verilated core.

A file goes through the folders in this order: schema, plan, program (C++), runs, measures, report.
"""
