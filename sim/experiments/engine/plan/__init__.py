# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A cell and a seed to the plan of one run, the text that the program reads."""
